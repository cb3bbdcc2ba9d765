import { type Contract, pricesOf } from '../../contract/contract.ts'
import { defaultContract } from '../../contract/default.ts'
import { quarterUs } from '../../measure/usage/quantities.ts'
import { tagOf } from '../../measure/usage/tags.ts'
import { checkTimeZone } from '../../measure/usage/zone.ts'
import { literal, textList } from '../../store/literal.ts'
import { limitTo } from '../../store/session/account.ts'
import type { Session } from '../../store/session/session.ts'
import { largest, smallest } from '../../user/extremes.ts'
import { UserError, userError } from '../../user/user-error.ts'
import { hideTable } from '../temp-table.ts'
import { storeEngine, type UsageEngine } from './engine/engine.ts'
import * as queries from './engine/queries.ts'
import { enterCosts } from './money-of-runs.ts'
import { comparedPeriod, scopeOf } from './period.ts'
import { placeBuckets, prepareBuckets, prepareCalendar, prepareWeekHours } from './points.ts'
import { prepareKeys, prepareQuarters } from './quarter-sums.ts'
import { sameUse } from './same-use.ts'
import { accountOf, type UsageOptions, type UsageScope } from './shape.ts'

/**
 * Prepares what the usage page and its charts read, in this connection only: what `prepareDays` does, and
 *
 * - `usage_week_hours`: means by local weekday and hour
 * - `usage_key_sums`: all sums of the twenty keys with the most credits; `usage_key_models`: the same by model
 *
 * @throws UserError as `prepareDays` does
 */
export async function prepareUsage(
  session: Session,
  options: UsageOptions,
  engine: UsageEngine = storeEngine,
): Promise<UsageScope> {
  const scope = await prepareDays(session, options, engine)
  await prepareKeys(session, engine)
  await prepareWeekHours(session)
  return scope
}

/**
 * Prepares what a forecast reads, in this connection only:
 *
 * - variables `usage_from`, `usage_to`, `usage_before_from`, `usage_before_to` (Unix microseconds), `usage_timezone`,
 * `usage_by`, `usage_tag`, `usage_now`, `usage_unit`, `usage_runs`, `usage_sources`, `usage_covered_from`, `usage_covered_to`
 * - `usage_cells` and the engine's other relations (`engine/`)
 * - `usage_calendar`: every quarter hour of the period with its local hour and day
 * - `usage_quarters`: sums of each quarter and series; `usage_outcomes`: also by outcome
 * - `usage_hours`, `usage_days`: sums by local hour and day without gaps: 0 if covered without requests, null if not
 * covered; `wall_ms` is the local clock at their start, as milliseconds of UTC, for chart axes
 * - `usage_key_names`, a variable: names of keys by fingerprint; `usage_credit_usd`: the price of a credit, or null
 *
 * The engine reads requests only a few times per page; everything else works on quarters.
 *
 * @throws UserError for an unknown zone, an empty period, sources that state the same use, or a store without usage
 */
export async function prepareDays(
  session: Session,
  options: UsageOptions,
  engine: UsageEngine,
): Promise<UsageScope> {
  checkTimeZone(options.timezone)
  await enterOptions(session, options)
  await limitTo(session, accountOf(options), engine.keyTables)
  await engine.begin(session, options)
  await engine.fill(session, 'usage_coverage', queries.coverage)
  // Charts and forecasts are about one unit: that of most amounts.
  const units = await readUnits(session)
  await session.execute(`SET VARIABLE usage_unit = ${literal(units[0] ?? 'credits')}`)
  const sources = await readSources(session, engine, options)
  const twice = await sameUse(session, engine, options, sources)
  // A service in scaled time is ahead of our clock, but its past usage is not in the future.
  const nowUs = largest(
    sources.map((each) => each.lastUs + 1),
    Math.round(options.nowUs),
  )
  const scope = scopeOf({ ...options, nowUs }, sources, await firstOfBills(session, engine))
  await enterPeriod(session, scope, sources, nowUs)
  await engine.enterPeriod(session)
  await prepareQuarters(session, engine, units)
  await prepareCalendar(session)
  const partial = await readPartial(session, engine, sources)
  const utc = await placeBuckets(session, sources)
  await prepareBuckets(session, units)
  return {
    ...scope,
    unit: units[0] ?? 'credits',
    units,
    sources: sources.map((each) => ({
      ...each,
      partial: partial.get(each.source) ?? null,
      days: utc.has(each.source) ? 'UTC' : 'local',
    })),
    notes: [
      ...scope.notes,
      ...twice,
      ...utcNotes(utc, options.timezone),
      ...partialNotes(partial, options.timezone),
    ],
  }
}

