import type { Contract } from '../../contract/contract.ts'
import { defaultContract } from '../../contract/default.ts'
import { quarterUs, tokenFieldsSql } from '../../measure/usage/quantities.ts'
import type { FigureName, Sums } from '../../measure/usage/sums.ts'
import type { Store } from '../../store/session/open.ts'
import { inSession, type Session } from '../../store/session/session.ts'
import { dayUs } from '../../user/durations.ts'
import { once } from '../../user/once.ts'
import { randomOf } from '../../user/random.ts'
import type { Work } from '../../user/work.ts'
import { findAnomalies, oddHoursAndKeys } from './anomalies.ts'
import { readBalance, readGrants } from './balance.ts'
import { comingDays, knownTo, pastDays } from './days.ts'
import { storeEngine, type UsageEngine } from './engine/engine.ts'
import * as queries from './engine/queries.ts'
import { courseOf, forecastBurn, lookAhead } from './forecast.ts'
import { creditsHeld } from './ledger.ts'
import { busyHours } from './odd-hours.ts'
import { readPeak } from './peak.ts'
import { planFor } from './plan.ts'
import { prepareDays, prepareUsage } from './prepare.ts'
import { readImported, readLedger, readMix } from './read-ledger.ts'
import { reconcile } from './reconcile.ts'
import {
  accountOf,
  type BalancePoint,
  type Card,
  type Depletion,
  type ErrorPoint,
  type KeyRow,
  noneIn,
  type PartsOfUsage,
  type SeenPeak,
  type UsageForecast,
  type UsageOptions,
  type UsagePage,
  type UsagePart,
  type UsageScope,
  usageParts,
  type WeekHour,
} from './shape.ts'
import { longestSilenceSql } from './silence.ts'
import { periodSums, readSeries, readTotals } from './totals.ts'

const horizonDays = 365
const planDays = 30

/**
 * The usage page, from the store.
 *
 * @param parts what is read of it; all by default
 * @throws UserError as `prepareUsage` does; the signal's reason, once it is aborted
 */
export function readUsage<Part extends UsagePart = UsagePart>(
  store: Store,
  options: UsageOptions & Pick<Work, 'signal'>,
  engine?: UsageEngine,
  parts?: readonly Part[],
): Promise<PartsOfUsage<Part>> {
  return inSession(store, options, (session) => readUsageIn(session, options, engine, parts))
}

/**
 * What is to come, and what is odd, without the tables of the page, within the session of another operation: a third of
 * the page's time. Of the anomalies it has those of hours and keys.
 *
 * @throws UserError as `prepareUsage` does
 */
export async function readForecastIn(
  session: Session,
  options: UsageOptions,
  engine: UsageEngine,
): Promise<UsageForecast> {
  const scope = await prepareDays(session, options, engine)
  const held = heldIn(session, options, engine)
  const { future, balances } = await foresee(session, options, scope, options.contract, {
    ...{ engine, held, watchesDays: true },
  })
  const busy = await busyHours(session, scope.units)
  return {
    ...future,
    balances,
    busyHours: busy,
    anomalies: await oddHoursAndKeys(session, engine, scope.units),
  }
}

/** The page within the session of another operation, whose queries then read its tables. */
export async function readUsageIn<Part extends UsagePart = UsagePart>(
  session: Session,
  options: UsageOptions,
  engine: UsageEngine = storeEngine,
  parts?: readonly Part[],
): Promise<PartsOfUsage<Part>> {
  const prepared = await prepareUsage(session, options, engine)
  const { keys } = accountOf(options)
  const balance = keys === null ? await readBalance(session) : []
  const contract = options.contract ?? (await contractOf(session, prepared.sources))
  const notes = [
    ...accountNotes(balance, options),
    ...(contract === null ? [contractNote] : []),
    ...(engine.holdsRequests ? [] : [quartersNote]),
    ...(keys === null ? [] : [keysNote]),
  ]
  const scope = { ...prepared, notes: [...prepared.notes, ...notes] }
  const whole = { session, options, engine, scope, contract, balance }
  const read = partsOf(whole)
  const page = new Map<string, unknown>([['scope', scope]])
  for (const part of usageParts)
    if (parts === undefined || parts.some((each) => each === part))
      page.set(part, await read[part]())
  return Object.fromEntries(page) as PartsOfUsage<Part>
}

interface WholePage {
  readonly session: Session
  readonly options: UsageOptions
  readonly engine: UsageEngine
  readonly scope: UsageScope
  readonly contract: Contract | null
  readonly balance: UsagePage['balance']
}

