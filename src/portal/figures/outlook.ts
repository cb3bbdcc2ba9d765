import type { Contract } from '../../contract/contract.ts'
import { timeIn } from '../../measure/usage/calendar.ts'
import { quantities } from '../../measure/usage/quantities.ts'
import { decimalText, readNumber } from '../../money/rational.ts'
import { quartersEngine } from '../../report/usage/engine/engine.ts'
import { creditsHeld } from '../../report/usage/ledger.ts'
import { readForecastIn } from '../../report/usage/read.ts'
import type { UsageForecast } from '../../report/usage/shape.ts'
import type { AccountScope } from '../../store/session/account.ts'
import { inSession } from '../../store/session/session.ts'
import { dayUs } from '../../user/durations.ts'
import { UserError } from '../../user/user-error.ts'
import { type Asked, needs, scopeOf, shownFor } from '../api/asked.ts'
import type { Answers } from '../api/shapes.ts'
import type { AccountView } from '../settings/account-view.ts'
import { keyDays } from '../source/account-views.ts'
import type { Snapshot } from '../source/snapshot.ts'
import { readHoldings, readLedger } from './held.ts'
import { creditsOf, readFigures } from './sums.ts'

const columns = Object.keys(quantities).join()

/** The forecast of an account over the sums of the snapshot, with its anomalies; null for an account that used nothing. */
export async function forecastOf(
  snapshot: Snapshot,
  scope: AccountScope,
  view: AccountView,
  contract: Contract | null,
  nowMs: number,
): Promise<UsageForecast | null> {
  const engine = {
    ...quartersEngine(
      'the snapshot',
      `SELECT 'import' AS origin, quarter // 4 AS hour, ${columns} FROM held`,
    ),
    keyTables: [keyDays],
  }
  try {
    const holdings =
      scope.keys === null
        ? await snapshot.within(scope, (session) => readHoldings(session, view))
        : null
    // No answer shows its series, so they are by what has the fewest values.
    const options = {
      contract,
      fromUs: null,
      toUs: null,
      timezone: view.timezone,
      by: 'endpoint' as const,
      runIds: [],
      sources: [],
      ...scope,
      nowUs: nowMs * 1000,
      seed: 1,
      grants: null,
      holdings,
    }
    return await inSession(snapshot.store, {}, (session) =>
      readForecastIn(session, options, engine),
    )
  } catch (error) {
    if (error instanceof UserError && error.code === 'report') return null
    throw error
  }
}

/**
 * Credits or prepaid money held: what the settings or imported rows say, less what was used since, else the last poll. Who asks sees
 * whether the token shows its unit.
 */
export async function readHeld(asked: Asked, snapshot: Snapshot): Promise<Answers['credits']> {
  const { session, view, bearer, nowMs } = asked
  const time = (us: number | null) => (us === null ? null : timeIn(us, view.timezone))
  // A balance is of the whole account.
  const ledger = bearer.keys === null ? await readLedger(session, view, nowMs) : null
  if (ledger !== null) {
    const { grants, ...held } = creditsHeld(ledger)
    const { asOfUs, unit } = ledger
    const showsModels = bearer.shows.has('models')
    return {
      unit,
      ...held,
      source: asOfUs === null ? 'grants' : 'balance',
      asOf: time(asOfUs),
      grants: grants.map(({ fromUs, expiresUs, models, ...grant }) => ({
        ...grant,
        from: time(fromUs),
        expires: time(expiresUs),
        models: showsModels && models !== null ? [...models] : null,
      })),
    }
  }
  const [sums] = await readFigures<object, never>(asked, [], {})
  const balance = await snapshot.balanceOf(session, scopeOf(bearer))
  // Its shortest text may have an exponent.
  const remaining = balance === null ? null : decimalText(readNumber(String(balance))!)
  return {
    unit: 'credits',
    held: remaining,
    used: creditsOf(sums!),
    remaining,
    expired: null,
    uncovered: null,
    asOf: null,
    grants: [],
    source: balance === null ? 'none' : 'polls',
  }
}

/** The same for a token that shows it. @throws Problem */
export async function readCredits(asked: Asked, snapshot: Snapshot): Promise<Answers['credits']> {
  const held = await readHeld(asked, snapshot)
  needs(asked, shownFor(held.unit))
  return held
}

/** An estimate has no more digits than this. */
const text = (amount: number) => decimalText(readNumber(String(Number(amount.toFixed(6))))!)

/** What is left at a moment: even between two that are known. */
function leftAt(balances: NonNullable<UsageForecast['balances']>, us: number) {
  const next = balances.findIndex(({ atUs }) => atUs > us)
  const before = balances[next === -1 ? balances.length - 1 : Math.max(0, next - 1)]!
  const after = balances[next] ?? before
  const share = Math.min(1, Math.max(0, us - before.atUs) / Math.max(1, after.atUs - before.atUs))
  const of = (which: 'low' | 'median' | 'high') =>
    before[which] + share * (after[which] - before[which])
  return { low: of('low'), median: of('median'), high: of('high') }
}

export function outlookOf(
  forecast: UsageForecast | null,
  view: AccountView,
  days: number,
  nowMs: number,
): Answers['outlook'] {
  const why = 'An estimate needs three full days of use, and a balance.'
  const balances = forecast?.balances ?? []
  if (forecast === null || !forecast.depletion.known || balances.length === 0) {
    return { known: false, why, unit: null, fan: [], runsOut: null, expiries: [] }
  }
  const { depletion } = forecast
  const time = (at: number | null) => (at === null ? null : timeIn(at, view.timezone))
  const { earlyUs, medianUs, lateUs } = depletion.runsOut
  const startUs = nowMs * 1000
  return {
    known: true,
    why: null,
    unit: depletion.unit,
    fan: Array.from({ length: days + 1 }, (_, day) => {
      const us = startUs + day * dayUs
      const { low, median, high } = leftAt(balances, us)
      const at = timeIn(us, view.timezone)
      return { at, p10: text(low), p50: text(median), p90: text(high) }
    }),
    runsOut: { early: time(earlyUs), median: time(medianUs), late: time(lateUs) },
    expiries: depletion.wasted
      .filter(({ expiresUs }) => expiresUs <= startUs + days * dayUs)
      .map((each) => ({
        at: timeIn(each.expiresUs, view.timezone),
        low: text(each.creditsLow),
        median: text(each.creditsMedian),
        high: text(each.creditsHigh),
      })),
  }
}
