import { createHash } from 'node:crypto'
import { periodAround, timeIn } from '../../measure/usage/calendar.ts'
import type { UsageForecast } from '../../report/usage/shape.ts'
import { dayUs, hourUs } from '../../user/durations.ts'
import { type Asked, shownFor } from '../api/asked.ts'
import type { Answers } from '../api/shapes.ts'
import { type BudgetState, budgetsAnswer, readBudgets } from '../figures/budgets.ts'
import { causeOf, unusualHours } from '../figures/cause.ts'
import { plus } from '../figures/sums.ts'
import type { Alert } from './journal.ts'

/** An hour of the past week is news. */
const newsUs = 7 * dayUs

/** An alert that is so now. */
export interface Due extends Alert {
  /** Worse ones of the same kind: who was told one of them is not told this one. */
  readonly unless: readonly string[]
}

/** @param alerts of one kind, the worst first */
const worstFirst = (alerts: readonly Alert[]): readonly Due[] =>
  alerts.map((alert, at) => ({ ...alert, unless: alerts.slice(0, at).map(({ id }) => id) }))

/** The same for the same threshold and period, whatever else is known by then. */
function alertOf(
  { bearer: { account }, view: { label } }: Asked,
  type: Alert['type'],
  of: readonly unknown[],
  needs: Alert['needs'],
  data: Alert['data'],
): Alert {
  const digest = createHash('sha256').update(JSON.stringify([account, type, ...of]))
  const id = `msg_${digest.digest('hex').slice(0, 32)}`
  return { id, account, type, needs, data: { account, label, ...data } }
}

/**
 * Everything that is so now and worth an alert, each with the id that it always has; the journal knows which are new.
 *
 * @param asked by a bearer who sees what the settings show
 * @param credits what is left; null if the settings do not show it
 * @param sinceMs alerts are of periods and hours that end after this, Unix milliseconds
 */
export async function alertsDue(
  asked: Asked,
  page: UsageForecast | null,
  credits: Answers['credits'] | null,
  sinceMs: number,
): Promise<readonly Due[]> {
  const present = await readBudgets(asked, page)
  const past: BudgetState[] = []
  for (const [at, { period }] of present.entries()) {
    // What was used at the end of a period may come after it.
    if (period.fromUs <= sinceMs * 1000) continue
    const nowMs = period.fromUs / 1000 - 1
    past.push((await readBudgets({ ...asked, nowMs }, null))[at]!)
  }
  return [
    ...[...past, ...present].flatMap((state) => ofBudget(asked, state)),
    ...(credits === null ? [] : ofCredits(asked, page, credits)),
    ...(await ofHours(asked, page, sinceMs)),
  ]
}

function ofBudget(asked: Asked, state: BudgetState): readonly Due[] {
  const { budget, part, period, share, crossesUs } = state
  const { thresholds, amount, unit } = budget
  // The date stays the same in another zone.
  const date = timeIn(period.fromUs, period.timezone).slice(0, 10)
  const of = part === null ? [] : [part.of, part.of === 'tag' ? part.name : '', part.value]
  const same = [amount, unit, budget.period, date, ...of]
  const [data] = budgetsAnswer([state]).budgets
  const needs = [shownFor(unit), ...(part === null ? [] : [`${part.of}s` as const])]
  const reached = thresholds
    .filter((threshold) => share >= threshold)
    .toSorted((a, b) => b - a)
    .map((threshold) =>
      alertOf(asked, 'budget.reached', [...same, threshold], needs, { threshold, ...data! }),
    )
  const forecast = crossesUs === null ? [] : [alertOf(asked, 'budget.forecast', same, needs, data!)]
  return [...worstFirst(reached), ...worstFirst(forecast)]
}

/** A day that begins then, whose date is in the settings, else the moment, of which a day may have several. @param time as `timeIn` writes it */
const dateOrMoment = (time: string) =>
  time.slice(11, 19) === '00:00:00' ? time.slice(0, 10) : new Date(time).toISOString()

function ofCredits(
  asked: Asked,
  page: UsageForecast | null,
  { unit, remaining, asOf, grants, source }: Answers['credits'],
): readonly Due[] {
  const { view, nowMs } = asked
  if (remaining === null) return []
  const month = periodAround(nowMs * 1000, view.timezone, 'month', view.firstWeekday)
  const begun = grants.filter(({ from }) => from === null || Date.parse(from) <= nowMs)
  const same = [
    // These stay the same in another zone.
    timeIn(month.fromUs, view.timezone).slice(0, 10),
    asOf === null ? null : dateOrMoment(asOf),
    // A balance that was filled up may fall again.
    ...[begun.length, begun.reduce((sum, each) => plus(sum, each.credits), '0')],
  ]
  const below = view.alertBelow
    .filter((threshold) => Number(remaining) < Number(threshold))
    .toSorted((a, b) => Number(a) - Number(b))
    .map((threshold) =>
      alertOf(asked, 'credits.below', [...same, threshold], [shownFor(unit)], {
        threshold,
        unit,
        remaining,
        source,
      }),
    )
  const medianUs = page?.depletion.known === true ? page.depletion.runsOut.medianUs : null
  if (medianUs === null || page?.depletion.known !== true) return worstFirst(below)
  const { earlyUs, lateUs } = page.depletion.runsOut
  const day = (us: number | null) => (us === null ? null : timeIn(us, view.timezone).slice(0, 10))
  const runsOut = { early: day(earlyUs), median: day(medianUs), late: day(lateUs) }
  const soon = view.alertDays
    .filter((days) => medianUs < nowMs * 1000 + days * dayUs)
    .toSorted((a, b) => a - b)
    .map((days) =>
      alertOf(asked, 'credits.running-out', [...same, days], [shownFor(unit)], {
        days,
        unit,
        remaining,
        runsOut,
      }),
    )
  return [...worstFirst(below), ...worstFirst(soon)]
}

/** Hours far above the usual that ended after alerts began, with what was used and by whom. */
async function ofHours(
  asked: Asked,
  page: UsageForecast | null,
  sinceMs: number,
): Promise<readonly Due[]> {
  const { bearer, view, nowMs } = asked
  const firstUs = Math.max(nowMs * 1000 - newsUs, sinceMs * 1000 - hourUs)
  const alerts: Due[] = []
  for (const { atUs, unit } of unusualHours(page)) {
    if (atUs <= firstUs || !bearer.shows.has(shownFor(unit))) continue
    const cause = await causeOf(asked, { fromUs: atUs, toUs: atUs + hourUs }, unit)
    if (cause === null) continue
    const named = (['models', 'keys'] as const).filter((each) => bearer.shows.has(each))
    const needs = [shownFor(unit), ...(cause.names.length === 0 ? [] : named)]
    const at = timeIn(atUs, view.timezone)
    const { amount } = cause
    const names = cause.names.map(({ name }) => name)
    const data = { at, amount, unit, names }
    alerts.push({
      ...alertOf(asked, 'usage.unusual-hour', [atUs, unit], needs, data),
      unless: [],
    })
  }
  return alerts
}
