import { resolve } from 'node:path'
import { loadContract } from '../contract/load.ts'
import { headerFault } from '../contract/request.ts'
import { writeReport } from '../report/page.ts'
import { firstAnswer } from '../run/first-answer.ts'
import { firstModel } from '../run/first-model.ts'
import { tlsOf } from '../run/tls-files.ts'
import { parseScenario } from '../scenario/parse.ts'
import { durationUsOf, ratePerSOf } from '../scenario/quantity.ts'
import { type QuickLoad, quickScenario } from '../scenario/quick.ts'
import { openExistingStore } from '../store/open.ts'
import { writeOutput } from '../store/output.ts'
import { UserError } from '../user/user-error.ts'
import { quantityOf, wholeOf } from './numbers.ts'
import { runAndPrint } from './run.ts'
import { mustMaySpend } from './spending.ts'
import { baseUrlOf } from './target.ts'
import { uploadTo } from './upload.ts'

export interface Options {
  readonly model?: string
  readonly rate?: string
  readonly users?: string
  readonly duration?: string
  readonly maxRate: string
  readonly promptTokens: string
  readonly outputTokens: string
  readonly stream: boolean
  readonly endpoint: QuickLoad['endpoint']
  readonly slo: readonly string[]
  readonly header: readonly string[]
  readonly caFile?: string
  readonly maxCredits?: string
  readonly seed?: string
  readonly contract?: string
  readonly db: string
  readonly out: string
  readonly save?: string
  readonly upload?: string
  readonly yes?: boolean
  readonly json?: boolean
}

/** The key for a service without keys, because the header may not be empty. */
const noKey = 'none'

export async function benchAction(url: string, options: Options): Promise<void> {
  const contract = loadContract(options.contract)
  const baseUrl = baseUrlOf(url, contract)
  const key = process.env.ASSAY_API_KEY?.trim() || noKey
  // Options are checked before anything is sent.
  textOf(options, '')
  const upload = await uploadTo(options.upload)
  const tls = tlsOf({ caFile: options.caFile ?? null, certFile: null, keyFile: null })
  const text = textOf(options, options.model ?? (await firstModel(baseUrl, key, contract, tls)))
  const scenario = parseScenario(text, 'the scenario made by assay bench', contract)
  if (options.save !== undefined) {
    writeOutput(options.save, `# assay run ${options.save} --base-url ${baseUrl}\n${text}`)
  }
  const seed = options.seed === undefined ? scenario.seed : wholeOf('--seed', options.seed)
  await mustMaySpend({ scenario, contract, seed, baseUrl, isAgreed: options.yes === true })
  const { runId, refusal } = await runAndPrint(
    scenario,
    { baseUrl, dbPath: options.db, contract, seed, keys: { default: key }, firstRequests: true },
    options.json === true,
  )
  if (refusal !== null) return
  process.stderr.write(`\nThe scenario of this run:\n${text}`)
  const store = await openExistingStore(options.db)
  try {
    const { out } = options
    const found = await firstAnswer(store, runId)
    if (found !== null && !options.json) process.stdout.write(`first request: ${found}\n`)
    await writeReport({
      ...{ store, page: 'launch', contract, runIds: [runId], timeZone: 'UTC', out },
      nowUs: Date.now() * 1000,
    })
  } finally {
    store.close()
  }
  await upload(options.out, options.db)
  if (!options.json) process.stdout.write(`page  ${options.out}\n`)
}

/** The scenario as text. @throws UserError for an invalid option */
function textOf(options: Options, model: string): string {
  try {
    return quickScenario(quickLoadOf(options, model))
  } catch (error) {
    if (error instanceof RangeError) throw new UserError('usage', error.message)
    throw error
  }
}

function quickLoadOf(options: Options, model: string): QuickLoad {
  const { rate, users, endpoint, maxRate } = options
  const stream = options.stream && endpoint !== 'embeddings'
  if (rate !== undefined && users !== undefined) {
    throw new UserError('usage', '--rate and --users: expected one of them; got both.')
  }
  const load: QuickLoad['load'] =
    rate !== undefined
      ? { kind: 'rate', rate: quantity('--rate', rate, ratePerSOf, 'a rate such as 20/s') }
      : users !== undefined
        ? { kind: 'users', users: Math.max(1, wholeOf('--users', users)) }
        : {
            kind: 'search',
            maxRate: quantity('--max-rate', maxRate, ratePerSOf, 'a rate such as 500/s'),
          }
  const standard = stream ? 'ttft.p95 < 1s' : 'response.p95 < 10s'
  return {
    ...{ model, endpoint, stream, load },
    promptTokens: Math.max(1, wholeOf('--prompt-tokens', options.promptTokens)),
    outputTokens: Math.max(1, wholeOf('--output-tokens', options.outputTokens)),
    headers: options.header.map(headerOf),
    caFile: options.caFile === undefined ? null : resolve(options.caFile),
    duration: quantity(
      '--duration',
      options.duration ?? (load.kind === 'search' ? '5s' : '30s'),
      durationUsOf,
      'a time such as 30s',
    ),
    objectives: options.slo.length === 0 ? [standard] : options.slo,
    maxCredits:
      options.maxCredits === undefined ? null : wholeOf('--max-credits', options.maxCredits),
  }
}

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
    throw new UserError(
      'usage',
      `--header ${name}: a key comes from ASSAY_API_KEY, because headers are stored.`,
    )
  }
  const fault = headerFault(name, value)
  if (fault === null) return [name, value]
  throw new UserError(
    'usage',
    `--header: expected a name and a value, such as 'x-team: a'; ${fault}.`,
  )
}
