import { Command, Option } from 'commander'
import { fingerprintOf } from '../attempt/fingerprint.ts'
import { buildTemplate, plainRequest, prepareRequest } from '../client/request.ts'
import { sendOnce } from '../client/send-once.ts'
import { UndiciTransport } from '../client/undici/transport.ts'
import { defaultContract } from '../contract/default.ts'
import { loadContract } from '../contract/load.ts'
import { jsonText } from '../report/summary/printable.ts'
import { resolveRun } from '../report/summary/summarise.ts'
import { type CreditsFieldMap, creditsFields } from '../report/usage/credits-body.ts'
import { readUsage } from '../report/usage/read.ts'
import { usageDimensions } from '../report/usage/shape.ts'
import { terminalUsage } from '../report/usage/terminal.ts'
import { type CreditsAnswer, type Poll, watchCredits } from '../report/usage/watch.ts'
import { checkTimeZone } from '../report/usage/zone.ts'
import { openExistingStore } from '../store/open.ts'
import { withoutCredentials } from '../store/runs.ts'
import { exit, UsageError } from './exit.ts'
import { positiveOf, wholeOf } from './numbers.ts'
import { apiKey, baseUrlOf } from './target.ts'
import { type UsageFlags, usageScopeOf } from './usage-scope.ts'

interface Options extends UsageFlags {
  readonly db: string
  readonly contract?: string
  readonly seed: string
  readonly json?: boolean
}

/** `assay usage [run…]`: what was used, and when it will run out; `assay usage watch` polls. */
export function usageCommand(): Command {
  return new Command('usage')
    .description('Print what was used, when credits run out, and what to buy.')
    .argument('[run...]', 'only these runs; all runs and imported logs unless given')
    .option('--db <file>', 'the store', 'assay.duckdb')
    .option('--from <date>', 'first day or moment; that of usage, at most 31 back, unless given')
    .option('--to <date>', 'end, exclusive; the last day of usage unless given')
    .option('--timezone <zone>', 'IANA zone of days and hours', 'UTC')
    .addOption(new Option('--by <what>', 'how to split').choices(usageDimensions).default('model'))
    .option('--source <name...>', 'only these imported logs', [])
    .option('--grants <file>', 'YAML list of what is held: name, credits, expires')
    .option('--seed <number>', 'of the forecast', '1')
    .option('--contract <file>', 'the promises, as YAML; those of the specification unless given')
    .option('--json', 'everything as JSON')
    .action(async (meant: readonly string[], options: Options) => {
      const { timezone } = options
      checkTimeZone(timezone)
      const scope = usageScopeOf(options)
      const store = await openExistingStore(options.db)
      try {
        const runIds: string[] = []
        for (const run of meant) runIds.push(await resolveRun(store, run))
        const page = await readUsage(store, {
          contract: loadContract(options.contract),
          timezone,
          ...scope,
          runIds,
          nowUs: Date.now() * 1000,
          seed: wholeOf('--seed', options.seed),
        })
        process.stdout.write(options.json ? `${jsonText(page)}\n` : terminalUsage(page))
      } finally {
        store.close()
      }
    })
    .addCommand(watchCommand())
}

interface WatchFlags {
  readonly baseUrl: string
  readonly db: string
  readonly contract?: string
  readonly every: string
  readonly count?: string
  readonly field: readonly string[]
  readonly json?: boolean
}