/** Enters what is asked: prices, and the variables that the SQL of every engine reads. */
async function enterOptions(session: Session, options: UsageOptions): Promise<void> {
  const { runIds, sources, timezone, by, creditUsd } = options
  const contract = options.contract ?? defaultContract
  const names = options.keyNames ?? {}
  const tag = tagOf(by)
  await enterPrices(session, contract)
  await enterCosts(session, contract)
  await session.execute(`
    SET VARIABLE usage_runs = ${textList(runIds)};
    SET VARIABLE usage_sources = ${textList(sources)};
    SET VARIABLE usage_timezone = ${literal(timezone)};
    SET VARIABLE usage_by = ${literal(tag === null ? by : 'tag')};
    SET VARIABLE usage_tag = ${literal(tag ?? '')};
    SET VARIABLE usage_credit_usd = ${creditUsd ?? 'NULL'}::DOUBLE;
    SET VARIABLE usage_key_names = MAP(${textList(Object.keys(names))}, ${textList(Object.values(names))});
    CREATE TEMP MACRO IF NOT EXISTS arrayJoin(names) AS unnest(names);
  `)
}

/** Enters the period, the one before it, and the time that the sources cover. */
async function enterPeriod(
  session: Session,
  scope: ReturnType<typeof scopeOf>,
  sources: UsageScope['sources'],
  nowUs: number,
): Promise<void> {
  const [beforeFrom, beforeTo] = comparedPeriod(scope, sources)
  const polls = sources.every(({ origin }) => origin === 'poll')
  // A balance does not show that there were no requests, so polls cover nothing: an interval that ends before it begins.
  const nothingCovered = { firstUs: scope.toUs, lastUs: scope.fromUs }
  const covering = polls ? [nothingCovered] : sources
  await session.execute(`
    SET VARIABLE usage_now = ${nowUs}::BIGINT;
    SET VARIABLE usage_from = ${scope.fromUs}::BIGINT;
    SET VARIABLE usage_to = ${scope.toUs}::BIGINT;
    SET VARIABLE usage_before_from = ${beforeFrom}::BIGINT;
    SET VARIABLE usage_before_to = ${beforeTo}::BIGINT;
    SET VARIABLE usage_covered_from = ${smallest(covering.map((each) => each.firstUs))}::BIGINT;
    SET VARIABLE usage_covered_to = ${largest(covering.map((each) => each.lastUs))}::BIGINT;
  `)
}

/** The first entry of a bill beside its use, such as the tax of a month; null if there is none. */
async function firstOfBills(session: Session, engine: UsageEngine): Promise<number | null> {
  await engine.fill(session, 'usage_first_of_bills', queries.firstOfBills)
  const [first] = await session.rows<{ at_us: number | null }>('FROM usage_first_of_bills')
  return first?.at_us ?? null
}

type Partial = NonNullable<UsageScope['sources'][number]['partial']>

/** The time in which a part of a log is missing, by source. Fills `usage_partial`. */
async function readPartial(
  session: Session,
  engine: UsageEngine,
  sources: UsageScope['sources'],
): Promise<ReadonlyMap<string, Partial>> {
  await engine.fill(session, 'usage_partial', queries.partial)
  const rows = await session.rows<{ source: string; from_us: number; to_us: number }>(
    'FROM usage_partial',
  )
  const partial = new Map<string, Partial>()
  for (const { source, from_us, to_us } of rows) {
    const of = sources.find((each) => each.origin === 'import' && each.source === source)
    // Of an account, only the time of its own requests.
    if (of === undefined || from_us > of.lastUs || to_us <= of.firstUs) continue
    partial.set(source, {
      fromUs: Math.max(from_us, of.firstUs),
      toUs: Math.min(to_us, of.lastUs + 1),
    })
  }
  await session.execute('DELETE FROM usage_partial')
  for (const [source, { fromUs, toUs }] of partial) {
    await session.execute('INSERT INTO usage_partial VALUES ($1, $2, $3)', [
      source,
      BigInt(fromUs),
      BigInt(toUs),
    ])
  }
  return partial
}

