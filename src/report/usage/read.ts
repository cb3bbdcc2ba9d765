import type { Contract } from '../../contract/contract.ts'
import { defaultContract } from '../../contract/default.ts'
import type { Grant } from '../../contract/grant.ts'
import type { Store } from '../../store/open.ts'
import { randomOf } from '../random.ts'
import { adviseOn } from './advice.ts'
import { findAnomalies } from './anomalies.ts'
import { readBalance, readGrants } from './balance.ts'
import type { PastDay } from './burn-model.ts'
import { queryText, storeEngine, type UsageEngine } from './engine/engine.ts'
import { type ComingDay, expectedBurn, forecastBurn, lookAhead } from './forecast.ts'
import { readPeak } from './peak.ts'
import { prepareUsage, quarterUs } from './prepare.ts'
import { reconcile } from './reconcile.ts'
import type {
  BalancePoint,
  Card,
  Depletion,
  ErrorPoint,
  Forecast,
  KeyRow,
  Peak,
  PlanAdvice,
  SeriesPoint,
  UsageOptions,
  UsagePage,
  UsageScope,
  WeekHour,
} from './shape.ts'
import { endOfDayUs, startOfDayUs, weekdayOf } from './zone.ts'

const horizonDays = 365
const planDays = 30

/**
 * Everything that the usage page shows, from the store.
 *
 * @throws UserError as `prepareUsage` does
 */
export async function readUsage(
  store: Store,
  options: UsageOptions,
  engine: UsageEngine = storeEngine,
): Promise<UsagePage> {
  const prepared = await prepareUsage(store, options, engine)
  const balance = await readBalance(store)
  const contract = options.contract ?? (await contractOf(store, prepared.sources))
  const notes = [
    ...accountNotes(balance, options),
    ...(contract === null ? [contractNote] : []),
    ...(engine.holdsRequests ? [] : [quartersNote]),
  ]
  const scope = { ...prepared, notes: [...prepared.notes, ...notes] }
  const days = await readSeries(store, 'usage_days')
  const past = pastDays(days, scope)
  const burn = forecastBurn(past, randomOf(options.seed))
  // A forecast begins where the figures end: at the end of what was seen, not of what was asked.
  const fromUs = Math.min(options.nowUs, Math.max(...scope.sources.map((each) => each.lastUs)) + 1)
  const grants = options.grants ?? (await readGrants(store, fromUs))
  const coming = comingDays(fromUs, options.timezone, horizonDays)
  const { depletion, bandLosses } = lookAhead(
    contract,
    past,
    burn,
    coming,
    grants,
    randomOf(options.seed),
  )
  const peak = await readPeak(store, engine, contract)
  const reconciliation = await reconcile(store, engine)
  return {
    scope,
    cards: await readCards(store),
    hours: await readSeries(store, 'usage_hours'),
    days,
    weekHours: await readWeekHours(store),
    balance,
    errors: await readErrors(store, engine),
    topKeys: await readKeys(store),
    peak,
    forecast: burn,
    depletion: withPassedDate(depletion, scope.nowUs, fromUs),
    bandLosses,
    plan: contract && planFor(contract, past, burn, coming.slice(0, planDays), grants, peak),
    reconciliation,
    anomalies: await findAnomalies(store, engine, contract, reconciliation),
  }
}

const contractNote = `Rate bands, packages and limits are left out: no contract is given, and this usage need not be of a service that keeps the specification. Give --contract FILE, or --contract ${defaultContract.name} where it is.`

const quartersNote = 'These are sums of quarters of an hour: flags on single requests are left out.'

/** The contract of usage for which none was chosen: null where any of it may be of another service. */
async function contractOf(
  store: Store,
  sources: UsagePage['scope']['sources'],
): Promise<Contract | null> {
  const runs = await store.rows<{ run_id: string }>('SELECT run_id FROM runs WHERE contract = $1', [
    defaultContract.name,
  ])
  const own = new Set(runs.map(({ run_id }) => run_id))
  return sources.every(({ origin, source }) => origin === 'run' && own.has(source))
    ? defaultContract
    : null
}

/** Balances of several accounts are no balance of one: who reads the dates must know. */
function accountNotes(
  balance: readonly BalancePoint[],
  { grants }: UsageOptions,
): readonly string[] {
  const accounts = new Set(balance.map((point) => point.account)).size
  if (grants !== null || accounts < 2) return []
  return [
    `Balances of ${accounts} accounts are added up: the forecast, the bands and the plan are those of one account that holds them all. Give --grants for one of them.`,
  ]
}

