import { existsSync, readFileSync } from 'node:fs'
import { stringify } from 'yaml'
import { isBaseUrl, shownBaseUrl } from '../../contract/base-url.ts'
import { mixedRounding } from '../../contract/listed-prices.ts'
import { loadContract } from '../../contract/load.ts'
import { modelPriceOf } from '../../contract/model-price.ts'
import { writtenContract } from '../../contract/written.ts'
import { type Rational, readNumber } from '../../money/rational.ts'
import { calculate } from '../../price/calculate.ts'
import { type ContractKind, firstContract } from '../../price/first/first-contract.ts'
import { priceLists } from '../../price/first/price-lists.ts'
import { costJson, costText } from '../../price/text.ts'
import { writeOutput } from '../../store/files/output.ts'
import { dialectOf, readWholeUsage } from '../../tokens/read-usage.ts'
import { withoutMark } from '../../user/byte-order-mark.ts'
import { visible } from '../../user/hostile.ts'
import { isObject, jsonOf } from '../../user/json.ts'
import { suggestion } from '../../user/nearest.ts'
import { userError } from '../../user/user-error.ts'
import type { CostOptions, InitOptions, ShowOptions } from '../commands/contract.ts'
import { factorChoices } from '../runs/factor-choices.ts'
import { exit } from '../terminal/exit.ts'
import { nextLine } from '../terminal/next.ts'

export function showContractAction(file: string, { json }: ShowOptions): void {
  const contract = loadContract(file)
  const written = writtenContract(contract)
  const mixed = mixedRounding(contract.packages ?? [])
  if (mixed !== null) {
    process.stderr.write(
      `${file}: the listed prices per credit are not rounded in one way, so none is promised (BILL-20): ${visible(mixed)}\n`,
    )
  }
  // A comment, so that the text stays YAML.
  const next =
    contract.prices === undefined
      ? nextLine(['audit', '--contract', file], 'judges the runs of the store by it')
      : nextLine(['contract', 'traffic', file], 'writes the requests that show its prices')
  process.stdout.write(
    json ? `${JSON.stringify(written, null, 2)}\n` : `${stringify(written)}# ${next}`,
  )
}

export function costAction(file: string, options: CostOptions): void {
  const contract = loadContract(file)
  const model = modelPriceOf(contract, options.model)
  if (model === null) {
    const known = (contract.models ?? []).map(({ id }) => id)
    throw userError.usage(
      `--model: ${file} has no price for ${JSON.stringify(options.model)}. ${suggestion(options.model, known)}`,
    )
  }
  const given = readJson(options.usage, '--usage')
  const usage = readWholeUsage(given, model.dialect ?? dialectOf(given))
  const calculation = calculate(model, usage, {
    atMs: options.at === undefined ? Date.now() : momentOf(options.at),
    serviceTier: options.serviceTier ?? serviceTierOf(given),
    choices: {
      ...factorChoices(options.choose),
      ...(options.group === undefined ? {} : { group: options.group }),
    },
    outcome: options.outcome,
    counts: countsOf(options.counts),
    priceOf: (name) => modelPriceOf(contract, name),
  })
  const unit = contract.prices!.currency.name
  process.stdout.write(
    options.json === true
      ? `${JSON.stringify(costJson(options.model, calculation, usage, unit), null, 2)}\n`
      : `${costText(options.model, calculation, usage, unit)}${nextLine(['contract', 'traffic', file], 'writes the requests that show its prices')}`,
  )
  if (calculation.cost === null) process.exitCode = exit.failed
}

function readJson(path: string, option: string): unknown {
  let text: string
  try {
    text = readFileSync(path === '-' ? 0 : path, 'utf8')
  } catch {
    throw userError.usage(`${option}: expected a readable JSON file; got "${path}"`)
  }
  try {
    return JSON.parse(withoutMark(text))
  } catch (error) {
    const why = error instanceof Error ? error.message : error
    throw userError.usage(`${option}: ${path} is not JSON: ${why}`)
  }
}

function momentOf(text: string): number {
  const at = /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(at)) return at
  throw userError.usage(
    `--at: expected a time with its offset, such as 2026-11-25T14:00:00Z; got "${text}"`,
  )
}

function serviceTierOf(usage: unknown): string | null {
  const tier = (usage as { readonly service_tier?: unknown } | null)?.service_tier
  return typeof tier === 'string' ? tier : null
}

function countsOf(text: string | undefined): Readonly<Record<string, Rational>> {
  if (text === undefined) return {}
  const wrong = () =>
    userError.usage(`--counts: expected a JSON object of numbers, as {"search": 3}; got "${text}"`)
  const given = jsonOf(text)
  if (!isObject(given)) throw wrong()
  return Object.fromEntries(
    Object.entries(given).map(([name, count]) => {
      const number = readNumber(String(count))
      if (number === null || number.numerator < 0n) throw wrong()
      return [name, number]
    }),
  )
}

export async function initContractAction(
  kind: ContractKind,
  { from, out }: InitOptions,
): Promise<void> {
  if (existsSync(out))
    throw userError.usage(
      `${out} exists and is not replaced. Name another file: assay contract init ${kind} --out other.yaml.`,
    )
  const listed = from === undefined ? null : await listedPrices(kind, from)
  writeOutput(out, firstContract(kind, listed))
  for (const note of listed?.prices.notes ?? []) process.stderr.write(`${visible(note)}\n`)
  process.stdout.write(`${out}\n${nextLine(['contract', 'show', out], 'prints it whole')}`)
}

const patienceMs = 30_000

/** The price list of a service, fetched from its own address. */
async function listedPrices(kind: ContractKind, from: string) {
  if (!Object.hasOwn(priceLists, kind))
    throw userError.usage(
      `--from: ${kind} has no list of prices to fetch; ${Object.keys(priceLists).join(', ')} have one.`,
    )
  const { path, read } = priceLists[kind as keyof typeof priceLists]
  if (!isBaseUrl(from))
    throw userError.usage(
      `--from: expected the address of a service, such as http://127.0.0.1:4000; got ${shownBaseUrl(from)}`,
    )
  const url = from.replace(/\/+$/, '') + path
  const key = process.env.ASSAY_API_KEY
  const body = await fetch(url, {
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    redirect: 'error',
    signal: AbortSignal.timeout(patienceMs),
  }).then(
    async (response) => {
      if (!response.ok) throw userError.unreachable(`--from: GET ${url} gave ${response.status}.`)
      return (await response.json()) as unknown
    },
    () => {
      throw userError.unreachable(`--from: GET ${url} gave no answer.`)
    },
  )
  const prices = read(body)
  if (prices.models.length === 0) throw userError.contract(`--from: GET ${url} lists no price.`)
  return { prices, from: url, at: new Date() }
}
