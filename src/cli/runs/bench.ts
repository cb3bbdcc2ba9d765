import { resolve } from 'node:path'
import type { Contract } from '../../contract/contract.ts'
import { loadContract } from '../../contract/load.ts'
import { headerIssue } from '../../contract/request.ts'
import { writeReport } from '../../public/report.ts'
import { parseScenario } from '../../public/scenario.ts'
import { limitText, safeRateText } from '../../report/safe-rate.ts'
import { heldRate } from '../../report/search-words.ts'
import { type StoredTrial, searchShape } from '../../report/stored-search.ts'
import { firstModel } from '../../run/plan/first-model.ts'
import type { PlacedRun, RunResult } from '../../run/run.ts'
import { noKey } from '../../run/send/keys.ts'
import { tlsOf } from '../../run/send/tls-files.ts'
import { firstAnswer } from '../../run/start/first-answer.ts'
import type { BudgetName } from '../../scenario/loads.ts'
import { durationUsOf } from '../../scenario/quantity.ts'
import { type QuickLoad, quickScenario } from '../../scenario/quick.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import { writeOutput } from '../../store/files/output.ts'
import { inStore } from '../../store/session/in-store.ts'
import { commandText } from '../../user/shell-word.ts'
import { userError } from '../../user/user-error.ts'
import { wrapped } from '../../user/wrapped.ts'
import type { Options } from '../commands/bench.ts'
import { contractWords, nextLine, optionWords, storeWords } from '../terminal/next.ts'
import { perSOf, quantityOf, wholeNumberOf } from '../terminal/numbers.ts'
import { begunSearch, withSearch } from './bench-continue.ts'
import { otlpTo } from './otlp.ts'
import { runAndPrint } from './run.ts'
import { mustMaySpend } from './spending.ts'
import { baseUrlOf } from './target.ts'
import { uploadTo } from './upload.ts'

/** A search ends after this time, so that a bench with its first requests and its page ends within five minutes. */
const usualTime = '280s'

export async function benchAction(url: string | undefined, options: Options): Promise<void> {
  const contract = loadContract(options.contract)
  if (options.continue === true) return continueBench(url, options, contract)
  if (url === undefined) {
    throw userError.usage(
      "error: missing required argument 'url': expected the address of the service.",
    )
  }
  const baseUrl = baseUrlOf(url, contract)
  const key = process.env.ASSAY_API_KEY?.trim() || noKey
  // Options are checked before anything is sent.
  textOf(options, '')
  const tls = tlsOf({ caFile: options.caFile ?? null, certFile: null, keyFile: null })
  const text = textOf(options, options.model ?? (await firstModel(baseUrl, key, contract, tls)))
  const scenario = parseScenario(text, 'the scenario made by assay bench', contract)
  if (options.save !== undefined) {
    writeOutput(
      options.save,
      `# ${commandText(['run', options.save, '--base-url', baseUrl])}\n${text}`,
    )
  }
  const seed = options.seed === undefined ? scenario.seed : wholeNumberOf('--seed', options.seed)
  await runWithPage(scenario, { baseUrl, seed, key, contract }, options)
}

/** Goes on with the search of an earlier bench: its trials count. */
async function continueBench(
  url: string | undefined,
  options: Options,
  contract: Contract,
): Promise<void> {
  const key = process.env.ASSAY_API_KEY?.trim() || noKey
  const begun = await begunSearch(options.db, url === undefined ? null : baseUrlOf(url, contract))
  const { budget, mostTime } = spendingOf(options)
  const mostUs = mostTime === null ? null : durationUsOf(mostTime)
  const scenario = withSearch(begun.scenario, { budget, mostUs })
  const { baseUrl, seed, trials } = begun
  if (!options.json) process.stderr.write(`Going on from run ${begun.runId} of ${baseUrl}.\n`)
  await runWithPage(scenario, { baseUrl, seed, key, contract, earlierTrials: trials }, options)
}

interface Target extends Pick<PlacedRun, 'earlierTrials'> {
  readonly baseUrl: string
  readonly seed: number
  readonly key: string
  readonly contract: Contract
}