/** How each part is read. What several parts need is read once. */
function partsOf({ session, options, engine, scope, contract, balance }: WholePage): {
  readonly [Part in UsagePart]: () => UsagePage[Part] | Promise<UsagePage[Part]>
} {
  const held = heldIn(session, options, engine)
  const foreseen = once(() => foresee(session, options, scope, contract, { engine, held }))
  const future = async () => (await foreseen()).future
  const peak = once(() => readPeak(session, engine, contract))
  const reconciliation = once(() => reconcile(session, engine))
  return {
    days: async () => (await future()).days,
    bandLosses: async () => (await future()).bandLosses,
    forecast: async () => (await future()).forecast,
    otherForecasts: async () => (await future()).otherForecasts,
    courses: async () => (await future()).courses,
    depletion: async () => (await future()).depletion,
    credits: async () => {
      const now = await held()
      return now === null ? null : { unit: now.holdings.unit, ...creditsHeld(now.ledger) }
    },
    totals: () => readTotals(session, engine),
    cards: () => readCards(session),
    hours: () => readSeries(session, 'usage_hours', scope.units),
    weekHours: () => readWeekHours(session),
    balance: () => balance,
    errors: () => readErrors(session, engine),
    topKeys: () => readKeys(session),
    peak,
    plan: async () => (await foreseen()).planned(await peak()),
    reconciliation,
    anomalies: async () =>
      findAnomalies(session, engine, contract, scope.units, await reconciliation()),
  }
}

/** What is held by the options or by imported rows, and its ledger, read once. A balance is of the whole account. */
const heldIn = (session: Session, options: UsageOptions, engine: UsageEngine) =>
  once(async () => {
    const { account, keys } = accountOf(options)
    if (keys !== null) return null
    const { burnOrder = 'expiry', nowUs } = options
    const holdings =
      options.holdings ??
      (options.grants === null ? await readImported(session, engine, { account, burnOrder }) : null)
    if (holdings === null) return null
    return { holdings, ledger: await readLedger(session, engine, holdings, nowUs) }
  })

/** The days so far and to come. */
async function foresee(
  session: Session,
  options: UsageOptions,
  scope: UsageScope,
  contract: Contract | null,
  {
    engine,
    held,
    watchesDays = false,
  }: { engine: UsageEngine; held: ReturnType<typeof heldIn>; watchesDays?: boolean },
) {
  const days = await readSeries(session, 'usage_days', scope.units)
  // The forecast begins where what is known of the use ends, not at the end of the requested period.
  const [silence] = await session.rows<{ readonly us: number }>(longestSilenceSql('usage_quarters'))
  const fromUs = knownTo(scope, silence!.us)
  const burns = (scope.units.length === 0 ? [scope.unit] : scope.units).map((unit) => {
    const past = pastDays(days, scope, fromUs, unit)
    return { unit, past, forecast: forecastBurn(past, randomOf(options.seed), unit) }
  })
  const { keys } = accountOf(options)
  const now = await held()
  // Only what is used in the unit of a balance burns it.
  const unit = now?.holdings.unit ?? 'credits'
  const { past, forecast: burn } = burns.find((each) => each.unit === unit) ?? {
    past: [],
    forecast: noneIn(unit),
  }
  const grants =
    now?.ledger.grants ??
    (keys === null ? (options.grants ?? (await readGrants(session, fromUs))) : null)
  const mix = now === null ? undefined : await readMix(session, engine, now.holdings)
  const coming = comingDays(fromUs, options.timezone, horizonDays)
  const { depletion, bandLosses, balances } = lookAhead(
    contract,
    past,
    burn,
    coming,
    grants,
    randomOf(options.seed),
    { mix, unit, watchesDays },
  )
  const future = {
    scope,
    days,
    bandLosses,
    forecast: burns[0]!.forecast,
    otherForecasts: burns.slice(1).map(({ unit, forecast }) => ({ unit, forecast })),
    courses: burns.map((each) => ({
      ...{ unit: each.unit, fromUs },
      days: courseOf(each.past, each.forecast, coming, randomOf(options.seed)),
    })),
    depletion: withPassedDate(depletion, scope.nowUs, fromUs),
  }
  // Packages are of credits.
  const planned = (peak: SeenPeak) =>
    contract === null || unit !== 'credits'
      ? null
      : planFor(contract, past, burn, coming.slice(0, planDays), grants, peak)
  return { future, balances, planned }
}

const contractNote = `Rate bands, packages and limits are omitted: no contract is given, and the service may not follow the specification. Give --contract FILE, or --contract ${defaultContract.name} if it does.`

const keysNote =
  'Only some keys are shown. Balances belong to the whole account, so there is no forecast of when credits run out.'

const quartersNote = 'The data are sums per quarter of an hour, so single requests are not flagged.'

/** The default contract, if all usage comes from runs with it; else null. */
async function contractOf(
  session: Session,
  sources: UsagePage['scope']['sources'],
): Promise<Contract | null> {
  const runs = await session.rows<{ run_id: string }>(
    'SELECT run_id FROM runs WHERE contract = $1',
    [defaultContract.name],
  )
  const own = new Set(runs.map(({ run_id }) => run_id))
  return sources.every(({ origin, source }) => origin === 'run' && own.has(source))
    ? defaultContract
    : null
}

