import { decimalText, readNumber, subtract } from '../../money/rational.ts'
import { html } from '../../user/html.ts'
import type { BudgetState } from '../figures/budgets.ts'
import { type Answer, endedOn, isUnknown } from './answer.ts'
import type { PageData } from './page-shape.ts'
import { ofHeld } from './pay-answers.ts'
import { partIn, type Speech } from './speech.ts'

/** Budgets: those that are used up first, then those in the unit of the page, the fullest first; without one, how many requests succeeded. */
export function limitAnswers(data: PageData, speech: Speech): readonly Answer[] {
  const { say, share } = speech
  if (data.budgets.length === 0) {
    const { successShare } = data.summary
    const requests = isUnknown(data) ? null : data.summary.requests.value
    const all = Number(requests)
    return [
      {
        label: say('card.success'),
        value: successShare === null ? '–' : share(successShare),
        under: [
          successShare === null
            ? requests === null
              ? say('card.unmeasured')
              : say('card.count', { requests: all })
            : say('card.successOf', { ok: Math.round(successShare * all), all }),
          failedIn(data, speech),
        ],
      },
    ]
  }
  return [...data.budgets]
    .sort(
      (a, b) =>
        Number(b.share >= 1) - Number(a.share >= 1) ||
        Number(b.budget.unit === data.unit) - Number(a.budget.unit === data.unit) ||
        b.share - a.share,
    )
    .map((state) => budgetAnswer(state, data, speech))
}

/** How many failed, and whether they were charged; empty if that is not known. */
function failedIn({ failed }: PageData, speech: Speech): string {
  if (failed === null || failed.requests === 0 || failed.amounts === null) return ''
  const charged = failed.amounts.filter(({ value }) => Number(value) > 0)
  const amount = charged.map(({ unit, value }) => speech.amount(unit, value)).join(' + ')
  return charged.length === 0
    ? speech.say('card.failed.free', { failed: failed.requests })
    : speech.say('card.failed.cost', { failed: failed.requests, amount })
}

/** That the balance ends before a budget is used up, or begins anew; empty if it does not. */
function besideBalance(
  { budget, part, period, crossesUs }: BudgetState,
  data: PageData,
  { say }: Speech,
): string {
  const { credits, outlook } = data
  if (
    part !== null ||
    credits === null ||
    credits.unit !== budget.unit ||
    Number(credits.remaining ?? 0) <= 0 ||
    !outlook?.known
  )
    return ''
  const endUs =
    outlook.runsOut === null ? Infinity : Date.parse(outlook.runsOut.median ?? '9999') * 1000
  return endUs < (crossesUs ?? period.toUs) ? say(`budget.shorter${ofHeld(data)}`) : ''
}

function overBudget({ unit, amount }: BudgetState['budget'], used: string, speech: Speech): string {
  const over = decimalText(subtract(readNumber(used)!, readNumber(amount)!))
  return Number(over) > 0
    ? speech.say('budget.over', { amount: speech.amount(unit, over) })
    : speech.say('budget.full')
}

function budgetAnswer(state: BudgetState, data: PageData, speech: Speech): Answer {
  const { say } = speech
  const { budget, part, period, used, share, crossesUs, isEnough } = state
  const ended = endedOn(budget.unit, data, speech)
  const resets = speech.near(period.toUs, data.toUs)
  const write = speech.amounts(budget.unit)
  const of = { used: write.one(used), amount: speech.amount(budget.unit, budget.amount) }
  const width = Math.min(100, Math.max(0, share * 100)).toFixed(1)
  const bar = html`<span class="bar${share >= 1 && html` over`}"><svg viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label="${speech.share(share)}"><rect width="${width}" height="6"></rect></svg></span>`
  const end =
    crossesUs !== null
      ? say('budget.crosses', { date: speech.near(crossesUs, data.toUs) })
      : share >= 1
        ? html`<strong class="over"><span aria-hidden="true">▲</span> ${overBudget(budget, used, speech)}</strong>`
        : ended === '' && isEnough && say(`budget.enough.${budget.period}`)
  const label =
    budget.period === 'month'
      ? say('card.budget.for', { month: speech.monthName(period.fromUs) })
      : say('card.budget')
  return {
    label: `${label}${partIn(part, speech)}`,
    value: say('card.budget.used', of),
    under: [
      // What nobody uses any more begins anew for nobody.
      ended || say(`card.budget.${budget.period}`, { date: resets }),
      bar,
      end,
      share >= 1 && ended === '' && budget.stops !== undefined
        ? say(budget.stops ? 'budget.stops' : 'budget.goesOn', { date: resets })
        : '',
      share < 1 && besideBalance(state, data, speech),
    ],
  }
}