const utcNotes = (sources: ReadonlySet<string>, timeZone: string): readonly string[] =>
  sources.size === 0
    ? []
    : [
        `Days of ${[...sources].sort().join(', ')} are UTC days: its sums are over intervals that no day in ${timeZone} contains.`,
      ]

function partialNotes(partial: ReadonlyMap<string, Partial>, timeZone: string): readonly string[] {
  const day = (us: number) => new Date(us / 1000).toLocaleDateString('en-CA', { timeZone })
  return [...partial].map(([source, { fromUs, toUs }]) => {
    const [first, last] = [day(fromUs), day(toUs - 1)]
    const when = first === last ? `on ${first}` : `from ${first} to ${last}`
    return `Only a part of the log of ${source} was imported (--partial): ${when}, at least so much was used. Import the whole log to complete it.`
  })
}

/** The store holds no usage at all. */
export class NoUsage extends UserError {}

/** Enters the prices of the contract, which give attempts a cost in the view `usage`. */
export async function enterPrices(session: Session, contract: Contract): Promise<void> {
  await hideTable(session, 'model_prices')
  const prices = new Map(pricesOf(contract).map(({ id, costCredits }) => [id, costCredits]))
  const rows = JSON.stringify([...prices].map(([model, credits]) => ({ model, credits })))
  const priced = `(SELECT unnest(from_json($2, '[{"model": "VARCHAR", "credits": "DOUBLE"}]'), recursive := true))`
  await session.execute(
    `DELETE FROM model_prices WHERE contract = $1 AND model IN (SELECT model FROM ${priced})`,
    [contract.name, rows],
  )
  await session.execute(
    `INSERT INTO model_prices BY NAME SELECT $1 AS contract, model, credits FROM ${priced}`,
    [contract.name, rows],
  )
}

async function readSources(
  session: Session,
  engine: UsageEngine,
  options: UsageOptions,
): Promise<UsageScope['sources']> {
  const rows = await session.rows<UsageScope['sources'][number]>(
    `SELECT 'local' AS days, NULL AS partial, origin, source, sum(requests)::BIGINT AS requests, min(first_us) AS "firstUs", max(last_us) AS "lastUs",
       nullif(max(CASE WHEN width_us > ${quarterUs} THEN width_us // 1000000 ELSE 0 END), 0)::BIGINT AS "widestS"
     FROM usage_coverage GROUP BY origin, source ORDER BY "firstUs", source`,
  )
  if (rows.length > 0) return rows
  const polls = await session.rows<UsageScope['sources'][number]>(
    `SELECT 'local' AS days, NULL AS partial, 'poll' AS origin, base_url AS source, 0 AS requests, min(at_us) AS "firstUs",
       max(at_us) AS "lastUs", NULL AS "widestS"
     FROM poll_times WHERE remaining IS NOT NULL OR consumed IS NOT NULL
     GROUP BY ALL ORDER BY "firstUs", source`,
  )
  if (polls.length === 0) {
    const { account, keys } = accountOf(options)
    if (account !== null || keys !== null) {
      throw userError.report(
        `${engine.name ?? session.path} holds no usage of ${[account !== null && `the account "${account}"`, keys !== null && 'these keys'].filter(Boolean).join(' with ')}: expected the name of an account as the log or the run has it (assay usage --by account), and keys of --key-names or their fingerprints.`,
      )
    }
    throw new NoUsage(
      'report',
      `${engine.name ?? session.path} holds no usage to show: make a run (assay run), import a log (assay import), poll a balance (assay usage watch), or name other runs and sources.`,
    )
  }
  return polls
}

/** The units of amounts, that of most amounts first. */
async function readUnits(session: Session): Promise<readonly string[]> {
  const rows = await session.rows<{ unit: string }>(
    'SELECT unit FROM usage_coverage WHERE amounts > 0 GROUP BY unit ORDER BY sum(amounts) DESC, unit',
  )
  return rows.map(({ unit }) => unit)
}
