import { html } from '../../user/html.ts'
import type { Answers } from '../api/shapes.ts'
import type { Projection } from '../figures/projection.ts'
import { type Answer, type Cell, endedOn, unitsOf } from './answer.ts'
import { isMoney, roughly } from './columns.ts'
import type { PageData } from './page-shape.ts'
import type { Speech } from './speech.ts'

/** What is to pay in a unit: an answer whose amount stands beside those of other units. */
interface Pay extends Omit<Answer, 'value'> {
  /** Null if there is none: the value says so. */
  readonly amount: string | null
  readonly value?: string
  /** The interval of an estimate. */
  readonly range?: string
  /** Whether it is an estimate. */
  readonly isAbout?: boolean
}

/** What will be paid, in each unit: of money, what the month will probably cost; of credits or prepaid money that are there, nothing. */
export function payAnswers(data: PageData, speech: Speech): Cell {
  const { say } = speech
  const found = unitsOf(data).flatMap(({ unit }): readonly Pay[] =>
    isPrepaid(unit, data) ? [prepaidAnswer(data, speech)] : monthIn(unit, data, speech),
  )
  const groups = Map.groupBy(found, ({ label, amount }) => `${label} ${amount === null}`)
  const answers = [...groups.values()].map((own): Answer => {
    const [first, ...others] = own.map(
      ({ value, amount, isAbout }) =>
        value ?? (isAbout ? say('month.about', { amount: amount! }) : amount!),
    )
    // A range beside other amounts is said with them.
    const range = own[0]!.range ?? ''
    const all =
      range === '' ? [] : [[range, ...others.map((amount) => say('card.and', { amount }))]]
    const under = [...all.map((parts) => parts.join(' ')), ...own.flatMap((each) => each.under)]
    return { label: own[0]!.label, value: first!, others, under }
  })
  return answers.length > 0
    ? answers
    : [{ label: say('card.month'), value: '–', under: [unknown(data, speech)] }]
}

const unknown = ({ isPending }: PageData, { say }: Speech) =>
  say(isPending ? 'month.pending' : 'month.unknown')

/** The month of now, which a forecast is of. Who sees one key pays for more. */
const payLabel = ({ summary, seesOneKey }: PageData, speech: Speech) =>
  speech.say(seesOneKey ? 'card.pay.key' : 'card.pay', {
    month: speech.monthName(Date.parse(summary.refreshedAt) * 1000),
  })

const prepaidAnswer = (data: PageData, speech: Speech): Pay => ({
  ...{ label: payLabel(data, speech), value: speech.say('pay.nothing'), amount: null },
  under: [speech.say(`answer.prepaid${ofHeld(data)}`)],
})

/** Whether use in a unit is paid in advance, so that nothing is to pay for it. */
export const isPrepaid = (unit: string, { credits }: PageData) =>
  unit === credits?.unit && Number(credits.remaining ?? 0) > 0

/** What this month will probably have used of what is paid in advance; empty if it is no more than was used, or the page is filtered. */
export function prepaidCourse(unit: string, data: PageData, speech: Speech): string {
  const course = data.projections.get(unit)
  if (course === undefined || data.whole !== null || !isPrepaid(unit, data) || isOver(course))
    return ''
  const amount = speech.amounts(unit).about(course.median)
  const lastUs = course.toUs - 1
  const isOfMonth =
    speech.date(data.fromUs) === `${speech.date(lastUs).slice(0, 7)}-01` &&
    Date.parse(data.summary.refreshedAt) * 1000 <= data.toUs
  return isOfMonth
    ? speech.say('used.by', { amount, date: speech.near(lastUs, data.toUs) })
    : speech.say('used.month', { amount, month: speech.monthName(lastUs) })
}

/** The end of words that say money where others say credits. */
export const ofHeld = ({ credits }: Pick<PageData, 'credits'>) =>
  credits === null || credits.unit === 'credits' ? ('' as const) : ('.money' as const)

/** Whether nothing more is expected to be used: that is as exact as what was. */
const isOver = ({ high, used }: Projection) => Math.abs(high - used) <= Math.abs(used) / 200

