import { type Period, timeIn } from '../../measure/usage/calendar.ts'
import { endOfDayUs } from '../../measure/usage/zone.ts'
import type { Values } from '../../report/usage/board/types.ts'
import type { UsageForecast } from '../../report/usage/shape.ts'
import { dayUs } from '../../user/durations.ts'
import { largest } from '../../user/extremes.ts'
import { type Asked, shownFor } from '../api/asked.ts'
import type { Answers } from '../api/shapes.ts'
import { partIn, type Speech } from '../page/speech.ts'
import type { BudgetState } from './budgets.ts'
import { listedHours, roundTimes, unusualHours, usedInHours } from './cause.ts'
import { knownOf } from './known.ts'
import { plus } from './sums.ts'

const mostNotices = 3

type Notice = Answers['notices']['notices'][number]
type NoticeWord =
  | Exclude<Notice['kind'], 'budget'>
  | 'busy-hour.several'
  | 'expiring.money'
  | 'running-out.money'
  | `budget.${BudgetState['budget']['period']}`

/** The dates of a period, as the page is asked for it. */
export const queryOf = ({ fromUs, toUs, timezone }: BudgetState['period']) => ({
  from: timeIn(fromUs, timezone).slice(0, 10),
  to: timeIn(toUs, timezone).slice(0, 10),
})

/** What the notices stand beside. */
interface Shown extends Pick<Period, 'fromUs' | 'toUs'> {
  /** Whether it is a part of the account, whose hours and failures are not told. */
  readonly isPart?: boolean
}

/**
 * At most three things that a customer should know, the most pressing first, each with the view that shows it. That use is not
 * known yet is one of them wherever it is so: it explains the figures.
 *
 * @param shown the time whose hours are told, as its chart marks them
 */
export async function noticesOf(
  page: UsageForecast | null,
  budgets: readonly BudgetState[],
  asked: Asked,
  speech: Speech,
  shown: Shown,
): Promise<Answers['notices']['notices']> {
  const { keys, bearer, nowMs } = asked
  const nowUs = nowMs * 1000
  const notices: Answers['notices']['notices'] = []
  const add = (word: NoticeWord, values: Values, query: Readonly<Record<string, string>> = {}) =>
    notices.push({
      kind: word.split('.')[0] as Notice['kind'],
      text: speech.say(`notice.${word}`, values),
      query: `?${new URLSearchParams(query)}`,
    })
  for (const { budget, part, period, share } of budgets.filter((each) => each.share >= 0.8)) {
    const date = speech.day(period.toUs)
    const amount = `${speech.amount(budget.unit, budget.amount)}${partIn(part, speech)}`
    add(`budget.${budget.period}`, { share: speech.share(share), amount, date }, queryOf(period))
  }
  const { lastUs, knownUs, isLate } = await knownOf(asked)
  const withLate = () => {
    if (!isLate || knownUs! >= shown.toUs) return notices.slice(0, mostNotices)
    notices.splice(mostNotices - 1)
    // What was closed is known.
    const since = largest([lastUs!, ...asked.view.closed.map(({ toUs }) => toUs)])
    add('late-data', { date: speech.moment(since!) })
    return notices
  }
  if (page === null) return withLate()
  const isShown = (unit: string) => bearer.shows.has(shownFor(unit))
  if (page.depletion.known && isShown(page.depletion.unit)) {
    const { unit } = page.depletion
    const isMoney = unit !== 'credits'
    const [waste] = page.depletion.wasted.filter(
      (each) => each.expiresUs > nowUs && each.creditsMedian > 0,
    )
    if (waste !== undefined) {
      const date = speech.day(waste.expiresUs)
      if (isMoney)
        add('expiring.money', { amount: speech.amount(unit, String(waste.creditsMedian)), date })
      else add('expiring', { credits: waste.creditsMedian, date })
    }
    const { medianUs } = page.depletion.runsOut
    // What expires does not run out.
    const isExpiry = page.depletion.wasted.some(
      (each) => each.expiresUs === medianUs && each.creditsMedian > 0,
    )
    if (medianUs !== null && !isExpiry && medianUs > nowUs && medianUs < nowUs + 14 * dayUs) {
      add(isMoney ? 'running-out.money' : 'running-out', { date: speech.day(medianUs) })
    }
  }
  const count = (name: 'requests' | 'failed' | 'limited') =>
    page.days.reduce((sum, day) => sum + (day[name] ?? 0), 0)
  const [requests, failed] = [count('requests'), count('failed')]
  if (shown.isPart !== true && requests > 0 && failed / requests >= 0.05) {
    const values = { failed, requests, limited: count('limited') }
    add('failures', { share: speech.share(failed / requests), ...values }, { metric: 'requests' })
  }
  const anomaly = (kind: string) => page.anomalies.find((each) => each.kind === kind)?.rows[0]
  const key = anomaly('new-key')
  if (key !== undefined && bearer.shows.has('keys')) {
    const name = keys.nameOf(key.id)
    add('new-key', { key: name, date: speech.moment(key.atUs) }, { key: name })
  }
  const [first] = unusualHours(page).filter(
    ({ unit, atUs }) => isShown(unit) && atUs >= shown.fromUs && atUs < shown.toUs,
  )
  if (first !== undefined && shown.isPart !== true) {
    const { atUs, unit } = first
    const hours = listedHours(page, unit, shown)
    const amounts = await usedInHours(asked, hours, unit)
    const end = endOfDayUs(atUs, asked.view.timezone)
    add(
      hours.length > 1 ? 'busy-hour.several' : 'busy-hour',
      {
        hours: hours.length,
        sum: speech.amount(
          unit,
          amounts.reduce<string>((sum, each) => plus(sum, each ?? '0'), '0'),
        ),
        date: speech.moment(atUs),
        amount: speech.amount(unit, amounts[0] ?? null),
        times: roundTimes(first.amount / first.usual),
        requests: first.requests,
        usual: first.usualRequests,
      },
      {
        from: speech.date(atUs),
        to: speech.date(end),
        ...(page.courses.length > 1 ? { unit } : {}),
      },
    )
  }
  return withLate()
}
