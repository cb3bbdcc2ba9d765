import type { Contract } from '../contract/contract.ts'
import { quantities } from '../measure/usage/quantities.ts'
import { quartersEngine } from '../report/usage/engine/engine.ts'
import { readUsageIn } from '../report/usage/read.ts'
import type { UsagePage } from '../report/usage/shape.ts'
import type { AccountScope } from '../store/account.ts'
import { inSession } from '../store/session.ts'
import { UserError } from '../user/user-error.ts'
import type { AccountView } from './account-view.ts'
import { type Asked, exact, needs, scopeOf } from './asked.ts'
import { timeIn } from './period.ts'
import type { Answers } from './shapes.ts'
import { keyDays, type Snapshot } from './snapshot.ts'
import { valueSql } from './sums.ts'

const columns = Object.keys(quantities).join()

/** The usage page of an account over the sums of the snapshot: forecasts, peaks and flags. */
export async function pageOf(
  snapshot: Snapshot,
  scope: AccountScope,
  view: AccountView,
  contract: Contract | null,
  nowMs: number,
): Promise<UsagePage | null> {
  const engine = {
    ...quartersEngine(
      'the snapshot',
      `SELECT 'import' AS origin, quarter // 4 AS hour, ${columns} FROM held`,
    ),
    keyTables: [keyDays],
  }
  try {
    // No answer shows its series, so it has the fewest, and no hours.
    const options = {
      ...{ contract, fromUs: null, toUs: null, timezone: view.timezone, by: 'endpoint' as const },
      ...{ runIds: [], sources: [], ...scope, nowUs: nowMs * 1000, seed: 1, grants: view.grants },
    }
    return await inSession(snapshot.store, {}, (session) =>
      readUsageIn(session, options, engine, false),
    )
  } catch (error) {
    // An account that used nothing has no page.
    if (error instanceof UserError && error.code === 'report') return null
    throw error
  }
}

/** Credits held: the grants of the settings, else the last poll. */
export async function readCredits(asked: Asked, snapshot: Snapshot): Promise<Answers['credits']> {
  needs(asked, 'credits')
  const { session, view, bearer, nowMs } = asked
  const [sums] = await session.rows<{ used: string | null }>(
    `SELECT ${valueSql.credits}::VARCHAR AS used FROM mine`,
  )
  const used = exact(sums!.used)
  const nothing = { held: null, used, remaining: null, grants: [], source: 'none' as const }
  if (view.grants !== null) {
    const held = view.grants.filter(
      ({ expiresUs }) => expiresUs === null || expiresUs > nowMs * 1000,
    )
    const sum = String(held.reduce((total, { credits }) => total + credits, 0))
    return {
      ...{ held: sum, used, remaining: sum, source: 'grants' },
      grants: held.map(({ name, credits, expiresUs }) => ({
        ...{ name, credits: String(credits), remaining: String(credits) },
        expires: expiresUs === null ? null : timeIn(expiresUs, view.timezone),
      })),
    }
  }
  const balance = await snapshot.balanceOf(session, scopeOf(bearer))
  if (balance === null) return nothing
  const remaining = String(balance)
  return { held: remaining, used, remaining, grants: [], source: 'polls' }
}

const dayUs = 86_400e6

export function outlookOf(
  page: UsagePage | null,
  view: AccountView,
  days: number,
  nowMs: number,
): Answers['outlook'] {
  const why = 'An estimate needs three full days of use, and a balance.'
  if (page === null || !page.depletion.known || !page.forecast.known) {
    return { known: false, why, fan: [], runsOut: null, expiries: [] }
  }
  const { depletion, forecast } = page
  const time = (at: number | null) => (at === null ? null : timeIn(at, view.timezone))
  const { earlyUs, medianUs, lateUs } = depletion.runsOut
  const startUs = nowMs * 1000
  const left = (perDay: number, day: number) => Math.max(0, depletion.balance - perDay * day)
  return {
    ...{ known: true, why: null },
    fan: Array.from({ length: days + 1 }, (_, day) => ({
      at: timeIn(startUs + day * dayUs, view.timezone),
      p10: left(forecast.highPerDay, day),
      p50: left(forecast.medianPerDay, day),
      p90: left(forecast.lowPerDay, day),
    })),
    runsOut: { early: time(earlyUs), median: time(medianUs), late: time(lateUs) },
    expiries: depletion.wasted
      .filter(({ expiresUs }) => expiresUs <= startUs + days * dayUs)
      .map((each) => ({
        at: timeIn(each.expiresUs, view.timezone),
        ...{ low: each.creditsLow, median: each.creditsMedian, high: each.creditsHigh },
      })),
  }
}