async function runWithPage(
  scenario: Scenario,
  { key, ...target }: Target,
  options: Options,
): Promise<void> {
  const { contract } = target
  const upload = await uploadTo(options.upload)
  const sendTelemetry = await otlpTo(options)
  const isAgreed = options.yes === true
  await mustMaySpend({ scenario, contracts: [contract], ...target, isAgreed })
  const result = await runAndPrint(
    scenario,
    { ...target, dbPath: options.db, keys: { default: key }, firstRequests: true },
    options.json === true,
  )
  if (result.refusal !== null) return
  const { runId } = result
  await inStore(options.db, async (store) => {
    const { out } = options
    const found = await firstAnswer(store, runId)
    if (found !== null && !options.json)
      process.stdout.write(`${wrapped(`first request: ${found}`, '  ').join('\n')}\n`)
    await writeReport(store, { page: 'launch', contract, runIds: [runId], out })
  })
  await sendTelemetry(options.db, runId)
  await upload(options.out, options.db)
  if (!options.json) process.stdout.write(lastLines(result, target.baseUrl, options))
}

/** What a person reads last: the page, the answer again, since the table of trials is long, and the next command. */
function lastLines(
  { runId, sweeps, verdict }: RunResult,
  baseUrl: string,
  options: Options,
): string {
  const page = `page  ${options.out}\n`
  const [sweep] = sweeps
  if (sweep === undefined) {
    const words = ['audit', runId, ...storeWords(options.db), ...contractWords(options.contract)]
    return `${page}${nextLine(words, 'judges it by every rule')}`
  }
  const answer = answerLines(sweep, verdict.verdict === 'invalid')
  return `${page}${answer}${nextCommand(sweep, baseUrl, options)}`
}

/** The answer of a search in one line, and the rate limit that ended it, if one did. */
export function answerLines(sweep: unknown, isInvalid: boolean): string {
  const search = searchShape.parse(sweep)
  const { summary } = safeRateText(search, isInvalid)
  const lines = [`${summary}.`, ...limitText(search)].flatMap((line) => wrapped(line, ''))
  return `${lines.join('\n')}\n`
}

/**
 * The rate at which a limiter admitted requests, as a rate of `--max-rate`: those of all trials over their time, which is a
 * minute at least, because many limits are of a minute.
 */
export function admittedRate(trials: readonly StoredTrial[]): string {
  const admitted = trials.reduce((sum, { sent, limited }) => sum + sent - limited, 0)
  const lastedUs = trials.reduce((sum, trial) => sum + trial.lastedUs, 0)
  return heldRate(admitted / Math.max(60, lastedUs / 1e6))
}

function nextCommand(
  sweep: RunResult['sweeps'][number],
  baseUrl: string,
  options: Options,
): string {
  const { safeRate } = sweep
  const files = [...storeWords(options.db), ...contractWords(options.contract)]
  const goOn = ['bench', '--continue', ...files]
  if (safeRate.kind === 'none') {
    const search = searchShape.parse(sweep)
    if (limitText(search).length === 0) return nextLine(['doctor'], 'checks this machine')
    const admitted = admittedRate(search.trials)
    const rate = admitted === '0/s' ? [] : ['--max-rate', admitted]
    return nextLine(
      ['bench', baseUrl, ...rate, ...requestWords(options), ...files],
      `after a minute: searches ${rate.length === 0 ? 'again' : 'below the rate limit'}`,
    )
  }
  const { needs } = safeRate
  if (needs !== null) {
    // A confirmation, its warm-up, and one more if it fails.
    const minutes = Math.ceil((2 * Math.max(60, needs.requests / needs.ratePerS)) / 60) + 1
    return nextLine([...goOn, '--for', `${minutes}m`], 'has time for a whole confirmation')
  }
  if (safeRate.kind === 'bracket') return nextLine(goOn, 'narrows the bracket')
  const rate = heldRate(safeRate.safePerS, safeRate.budget)
  const long = ['bench', baseUrl, '--rate', rate, '--duration', '1h', ...requestWords(options)]
  return nextLine([...long, ...files], 'sends this rate for an hour')
}

