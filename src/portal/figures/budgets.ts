import { type Period, periodAround, timeIn } from '../../measure/usage/calendar.ts'
import { tagDimension } from '../../measure/usage/tags.ts'
import { decimalText, divide, numberOf, readNumber, subtract } from '../../money/rational.ts'
import type { UsageForecast } from '../../report/usage/shape.ts'
import { literal } from '../../store/literal.ts'
import { dayUs } from '../../user/durations.ts'
import { type Asked, dimensionSql, shownFor, tagsShown } from '../api/asked.ts'
import type { Answers } from '../api/shapes.ts'
import type { AccountBudget } from '../settings/settings.ts'
import { amountIn } from './cause.ts'
import { courseIn, crossedAt, projectedTo } from './projection.ts'
import { within } from './rows.ts'
import { readFigures } from './sums.ts'

/** The part of an account that a budget is of: a key by its name, or a value of a tag. */
export interface BudgetPart {
  readonly of: 'key' | 'tag'
  /** Of the key, or of the tag. */
  readonly name: string
  /** The fingerprint, or the value of the tag. */
  readonly value: string
}

/** A budget, and what was used of it in its present period. */
export interface BudgetState {
  readonly budget: AccountBudget
  /** Null for all use of the account. */
  readonly part: BudgetPart | null
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

/** The part of a budget, as the token may see it; undefined if it may not. */
function partOf(
  { bearer, keys, view }: Asked,
  { key, tag }: AccountBudget,
): BudgetPart | null | undefined {
  const isWhole = bearer.keys === null
  if (tag !== undefined)
    return isWhole && tagsShown({ bearer, view }).includes(tag.name)
      ? { of: 'tag', ...tag }
      : undefined
  if (key === undefined) return isWhole ? null : undefined
  const { fingerprint: value, name } = keys.inSettings(key)
  const isSeen = bearer.shows.has('keys') && (bearer.keys?.includes(value) ?? true)
  return isSeen ? { of: 'key', name, value } : undefined
}

/** SQL for the rows of a part. */
const partSql = (part: BudgetPart | null) =>
  part === null
    ? 'true'
    : `${dimensionSql(part.of === 'key' ? 'key' : tagDimension(part.name))} = ${literal(part.value)}`

/** The budgets that this token may see, each of its own period in the zone of the account. */
export async function readBudgets(
  asked: Asked,
  page: UsageForecast | null,
): Promise<readonly BudgetState[]> {
  const { view, nowMs, bearer } = asked
  const states: BudgetState[] = []
  for (const budget of view.budgets) {
    const part = partOf(asked, budget)
    if (part === undefined || !bearer.shows.has(shownFor(budget.unit))) continue
    const period = periodAround(nowMs * 1000, view.timezone, budget.period, view.firstWeekday)
    const used = await usedOf(asked, budget.unit, period, part)
    states.push({
      ...{ budget, part, period, used },
      share: numberOf(divide(readNumber(used)!, readNumber(budget.amount)!)),
      ...(await ending(asked, page, { budget, part, period, used })),
    })
  }
  return states
}

/** So many days say which share of the use to come is of a part. */
const shareDays = 28

/** When a budget will be used up: by the forecast of the account, in the share that its part had of the last four weeks. */
async function ending(
  asked: Asked,
  page: UsageForecast | null,
  {
    budget: { amount, unit },
    part,
    period,
    used,
  }: Omit<BudgetState, 'share' | 'crossesUs' | 'isEnough'>,
): Promise<Pick<BudgetState, 'crossesUs' | 'isEnough'>> {
  const left = Number(amount) - Number(used)
  if (left <= 0) return { crossesUs: null, isEnough: false }
  const course = courseIn(page, unit, asked)
  const share = part === null || course.length === 0 ? 1 : await shareOf(asked, unit, part)
  // Of what was not used in these weeks, nothing says how much it will be.
  if (share === 0) return { crossesUs: null, isEnough: false }
  const own = course.map((day) => ({
    ...{ endUs: day.endUs, low: day.low * share },
    ...{ median: day.median * share, high: day.high * share },
  }))
  const crossesUs = crossedAt(own, left, period)
  return { crossesUs, isEnough: crossesUs === null && projectedTo(own, 0, period) !== null }
}

async function shareOf(asked: Asked, unit: string, part: BudgetPart): Promise<number> {
  const toUs = asked.nowMs * 1000
  const weeks = { fromUs: toUs - shareDays * dayUs, toUs }
  const [own, all] = [
    await usedOf(asked, unit, weeks, part),
    await usedOf(asked, unit, weeks, null),
  ].map(Number)
  return all! > 0 ? Math.min(1, Math.max(0, own! / all!)) : 0
}

/** The budgets as the API gives them. */
export const budgetsAnswer = (states: readonly BudgetState[]): Answers['budgets'] => ({
  budgets: states.map(({ budget, part, period, used, share, crossesUs }) => ({
    key: part?.of === 'key' ? part.name : null,
    tag: part?.of === 'tag' ? `${part.name}:${part.value}` : null,
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

/** Credits with a price in a currency are money, too. */
async function usedOf(
  asked: Asked,
  unit: string,
  span: Pick<Period, 'fromUs' | 'toUs'>,
  part: BudgetPart | null,
): Promise<string> {
  const [sums] = await readFigures<object, never>(asked, [], within(asked, span, partSql(part)))
  return amountIn(asked, sums!, unit) ?? '0'
}
