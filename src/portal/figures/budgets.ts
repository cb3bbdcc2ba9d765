import { type Period, periodAround, timeIn } from '../../measure/usage/calendar.ts'
import { decimalText, divide, numberOf, readNumber, subtract } from '../../money/rational.ts'
import type { UsageForecast } from '../../report/usage/shape.ts'
import type { Asked } from '../api/asked.ts'
import type { Answers } from '../api/shapes.ts'
import type { AccountBudget } from '../settings/settings.ts'
import { courseIn, crossedAt, projectedTo } from './projection.ts'
import { within } from './rows.ts'
import { creditsOf, moneyOf, readFigures } from './sums.ts'

/** A budget, and what was used of it in its present period. */
export interface BudgetState {
  readonly budget: AccountBudget
  readonly period: Period
  /** Decimal text, in the unit of the budget; at least so much, if some cost is not known. */
  readonly used: string
  /** Of the amount; above 1 beyond it. */
  readonly share: number
  /** When it will probably be used up, Unix microseconds; null if not in this period, or without a forecast. */
  readonly crossesUs: number | null
  /** Whether a forecast reaches the end of the period and the budget is not used up before. */
  readonly isEnough: boolean
}

/** The budgets of the account that this token may see, each of its own period in the zone of the account. */
export async function readBudgets(
  asked: Asked,
  page: UsageForecast | null,
): Promise<readonly BudgetState[]> {
  const { view, nowMs, bearer } = asked
  // A budget is of the whole account.
  if (bearer.keys !== null) return []
  const states: BudgetState[] = []
  const ending = ({ amount, unit }: AccountBudget, period: Period, used: string) => {
    const left = Number(amount) - Number(used)
    if (left <= 0) return { crossesUs: null, isEnough: false }
    const course = courseIn(page, unit, asked)
    const crossesUs = crossedAt(course, left, period)
    return { crossesUs, isEnough: crossesUs === null && projectedTo(course, 0, period) !== null }
  }
  for (const budget of view.budgets) {
    if (!bearer.shows.has(budget.unit === 'credits' ? 'credits' : 'cost')) continue
    const period = periodAround(nowMs * 1000, view.timezone, budget.period, view.firstWeekday)
    const used = await usedOf(asked, budget, period)
    states.push({
      budget,
      period,
      used,
      share: numberOf(divide(readNumber(used)!, readNumber(budget.amount)!)),
      ...ending(budget, period, used),
    })
  }
  return states
}

/** The budgets as the API gives them. */
export const budgetsAnswer = (states: readonly BudgetState[]): Answers['budgets'] => ({
  budgets: states.map(({ budget, period, used, share, crossesUs }) => ({
    amount: budget.amount,
    unit: budget.unit,
    period: budget.period,
    used,
    share,
    left: decimalText(subtract(readNumber(budget.amount)!, readNumber(used)!)),
    from: timeIn(period.fromUs, period.timezone),
    to: timeIn(period.toUs, period.timezone),
    crosses: crossesUs === null ? null : timeIn(crossesUs, period.timezone).slice(0, 10),
  })),
})

async function usedOf(asked: Asked, { unit }: AccountBudget, period: Period): Promise<string> {
  const [sums] = await readFigures<object, never>(asked, [], within(asked, period))
  if (unit === 'credits') return creditsOf(sums!) ?? '0'
  // Credits with a price in this currency are money, too.
  return moneyOf(asked, sums!).find(({ currency }) => currency === unit)?.value ?? '0'
}