/** The options by which the same requests are sent, and judged by the same objectives. */
function requestWords(options: Options): readonly string[] {
  const { model, slo, header, promptTokens, prefixTokens, endpoint, stream } = options
  return [
    ...optionWords('--model', model),
    ...(endpoint === 'chat' ? [] : ['--endpoint', endpoint]),
    ...(promptTokens === '200' ? [] : ['--prompt-tokens', promptTokens]),
    ...(prefixTokens === '0' ? [] : ['--prefix-tokens', prefixTokens]),
    ...optionWords('--output-tokens', options.outputTokens),
    ...(options.enforceOutput ? [] : ['--no-enforce-output']),
    ...(stream ? [] : ['--no-stream']),
    ...optionWords('--slo', slo),
    ...optionWords('--header', header),
    ...optionWords('--ca-file', options.caFile),
  ]
}

/** The scenario as text. @throws UserError for an invalid option */
function textOf(options: Options, model: string): string {
  try {
    return quickScenario(quickLoadOf(options, model))
  } catch (error) {
    if (error instanceof RangeError) throw userError.usage(error.message)
    throw error
  }
}

function quickLoadOf(options: Options, model: string): QuickLoad {
  const { rate, users, endpoint, maxRate } = options
  const stream = options.stream && endpoint !== 'embeddings'
  if (rate !== undefined && users !== undefined) {
    throw userError.usage('--rate and --users: expected one of them; got both.')
  }
  if (rate === undefined && users === undefined && options.duration !== undefined) {
    throw userError.usage(
      '--duration: a search has no length of its own; give it a time with --for, or give --rate or --users.',
    )
  }
  const load: QuickLoad['load'] =
    rate !== undefined
      ? { kind: 'rate', rate: rateOf('--rate', rate, 'a rate such as 20/s') }
      : users !== undefined
        ? { kind: 'users', users: wholeNumberOf('--users', users, 1) }
        : {
            kind: 'search',
            maxRate: rateOf('--max-rate', maxRate, 'a rate such as 500/s'),
            ...spendingOf(options),
          }
  const standard = stream ? 'ttft.p95 < 1s' : 'response.p95 < 10s'
  return {
    model,
    endpoint,
    stream,
    load,
    promptTokens: wholeNumberOf('--prompt-tokens', options.promptTokens, 1),
    outputTokens: wholeNumberOf('--output-tokens', options.outputTokens ?? '64', 1),
    output: options.outputTokens !== undefined && options.enforceOutput ? 'enforced' : 'at most',
    prefixTokens: wholeNumberOf('--prefix-tokens', options.prefixTokens),
    headers: options.header.map(headerOf),
    metrics: options.metrics === false ? null : options.metrics,
    caFile: options.caFile === undefined ? null : resolve(options.caFile),
    duration: quantity('--duration', options.duration ?? '30s', durationUsOf, 'a time such as 30s'),
    objectives: options.slo.length === 0 ? [standard] : options.slo,
    maxCredits:
      options.maxCredits === undefined ? null : wholeNumberOf('--max-credits', options.maxCredits),
  }
}

/** The budget and the time of a search: five minutes of `quick`, unless one of them is given. */
function spendingOf({ budget, for: time }: Options): {
  readonly budget: BudgetName | null
  readonly mostTime: string | null
} {
  if (time !== undefined) {
    const mostTime = quantity('--for', time, durationUsOf, 'a time such as 10m')
    return { budget: budget ?? null, mostTime }
  }
  return budget === undefined
    ? { budget: 'quick', mostTime: usualTime }
    : { budget, mostTime: null }
}

/** A rate as a scenario writes it. */
const rateOf = (option: string, text: string, expected: string) =>
  `${quantityOf(option, text, perSOf, expected)}/s`

/** Checks the text and returns it. */
function quantity(
  option: string,
  text: string,
  read: (text: string) => number | null,
  expected: string,
): string {
  quantityOf(option, text, read, expected)
  return text
}

/** Headers are stored, so none may contain a key. */
function headerOf(text: string): readonly [string, string] {
  const [name = '', value = ''] = text.split(/:(.*)/s).map((part) => part.trim())
  if (/^(authorization|x-api-key|api-key|cookie)$/i.test(name)) {
    throw userError.usage(
      `--header ${name}: a key comes from ASSAY_API_KEY, because headers are stored.`,
    )
  }
  const issue = headerIssue(name, value)
  if (issue === null) return [name, value]
  throw userError.usage(`--header: expected a name and a value, such as 'x-team: a'; ${issue}.`)
}