function readSeries(store: Store, table: 'usage_hours' | 'usage_days') {
  return store.rows<SeriesPoint>(
    `SELECT start_us AS "startUs", label, series, length_s AS "lengthS", open, requests, ok, failed,
       limited, ambiguous, credits, possible_credits AS "possibleCredits",
       prompt_tokens AS "promptTokens", cached_tokens AS "cachedTokens",
       completion_tokens AS "completionTokens"
     FROM ${table} ORDER BY start_us, series`,
  )
}

function readWeekHours(store: Store): Promise<readonly WeekHour[]> {
  return store.rows<WeekHour>(
    `SELECT weekday, hour_of_day AS hour, credits, requests, hours FROM usage_week_hours
     ORDER BY weekday, hour`,
  )
}

/** A part of a day that is too small to tell anything of the whole. */
const leastShare = 0.02

/**
 * Days that were measured, the first and the last of them in part where usage was seen in part of them.
 * What the last request stands for lasts as long as from one request to the next.
 */
function pastDays(days: readonly SeriesPoint[], scope: UsageScope): readonly PastDay[] {
  const { sources, timezone, nowUs } = scope
  const firstUs = Math.min(...sources.map((each) => each.firstUs))
  const lastUs = Math.max(...sources.map((each) => each.lastUs))
  const requests = sources.reduce((sum, each) => sum + each.requests, 0)
  const seenToUs = Math.min(nowUs, lastUs + (lastUs - firstUs) / Math.max(1, requests - 1))
  const sums = new Map<number, { endUs: number; credits: number | null }>()
  for (const day of days) {
    const { credits } = sums.get(day.startUs) ?? { credits: 0 }
    sums.set(day.startUs, {
      endUs: day.startUs + day.lengthS * 1e6,
      credits: credits === null || day.credits === null ? null : credits + day.credits,
    })
  }
  return [...sums]
    .flatMap(([fromUs, { endUs, credits }]) => {
      const startUs = startOfDayUs(fromUs, timezone)
      const seenUs = Math.min(endUs, seenToUs) - Math.max(fromUs, firstUs)
      const part = seenUs / (endOfDayUs(fromUs, timezone) - startUs)
      // No first request comes on the stroke of midnight.
      const share = part > 0.9999 ? 1 : part
      return credits === null || share < leastShare
        ? []
        : [{ startUs, weekday: weekdayOf(startUs, timezone), credits, share }]
    })
    .sort((a, b) => a.startUs - b.startUs)
}

/** A forecast begins where usage ends, so it can end before now: then the sentence is about the past. */
function withPassedDate(depletion: Depletion, nowUs: number, fromUs: number): Depletion {
  if (!depletion.known || (depletion.runsOut.medianUs ?? nowUs) >= nowUs) return depletion
  const days = Math.round((nowUs - fromUs) / 86_400e6)
  return {
    ...depletion,
    says: `${depletion.says} At that rate they are gone by now: the last usage was seen ${days} days ago. Poll the balance (assay usage watch), or give --grants.`,
  }
}

function comingDays(fromUs: number, timezone: string, count: number): readonly ComingDay[] {
  const days: ComingDay[] = []
  for (let startUs = fromUs; days.length < count; startUs = days.at(-1)!.endUs) {
    const endUs = endOfDayUs(startUs, timezone)
    days.push({
      startUs,
      endUs,
      weekday: weekdayOf(startUs, timezone),
      share: (endUs - startUs) / (endUs - startOfDayUs(startUs, timezone)),
    })
  }
  return days
}