function monthIn(unit: string, data: PageData, speech: Speech): readonly Pay[] {
  const { projections, price } = data
  const { say } = speech
  const label = isMoney(unit) ? payLabel(data, speech) : say('card.month')
  const course = projections.get(unit)
  // What is over before the period is no question of it.
  if (unit !== data.unit && data.units.find((each) => each.unit === unit)?.lastUs === null)
    return []
  if (course === undefined)
    return unit === data.unit
      ? [{ label, value: '–', amount: null, under: [unknown(data, speech)] }]
      : []
  // Beside the amount, its unit is said already.
  const [low, high] = [course.low, course.high].map((each) => speech.amounts(unit).about(each))
  const isExact = isOver(course) || endedOn(unit, data, speech) !== ''
  return [
    {
      label,
      amount: isExact
        ? speech.amount(unit, String(course.used))
        : speech.about(unit, course.median),
      isAbout: !isExact,
      ...(!isExact && low !== high
        ? { range: say('month.range', { low: low!, high: speech.about(unit, course.high) }) }
        : {}),
      under: [
        !isExact && !isMoney(unit) && say('month.until', { date: speech.day(course.toUs - 1) }),
        unit === 'credits' &&
          price !== null &&
          // Of the credits as they are shown, so that a reader who multiplies finds the same.
          say('month.cost', {
            amount: speech.amount(
              price.currency,
              (roughly(course.median) * Number(price.value)).toFixed(6),
            ),
          }),
        !isExact && isMoney(unit) && html`<span class="beside">${say('month.noInvoice')}</span>`,
      ],
    },
  ]
}

/** When the credits or the prepaid money end, and how much is left; empty without a balance. */
export function endAnswers(data: PageData, speech: Speech): Cell {
  const { credits, outlook } = data
  const { say } = speech
  if (credits === null || credits.remaining === null) return []
  const of = ofHeld(data)
  const left = speech.amount(credits.unit, credits.remaining)
  const median = outlook?.runsOut?.median ?? null
  if (Number(credits.remaining) <= 0 || !outlook?.known || median === null || isPast(outlook)) {
    const sentence = html`<span class="answer">${lasts(data, speech)}</span>`
    return [{ label: say(`card.balance${of}`), value: left, under: [sentence] }]
  }
  return [
    {
      label: say(`card.ends${of}`),
      value: say('ends.about', { date: speech.shortDay(Date.parse(median) * 1000) }),
      under: [
        html`<span class="answer">${say('ends.left', { amount: left })}</span>`,
        buyBefore(data, speech),
      ],
    },
  ]
}

/** Why no date is said. */
function lasts(data: PageData, { say, day }: Speech): string {
  const { credits, outlook, isPending, lastUs } = data
  const of = ofHeld(data)
  if (Number(credits!.remaining) <= 0) return say(`answer.none${of}`)
  if (!outlook?.known) return say(isPending ? `answer.pending${of}` : `answer.unknown${of}`)
  const median = outlook.runsOut?.median ?? null
  return median === null
    ? say(`answer.long${of}`)
    : say('answer.past', { date: day(lastUs ?? Date.parse(median) * 1000) })
}

/** Whether the credits would have run out before now, if usage had gone on. */
const isPast = ({ runsOut, fan }: Answers['outlook']) =>
  runsOut?.median != null && Date.parse(runsOut.median) < Date.parse(fan[0]!.at)

/** When to buy more: before one future in ten has none left. */
function buyBefore({ outlook, toUs }: PageData, { say, near }: Speech): string {
  const early = outlook?.runsOut?.early ?? null
  return early === null ? '' : say('answer.buy', { date: near(Date.parse(early) * 1000, toUs) })
}

/** What the credits cost, and at which price. */
export function priceOf({ summary, units, price }: PageData, speech: Speech): string {
  const priced = summary.cost.find(
    ({ currency }) => !units.some(({ unit }) => unit === currency) && currency === price?.currency,
  )
  return priced === undefined || price === null || priced.value === null
    ? ''
    : speech.say('card.price', {
        amount: speech.money(priced.currency, priced.value),
        price: speech.price(price.currency, price.value),
      })
}
