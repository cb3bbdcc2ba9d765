import { timeIn } from '../../measure/usage/calendar.ts'
import type { Values } from '../../report/usage/board/types.ts'
import type { UsageForecast } from '../../report/usage/shape.ts'
import { largest } from '../../user/extremes.ts'
import type { Asked } from '../api/asked.ts'
import type { Answers } from '../api/shapes.ts'
import type { Speech } from '../page/speech.ts'
import type { BudgetState } from './budgets.ts'
import { usedInHours } from './cause.ts'

const dayUs = 86_400e6
const mostNotices = 3

type Notice = Answers['notices']['notices'][number]
type NoticeWord = Exclude<Notice['kind'], 'budget'> | `budget.${BudgetState['budget']['period']}`

/** The dates of a period, as the page is asked for it. */
const queryOf = ({ fromUs, toUs, timezone }: BudgetState['period']) => ({
  from: timeIn(fromUs, timezone).slice(0, 10),
  to: timeIn(toUs, timezone).slice(0, 10),
})

/** At most three things that a customer should know, the most pressing first, each with the view that shows it. */
export async function noticesOf(
  page: UsageForecast | null,
  budgets: readonly BudgetState[],
  asked: Asked,
  speech: Speech,
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
  for (const { budget, period, share } of budgets.filter((each) => each.share >= 0.8)) {
    const date = speech.day(period.toUs)
    add(`budget.${budget.period}`, { share: speech.share(share), date }, queryOf(period))
  }
  if (page === null) return notices.slice(0, mostNotices)
  const canSeeCredits = bearer.shows.has('credits')
  if (canSeeCredits && page.depletion.known) {
    const [waste] = page.depletion.wasted.filter(
      (each) => each.expiresUs > nowUs && each.creditsMedian > 0,
    )
    if (waste !== undefined) {
      add('expiring', {
        credits: waste.creditsMedian,
        date: speech.day(waste.expiresUs),
      })
    }
    const { medianUs } = page.depletion.runsOut
    if (medianUs !== null && medianUs > nowUs && medianUs < nowUs + 14 * dayUs) {
      add('running-out', { date: speech.day(medianUs) })
    }
  }
  const [requests, ended] = page.days.reduce(
    ([all, bad], day) => [all + (day.requests ?? 0), bad + (day.failed ?? 0)],
    [0, 0] as readonly [number, number],
  )
  if (requests > 0 && ended / requests >= 0.05) {
    add('failures', { share: speech.share(ended / requests) }, { metric: 'requests' })
  }
  const anomaly = (kind: string) => page.anomalies.find((each) => each.kind === kind)?.rows[0]
  const key = anomaly('new-key')
  if (key !== undefined && bearer.shows.has('keys')) {
    const name = keys.nameOf(key.id)
    add('new-key', { key: name }, { key: name })
  }
  const hour = anomaly('unusual-hour')
  if (hour !== undefined) {
    const day = new Date(hour.atUs / 1000).toISOString().slice(0, 10)
    const next = new Date(hour.atUs / 1000 + 86_400_000).toISOString().slice(0, 10)
    const date = [speech.moment(hour.atUs), ...(await amountsIn(asked, page, hour.atUs, speech))]
    add('busy-hour', { date: date.join(', ') }, { from: day, to: next })
  }
  const lastUs = largest(page.scope.sources.map((each) => each.lastUs))
  if (nowUs - lastUs > dayUs) add('late-data', { date: speech.moment(lastUs) })
  return notices.slice(0, mostNotices)
}

/** What an hour used, in each unit that the token shows. */
async function amountsIn(
  asked: Asked,
  page: UsageForecast,
  atUs: number,
  speech: Speech,
): Promise<readonly string[]> {
  const { shows } = asked.bearer
  const units = page.courses
    .map(({ unit }) => unit)
    .filter((unit) => shows.has(unit === 'credits' ? 'credits' : 'cost'))
  const amounts = await Promise.all(
    units.map(async (unit) => {
      const [amount = null] = await usedInHours(asked, [atUs], unit)
      return amount === null || Number(amount) === 0 ? null : speech.amount(unit, amount)
    }),
  )
  return amounts.filter((amount) => amount !== null)
}
