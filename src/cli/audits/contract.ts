import { existsSync, readFileSync } from 'node:fs'
import { stringify } from 'yaml'
import { isBaseUrl, shownBaseUrl } from '../../contract/base-url.ts'
import { mixedRounding } from '../../contract/listed-prices.ts'
import { loadContract } from '../../contract/load.ts'
import { modelPriceOf } from '../../contract/model-price.ts'
import { type ModelPrice, tokenPrices } from '../../contract/prices.ts'
import { writtenContract } from '../../contract/written.ts'
import { instantMs } from '../../measure/usage/zone.ts'
import { type Rational, readNumber } from '../../money/rational.ts'
import { calculate } from '../../price/calculate.ts'
import { type ContractKind, firstContract } from '../../price/first/first-contract.ts'
import { priceLists } from '../../price/first/price-lists.ts'
import { costJson, costText } from '../../price/text.ts'
import { writeOutput } from '../../store/files/output.ts'
import { dialectOf, readWholeUsage } from '../../tokens/read-usage.ts'
import { parts } from '../../tokens/usage.ts'
import { withoutMark } from '../../user/byte-order-mark.ts'
import { visible } from '../../user/hostile.ts'
import { isObject, jsonOf } from '../../user/json.ts'
import { suggestion } from '../../user/nearest.ts'
import { userError } from '../../user/user-error.ts'
import type { CostOptions, InitOptions, ShowOptions } from '../commands/contract.ts'
import { factorChoices, mustBeChoice } from '../runs/factor-choices.ts'
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
  if (options.group !== undefined) mustBeChoice('--group', ['group', options.group], [model])
  const given = readJson(options.usage, '--usage')
  const usage = readWholeUsage(given, model.dialect ?? dialectOf(given))
  const calculation = calculate(model, usage, {
    atMs: options.at === undefined ? Date.now() : momentOf(options.at),
    serviceTier: options.serviceTier ?? serviceTierOf(given),
    choices: {
      ...factorChoices(options.choose, [model]),
      ...(options.group === undefined ? {} : { group: options.group }),
    },
    outcome: options.outcome,
    counts: countsOf(options.counts, model),
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

/** An exact moment, Unix milliseconds. @throws UserError for a time without an offset, and for a day that does not exist */
function momentOf(text: string): number {
  const ms = instantMs(text)
  if (ms !== null) return ms
  throw userError.usage(
    `--at: expected a time with its offset, such as 2026-11-25T14:00:00Z; got "${text}"`,
  )
}

function serviceTierOf(usage: unknown): string | null {
  const tier = (usage as { readonly service_tier?: unknown } | null)?.service_tier
  return typeof tier === 'string' ? tier : null
}

/** Counts of what has a price beside the tokens. @throws UserError for other text, and for what the model has no price of */
function countsOf(text: string | undefined, model: ModelPrice): Readonly<Record<string, Rational>> {
  if (text === undefined) return {}
  const isTokens = (name: string) =>
    Object.hasOwn(tokenPrices, name) || parts.some((part) => part === name)
  const known = [...new Set(pricesIn(model).flatMap((price) => Object.keys(price)))].filter(
    (name) => !isTokens(name),
  )
  const wrong = () =>
    userError.usage(`--counts: expected a JSON object of numbers, as {"search": 3}; got "${text}"`)
  const given = jsonOf(text)
  if (!isObject(given)) throw wrong()
  return Object.fromEntries(
    Object.entries(given).map(([name, count]) => {
      const number = readNumber(String(count))
      if (number === null || number.numerator < 0n) throw wrong()
      if (!known.includes(name))
        throw userError.usage(
          `--counts: ${model.id} has no price of ${JSON.stringify(name)}${isTokens(name) ? ', which --usage counts' : ''}. ${suggestion(name, known)}`,
        )
      return [name, number]
    }),
  )
}

/** The prices of a model at any time and size, of any service and for any value of the usage. */
function pricesIn(model: ModelPrice): readonly object[] {
  const { changes, service, by, hours } = model
  const overlays = [
    ...[model, ...changes, ...hours, ...Object.values(service)],
    ...Object.values(by).flatMap((each) => Object.values(each)),
  ]
  return overlays.flatMap(({ price, tiers }) => [
    price,
    ...(tiers?.steps ?? []).map((step) => step.price),
  ])
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
      return response.json().catch((error) => {
        const why = error instanceof SyntaxError ? 'is no JSON' : 'broke off'
        throw userError.unreachable(
          `--from: the answer of GET ${url} ${why}. Expected the list of prices that ${kind} serves at ${path}.`,
        )
      })
    },
    () => {
      throw userError.unreachable(`--from: GET ${url} gave no answer.`)
    },
  )
  const prices = read(body)
  if (prices.models.length === 0) throw userError.contract(`--from: GET ${url} lists no price.`)
  return { prices, from: url, at: new Date() }
}