function watchCommand(): Command {
  return new Command('watch')
    .description('Poll GET /user/credits into the store, with the key of ASSAY_API_KEY.')
    .requiredOption('--base-url <url>', 'the service')
    .option('--db <file>', 'the store', 'assay.duckdb')
    .option('--every <seconds>', 'time between polls', '60')
    .option('--count <polls>', 'stop after so many; Ctrl-C unless given')
    .option('--field <name=path...>', `where it says ${creditsFields.join(', ')}`, [])
    .option('--json', 'a line of JSON for each poll')
    .action(async (_: unknown, command: Command) => {
      // `usage` has options of the same names: the nearer ones are meant.
      const flags = command.optsWithGlobals<WatchFlags>()
      const key = apiKey()
      const baseUrl = baseUrlOf(flags.baseUrl)
      const everyMs = 1000 * positiveOf('--every', flags.every)
      const count = flags.count === undefined ? Infinity : wholeOf('--count', flags.count)
      const stop = new AbortController()
      const onInterrupt = () => stop.abort()
      process.once('SIGINT', onInterrupt)
      const transport = new UndiciTransport({
        origin: new URL(baseUrl).origin,
        maxConnections: 1,
        connectTimeoutMs: defaultContract.timeouts.connectMs,
      })
      let polls = 0
      try {
        const unwritten = await watchCredits({
          dbPath: flags.db,
          baseUrl: withoutCredentials(baseUrl),
          keyFp: fingerprintOf(key),
          fields: fieldMap(flags.field),
          ask: () => askCredits(transport, baseUrl, key, stop.signal),
          next: async () => {
            polls++
            if (polls >= count) return false
            await waitOr(everyMs, stop.signal)
            return !stop.signal.aborted
          },
          onPoll: (poll, kept) => printPoll(poll, kept, flags.json === true),
        })
        if (unwritten.length > 0) {
          throw new UsageError(
            `${unwritten.length} polls could not be written: ${flags.db} was held by another process to the end.`,
          )
        }
        if (stop.signal.aborted) process.exitCode = exit.interrupted
      } finally {
        process.off('SIGINT', onInterrupt)
        await transport.close()
      }
    })
}

/** Of an answer of `GET /user/credits`; the store keeps its first 64 KiB. */
const mostBodyBytes = 16 * 1024 * 1024

async function askCredits(
  transport: UndiciTransport,
  baseUrl: string,
  key: string,
  signal: AbortSignal,
): Promise<CreditsAnswer> {
  const basePath = new URL(baseUrl).pathname.replace(/\/$/, '')
  const template = buildTemplate(defaultContract, basePath, {
    ...plainRequest,
    endpoint: 'credits',
    method: 'GET',
    // Which header it takes is not specified (G-06, G-07), so both carry the key.
    auth: 'both',
  })
  const polledUs = Date.now() * 1000
  const { columns, captured } = await sendOnce(transport, prepareRequest(template, key), {
    contract: defaultContract,
    now: () => performance.now() * 1000,
    signal,
    // A history of usage in the body is no reason to lose its totals.
    captureBytes: mostBodyBytes,
  })
  return {
    polledUs,
    serviceUs: columns.dateS === null ? null : columns.dateS * 1e6,
    status: columns.status,
    body: captured?.body ?? '',
  }
}

function printPoll(poll: Poll, kept: boolean, json: boolean): void {
  const { consumed, remaining, requests, averageTokens } = poll.figures
  const at = new Date(poll.polledUs / 1000).toISOString()
  if (json) {
    process.stdout.write(
      `${JSON.stringify({ at, status: poll.status, consumed, remaining, requests, averageTokens, kept })}\n`,
    )
    return
  }
  const says =
    poll.status === null
      ? 'nothing answered'
      : poll.status === 200
        ? `consumed ${consumed ?? 'not said'}, remaining ${remaining ?? 'not said'}`
        : `status ${poll.status}`
  process.stdout.write(`${at}  ${says}${kept ? '' : '  (the store is held; kept in memory)'}\n`)
}

function fieldMap(fields: readonly string[]): CreditsFieldMap {
  return Object.fromEntries(
    fields.map((field) => {
      const [name, path] = field.split(/=(.*)/s)
      if (!creditsFields.some((known) => known === name) || !path) {
        throw new UsageError(
          `--field ${field}: expected one of ${creditsFields.join(', ')}, =, and a path such as usage.total`,
        )
      }
      return [name, path]
    }),
  )
}

function waitOr(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