async function readCards(store: Store): Promise<readonly Card[]> {
  const rows = await store.rows<{
    now: boolean
    requests: number
    ok: number
    credits: number | null
    credits_known: number
    tokens: number | null
    both_tokens: number | null
    tokens_known: number
  }>(
    `SELECT quarter >= getvariable('usage_from') // ${quarterUs} AS now,
       sum(requests)::BIGINT AS requests, sum(ok)::BIGINT AS ok, sum(credits)::DOUBLE AS credits,
       sum(credits_known)::BIGINT AS credits_known, sum(tokens_known)::BIGINT AS tokens_known,
       coalesce(sum(prompt_tokens) + sum(completion_tokens), sum(prompt_tokens), sum(completion_tokens))::DOUBLE
         AS tokens, sum(both_tokens)::DOUBLE AS both_tokens
     FROM usage_quarters
     WHERE quarter >= getvariable('usage_from') // ${quarterUs}
        OR quarter < getvariable('usage_before_to') // ${quarterUs}
     GROUP BY 1`,
  )
  const [now, before] = [true, false].map((which) => rows.find((row) => row.now === which))
  type Sums = (typeof rows)[number]
  const card = (
    name: Card['name'],
    of: (sums: Sums) => number | null,
    known: 'requests' | 'credits_known' | 'tokens_known',
    all: 'requests' | 'ok',
  ): Card => {
    const value = now === undefined ? null : of(now)
    const then = before === undefined ? null : of(before)
    return {
      name,
      value,
      before: then,
      change: value === null || then === null || then === 0 ? null : value / then - 1,
      n: now === undefined ? 0 : now[known],
      unmeasured: now === undefined ? 0 : now[all] - now[known],
    }
  }
  // Sum over sum of the successes that tell both tokens: never a mean of means.
  const average = ({ both_tokens, tokens_known }: Sums) =>
    both_tokens === null ? null : both_tokens / tokens_known
  return [
    card('credits', ({ credits }) => credits, 'credits_known', 'requests'),
    card('requests', ({ requests }) => requests, 'requests', 'requests'),
    card('tokens', ({ tokens }) => tokens, 'tokens_known', 'ok'),
    card('averageTokens', average, 'tokens_known', 'ok'),
  ]
}

async function readErrors(store: Store, engine: UsageEngine): Promise<readonly ErrorPoint[]> {
  await engine.fill(store, 'usage_errors', queryText('errors'))
  return store.rows<ErrorPoint>(
    `SELECT hour_us AS "startUs", any_value(hour_label) AS label, error, sum(requests)::BIGINT AS count
     FROM usage_errors JOIN usage_calendar USING (quarter) GROUP BY hour_us, error
     ORDER BY "startUs", error`,
  )
}

function readKeys(store: Store): Promise<readonly KeyRow[]> {
  return store.rows<KeyRow>(
    `SELECT coalesce(sums.key_fp, '(unknown)') AS "keyFp",
       getvariable('usage_key_names')[sums.key_fp] AS name, sums.account,
       first_us AS "firstUs", last_us AS "lastUs", sums.requests::BIGINT AS requests,
       ok::BIGINT AS ok, failed::BIGINT AS failed, limited::BIGINT AS limited,
       ambiguous::BIGINT AS ambiguous,
       sums.credits::DOUBLE AS credits,
       possible_credits::DOUBLE AS "possibleCredits",
       prompt_tokens::DOUBLE AS "promptTokens",
       cached_tokens::DOUBLE AS "cachedTokens",
       completion_tokens::DOUBLE AS "completionTokens"
     FROM usage_key_sums AS sums JOIN usage_top_keys AS top
       ON sums.key_fp IS NOT DISTINCT FROM top.key_fp AND sums.account IS NOT DISTINCT FROM top.account
     ORDER BY credits DESC NULLS LAST, requests DESC, "keyFp"`,
  )
}

function planFor(
  contract: Contract,
  past: readonly PastDay[],
  burn: Forecast,
  month: readonly ComingDay[],
  grants: readonly Grant[] | null,
  peak: Peak,
): PlanAdvice {
  if (!burn.known) return { known: false, says: burn.says }
  const endUs = month.at(-1)!.endUs
  const expected = expectedBurn(past, month)
  const held = grants ?? []
  const lasting = (grant: Grant) => grant.expiresUs === null || grant.expiresUs >= endUs
  const sum = (list: readonly Grant[]) => list.reduce((all, grant) => all + grant.credits, 0)
  const advice = adviseOn(contract, {
    burnCredits: Math.max(0, expected - usableBefore(held, month, expected)),
    lastingCredits: sum(held.filter(lasting)),
    peak,
  })
  if (!advice.known || grants !== null) return advice
  return {
    ...advice,
    reasons: ['The balance is not known, so the plan counts on none.', ...advice.reasons],
  }
}

/** What is spent of grants that expire within the month, at an even burn. */
function usableBefore(
  grants: readonly Grant[],
  month: readonly ComingDay[],
  expected: number,
): number {
  const [startUs, endUs] = [month[0]!.startUs, month.at(-1)!.endUs]
  const expiring = grants
    .filter((grant) => grant.expiresUs !== null && grant.expiresUs < endUs)
    .sort((a, b) => a.expiresUs! - b.expiresUs!)
  return expiring.reduce((spent, grant) => {
    const share = Math.max(0, (grant.expiresUs! - startUs) / (endUs - startUs))
    return spent + Math.min(grant.credits, Math.max(0, expected * share - spent))
  }, 0)
}
