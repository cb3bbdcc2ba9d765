import { loadContract } from '../../contract/load.ts'
import { checkTimeZone } from '../../measure/usage/zone.ts'
import { type CreditsFieldMap, creditsFields } from '../../probe/usage-body.ts'
import { type Poll, rowOf } from '../../probe/watch.ts'
import { watch } from '../../public/probe.ts'
import { noSettings, type SettingsJson, usageJsonText } from '../../report/usage/json/json.ts'
import { readUsage } from '../../report/usage/read.ts'
import { terminalUsage } from '../../report/usage/terminal.ts'
import { type ClickHouse, openClickhouse } from '../../store/clickhouse/clickhouse.ts'
import { resolveRuns } from '../../store/runs/runs.ts'
import { userError } from '../../user/user-error.ts'
import type { Options, WatchOptions } from '../commands/usage.ts'
import { apiKey, baseUrlOf } from '../runs/target.ts'
import { exit } from '../terminal/exit.ts'
import { contractWords, nextLine, optionWords, storeWords } from '../terminal/next.ts'
import { positiveOf, wholeNumberOf } from '../terminal/numbers.ts'
import { onStopSignal } from '../terminal/stop-signals.ts'
import { fitted } from '../terminal/terminal-width.ts'
import { openUsage, usageScopeOf, viewOf } from './usage-scope.ts'

/** @param isZoneGiven whether the zone is that of an option, not the usual one */
export async function usageAction(
  meant: readonly string[],
  given: Options,
  isZoneGiven: boolean,
): Promise<void> {
  const own = isZoneGiven ? null : viewOf(given)
  const options = { ...given, timezone: own?.timezone ?? given.timezone }
  const { timezone } = options
  checkTimeZone(timezone)
  const scope = usageScopeOf(options)
  const { store, engine, close } = await openUsage(options.db, options, meant)
  try {
    const runIds = await resolveRuns(store, meant)
    const asked = {
      timezone,
      ...scope,
      runIds,
      nowUs: Date.now() * 1000,
      seed: wholeNumberOf('--seed', options.seed),
    }
    const page = await readUsage(store, asked, engine)
    if (!options.json) {
      process.stdout.write(
        `${fitted(terminalUsage(page), process.stdout)}${afterUsage(meant, options)}`,
      )
      return
    }
    process.stdout.write(`${usageJsonText(page, await stateOf(options))}\n`)
  } finally {
    await close()
  }
}

/** What settings say of the account; nothing without them, and of a file of sums, which may be of another time. */
async function stateOf(options: Options): Promise<SettingsJson> {
  const { settings, account, quarters } = options
  if (settings === undefined || account === undefined || quarters !== undefined) return noSettings
  const { accountState } = await import('./customer-page.ts')
  const { budgets, closings } = await accountState(account, options)
  return {
    budgets: budgets.map(({ budget, part, period, used, share, crossesUs }) => ({
      key: part?.of === 'key' ? part.name : null,
      tag: part?.of === 'tag' ? `${part.name}:${part.value}` : null,
      ...{ amount: budget.amount, unit: budget.unit, period: budget.period, used, share },
      ...{ fromUs: period.fromUs, toUs: period.toUs, crossesUs },
    })),
    closings: closings.map(({ month, unit, value, at }) => ({
      ...{ month, unit, amount: value ?? '0', atUs: Date.parse(at) * 1000 },
    })),
  }
}

/** The page of the same usage. */
function afterUsage(meant: readonly string[], options: Options): string {
  const { db, engine, quarters, account, key, timezone, contract } = options
  const words = [
    ...['report', 'usage', ...meant],
    ...(engine === undefined ? storeWords(db) : ['--engine', engine]),
    ...optionWords('--quarters', quarters),
    ...optionWords('--account', account),
    ...optionWords('--key', key),
    ...(timezone === 'UTC' ? [] : ['--timezone', timezone]),
    ...contractWords(contract),
  ]
  return nextLine(words, 'makes a page with charts')
}

export async function watchAction(flags: WatchOptions): Promise<void> {
  const contract = loadContract(flags.contract)
  const baseUrl = baseUrlOf(flags.baseUrl, contract)
  const stop = new AbortController()
  const clickhouse = flags.engine === undefined ? null : await openClickhouse(flags.engine)
  // Libraries of the page are loaded only if there is one.
  const pages = flags.live === undefined ? null : await import('../live/watch-page.ts')
  const live = await pages?.openLiveWatch(flags.live!, baseUrl)
  const ignoreSignals = onStopSignal(() => stop.abort())
  try {
    await watch(flags.db, {
      ...(clickhouse === null ? {} : { keep: (polls) => keepInClickhouse(clickhouse, polls) }),
      baseUrl,
      apiKey: apiKey(),
      contract,
      everyMs: 1000 * positiveOf('--every', flags.every),
      ...(flags.count === undefined ? {} : { count: wholeNumberOf('--count', flags.count) }),
      fields: fieldMap(flags.field),
      signal: stop.signal,
      onPoll: (poll, isKept) => {
        printPoll(poll, isKept, flags.json === true)
        live?.show(poll, isKept)
      },
    })
    await live?.end()
    if (flags.json !== true) {
      const place = flags.engine === undefined ? storeWords(flags.db) : ['--engine', flags.engine]
      process.stdout.write(nextLine(['usage', ...place], 'prints what was used'))
    }
    if (stop.signal.aborted) process.exitCode = exit.interrupted
  } finally {
    ignoreSignals()
    live?.close()
    await clickhouse?.close()
  }
}

/** Polls wait in memory while the server is unreachable, as for a held store. @returns whether they are stored */
async function keepInClickhouse(clickhouse: ClickHouse, polls: readonly Poll[]): Promise<boolean> {
  if (polls.length === 0) return true
  try {
    await clickhouse.insertRows('usage_polls', polls.map(rowOf))
    return true
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    return false
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
  const summary =
    poll.status === null
      ? 'nothing answered'
      : poll.status === 200
        ? `consumed ${consumed ?? 'not said'}, remaining ${remaining ?? 'not said'}`
        : `status ${poll.status}`
  process.stdout.write(`${at}  ${summary}${kept ? '' : '  (the store is held; kept in memory)'}\n`)
}

function fieldMap(fields: readonly string[]): CreditsFieldMap {
  return Object.fromEntries(
    fields.map((field) => {
      const [name, path] = field.split(/=(.*)/s)
      if (!creditsFields.some((known) => known === name) || !path) {
        throw userError.usage(
          `--field ${field}: expected one of ${creditsFields.join(', ')}, =, and a path such as usage.total`,
        )
      }
      return [name, path]
    }),
  )
}