/** Balances of several accounts are added up. The reader must know this to judge the dates. */
function accountNotes(
  balance: readonly BalancePoint[],
  { grants }: UsageOptions,
): readonly string[] {
  const accounts = new Set(balance.map((point) => point.account)).size
  if (grants !== null || accounts < 2) return []
  return [
    `The balances of ${accounts} accounts are added, and the forecast, the bands and the plan treat them as one account. Give --grants for a single account.`,
  ]
}

function readWeekHours(session: Session): Promise<readonly WeekHour[]> {
  return session.rows<WeekHour>(
    `SELECT weekday, hour_of_day AS hour, credits, requests, hours FROM usage_week_hours
     ORDER BY weekday, hour`,
  )
}

/** A forecast begins where usage ends, so its date can be in the past. The sentence then says so. */
function withPassedDate(depletion: Depletion, nowUs: number, fromUs: number): Depletion {
  if (!depletion.known || (depletion.runsOut.medianUs ?? nowUs) >= nowUs) return depletion
  const days = Math.round((nowUs - fromUs) / dayUs)
  return {
    ...depletion,
    summary: `${depletion.summary} At that rate they have run out: the last usage was ${days} days ago. Poll the balance (assay usage watch), or give --grants.`,
  }
}

async function readCards(session: Session): Promise<readonly Card[]> {
  const isNow = `quarter >= getvariable('usage_from') // ${quarterUs}`
  const rows = await periodSums<{ readonly now: boolean }>(session, {
    where: `(${isNow} OR quarter < getvariable('usage_before_to') // ${quarterUs})`,
    by: { now: isNow },
  })
  const [unit] = await session.rows<{ unit: string }>(`SELECT getvariable('usage_unit') AS unit`)
  const [now, before] = [true, false].map((which) => rows.find((row) => row.now === which))
  const card = (
    name: Card['name'],
    of: (sums: Sums) => number | null,
    known: FigureName,
    all: FigureName = 'requests',
  ): Card => {
    const value = now === undefined ? null : of(now)
    const then = before === undefined ? null : of(before)
    return {
      name,
      value,
      before: then,
      change: value === null || then === null || then === 0 ? null : value / then - 1,
      n: now?.[known] ?? 0,
      unmeasured: now === undefined ? 0 : Math.max(0, (now[all] ?? 0) - (now[known] ?? 0)),
    }
  }
  const amount = ({ amounts }: Sums) => {
    const found = amounts?.find((each) => each.unit === unit!.unit)
    return found === undefined ? null : Number(found.used)
  }
  const tokens = ({ input, output }: Sums) =>
    input === null && output === null ? null : (input ?? 0) + (output ?? 0)
  // Sum over sum, for successes with both token counts: never a mean of means.
  const average = ({ okTokens, okTokensKnown }: Sums) =>
    okTokens === null || !okTokensKnown ? null : okTokens / okTokensKnown
  return [
    card('credits', amount, 'costKnown'),
    card('requests', ({ requests }) => requests, 'requests'),
    card('tokens', tokens, 'inputKnown'),
    card('averageTokens', average, 'okTokensKnown', 'ok'),
  ]
}

async function readErrors(session: Session, engine: UsageEngine): Promise<readonly ErrorPoint[]> {
  await engine.fill(session, 'usage_errors', queries.errors)
  return session.rows<ErrorPoint>(
    `SELECT hour_us AS "startUs", any_value(hour_label) AS label, error, sum(requests)::BIGINT AS count
     FROM usage_errors JOIN usage_calendar USING (quarter) GROUP BY hour_us, error
     ORDER BY "startUs", error`,
  )
}

function readKeys(session: Session): Promise<readonly KeyRow[]> {
  return session.rows<KeyRow>(
    `SELECT coalesce(sums.key_fp, '(unknown)') AS "keyFp",
       getvariable('usage_key_names')[sums.key_fp] AS name, fours.last_four AS "lastFour", sums.account,
       first_us AS "firstUs", last_us AS "lastUs", sums.requests::BIGINT AS requests,
       ok::BIGINT AS ok, failed::BIGINT AS failed, limited::BIGINT AS limited,
       ambiguous::BIGINT AS ambiguous,
       sums.credits::DOUBLE AS credits,
       possible_credits::DOUBLE AS "possibleCredits",
       ${tokenFieldsSql}
     FROM usage_key_sums AS sums JOIN usage_top_keys AS top
       ON sums.key_fp IS NOT DISTINCT FROM top.key_fp AND sums.account IS NOT DISTINCT FROM top.account
     LEFT JOIN usage_last_fours AS fours
       ON sums.key_fp = fours.key_fp AND sums.account IS NOT DISTINCT FROM fours.account
     ORDER BY credits DESC NULLS LAST, requests DESC, "keyFp"`,
  )
}
