import { fingerprintOf } from '../attempt/fingerprint.ts'
import { Reader } from '../client/reader.ts'
import { loadContract } from '../contract/load.ts'
import { jsonText } from '../report/summary/printable.ts'
import { resolveRun } from '../report/summary/summarise.ts'
import { type CreditsFieldMap, creditsFields } from '../report/usage/credits-body.ts'
import { readUsage } from '../report/usage/read.ts'
import { terminalUsage } from '../report/usage/terminal.ts'
import { type CreditsAnswer, type Poll, watchCredits } from '../report/usage/watch.ts'
import { checkTimeZone } from '../report/usage/zone.ts'
import { openExistingStore } from '../store/open.ts'
import { withoutCredentials } from '../store/runs.ts'
import { UserError } from '../user/user-error.ts'
import { exit } from './exit.ts'
import { positiveOf, wholeOf } from './numbers.ts'
import { onStopSignal } from './stop-signals.ts'
import { apiKey, baseUrlOf } from './target.ts'
import { type UsageFlags, usageScopeOf } from './usage-scope.ts'

export interface Options extends UsageFlags {
  readonly db: string
  readonly seed: string
  readonly json?: boolean
}

export async function usageAction(meant: readonly string[], options: Options): Promise<void> {
  const { timezone } = options
  checkTimeZone(timezone)
  const scope = usageScopeOf(options)
  const store = await openExistingStore(options.db)
  try {
    const runIds: string[] = []
    for (const run of meant) runIds.push(await resolveRun(store, run))
    const page = await readUsage(store, {
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
}

export interface WatchFlags {
  readonly baseUrl: string
  readonly db: string
  readonly contract?: string
  readonly every: string
  readonly count?: string
  readonly field: readonly string[]
  readonly json?: boolean
}

export async function watchAction(flags: WatchFlags): Promise<void> {
  const key = apiKey()
  const baseUrl = baseUrlOf(flags.baseUrl)
  const contract = loadContract(flags.contract)
  const everyMs = 1000 * positiveOf('--every', flags.every)
  const count = flags.count === undefined ? Infinity : wholeOf('--count', flags.count)
  const stop = new AbortController()
  const ignoreSignals = onStopSignal(() => stop.abort())
  const reader = new Reader(baseUrl, key, contract, 'credits')
  let polls = 0
  let last: Poll | null = null
  let answered = false
  try {
    const unwritten = await watchCredits({
      dbPath: flags.db,
      baseUrl: withoutCredentials(baseUrl),
      keyFp: fingerprintOf(key),
      fields: fieldMap(flags.field),
      ask: () => askCredits(reader, stop.signal),
      next: async () => {
        polls++
        if (polls >= count) return false
        await waitOr(everyMs, stop.signal)
        return !stop.signal.aborted
      },
      onPoll: (poll, kept) => {
        last = poll
        answered ||= poll.status === 200
        printPoll(poll, kept, flags.json === true)
      },
    })
    if (unwritten.length > 0) {
      throw new UserError(
        'usage',
        `${unwritten.length} polls could not be written: ${flags.db} was held by another process to the end.`,
      )
    }
    if (stop.signal.aborted) process.exitCode = exit.interrupted
    else if (!answered) throw unanswered(baseUrl, last)
  } finally {
    ignoreSignals()
    await reader.close()
  }
}

function unanswered(baseUrl: string, last: Poll | null): UserError {
  const status = last?.status ?? null
  const why =
    status === null
      ? 'nothing answered. Check --base-url'
      : `the last status was ${status}. Check ${status === 401 || status === 403 ? 'ASSAY_API_KEY' : '--base-url'}`
  return new UserError(
    'unreachable',
    `No poll of ${withoutCredentials(baseUrl)} brought a balance: ${why}.`,
  )
}

async function askCredits(reader: Reader, signal: AbortSignal): Promise<CreditsAnswer> {
  const polledUs = Date.now() * 1000
  const { columns, captured } = await reader.read(signal)
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
        throw new UserError(
          'usage',
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
