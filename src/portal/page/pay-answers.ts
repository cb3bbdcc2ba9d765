import { dayMs } from '../../user/durations.ts'
import { type Html, html } from '../../user/html.ts'
import type { Answers } from '../api/shapes.ts'
import type { Projection } from '../figures/projection.ts'
import { plus } from '../figures/sums.ts'
import { type Answer, type Cell, endedOn, unitsOf } from './answer.ts'
import { isMoney, roughly } from './columns.ts'
import { priceBeyond } from './dear-words.ts'
import type { PageData } from './page-shape.ts'
import type { Speech } from './speech.ts'

/**
 * What will be paid, in each unit: of money, what the month will probably cost, that of all currencies in one line; of credits or prepaid
 * money that are there, nothing.
 */
export function payAnswers(data: PageData, speech: Speech): Cell {
  const { say } = speech
  const found = unitsOf(data).flatMap(({ unit }): readonly Answer[] =>
    isPrepaid(unit, data) ? [prepaidAnswer(data, speech)] : monthIn(unit, data, speech),
  )
  if (found.length === 0)
    return [{ label: say('card.month'), value: '–', under: [unknown(data, speech)] }]
  const [first, ...others] = found as [Answer, ...Answer[]]
  const isSame = ({ label }: Answer) => label === first.label
  const same = others.filter(isSame)
  // Where nothing is to pay for what is held, an amount follows the reason.
  if (found.some(({ value }) => value === say('pay.nothing')))
    return [
      first,
      ...others.map((each) =>
        isSame(each) ? { ...each, value: say('card.and', { amount: each.value }) } : each,
      ),
    ]
  return [
    {
      ...{ ...first, others: same.map(({ value }) => value) },
      under: linesOf([first, ...same]),
    },
    ...others.filter((each) => !isSame(each)),
  ]
}

/** The lines of each, then those that all have, once. */
function linesOf(all: readonly Answer[]): Answer['under'] {
  const isShared = (line: Answer['under'][number]) => all.every(({ under }) => under.includes(line))
  const [first] = all
  return [
    ...all.flatMap(({ under }) => under.filter((line) => !isShared(line))),
    ...first!.under.filter(isShared),
  ]
}

const unknown = ({ isPending }: PageData, { say }: Speech) =>
  say(isPending ? 'month.pending' : 'month.unknown')

/** The month of now, which a forecast is of. Who sees one key pays for more. */
function payLabel({ summary, seesOneKey }: PageData, speech: Speech): string {
  const month = speech.monthName(Date.parse(summary.refreshedAt) * 1000)
  return speech.say(seesOneKey ? 'card.pay.key' : 'card.pay', { month })
}

const prepaidAnswer = (data: PageData, speech: Speech): Answer => ({
  ...{ label: payLabel(data, speech), value: speech.say('pay.nothing') },
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

function monthIn(unit: string, data: PageData, speech: Speech): readonly Answer[] {
  const { projections, price } = data
  const { say } = speech
  const label = isMoney(unit) ? payLabel(data, speech) : say('card.month')
  const course = projections.get(unit)
  // What is over before the period is no question of it.
  if (unit !== data.unit && data.units.find((each) => each.unit === unit)?.lastUs === null)
    return []
  if (course === undefined)
    return unit === data.unit ? [{ label, value: '–', under: [unknown(data, speech)] }] : []
  // Beside the amount, its unit is said already.
  const [low, high] = [course.low, course.high].map((each) => speech.amounts(unit).about(each))
  const ended = endedOn(unit, data, speech)
  const isExact = isOver(course) || ended !== ''
  // Where each currency has its dates above the figures, the cell does not say them again.
  const isDated = isMoney(unit) && data.units.filter((each) => isMoney(each.unit)).length > 1
  return [
    {
      label,
      value: isExact
        ? speech.amount(unit, String(course.used))
        : say('month.about', { amount: speech.about(unit, course.median) }),
      under: [
        unexplainedIn(unit, course, data, speech),
        !isDated && ended,
        !isExact &&
          low !== high &&
          say('month.range', { low: low!, high: speech.about(unit, course.high) }),
        !isExact && !isMoney(unit) && say('month.until', { date: speech.day(course.toUs - 1) }),
        unit === 'credits' &&
          price !== null &&
          // Of the credits as they are shown, so that a reader who multiplies finds the same.
          say('month.cost', {
            amount: speech.amount(
              price.currency,
              ((isExact ? course.used : roughly(course.median)) * Number(price.value)).toFixed(6),
            ),
          }),
        !isExact &&
          isMoney(unit) &&
          say(data.seesOneKey ? 'month.noInvoice.key' : 'month.noInvoice'),
      ],
    },
  ]
}

/** How much of the month was used at a price that nothing explains, on all such days of it that the page has; empty without one. */
function unexplainedIn(unit: string, month: Projection, data: PageData, speech: Speech): Html | '' {
  const found = daysOf(month, unit, data.dears).filter((each) => priceBeyond(each) !== null)
  if (found.length === 0) return ''
  const amount = found.reduce((sum, each) => plus(sum, priceBeyond(each)!), '0')
  const said = speech.say('pay.question', { amount: speech.amount(unit, amount) })
  return html`<span class="plain">${said}</span>`
}

/** Of dear days, those of a month in a unit, in the order of time. */
const daysOf = (month: Projection, unit: string, dears: PageData['dears']) =>
  dears
    .filter((each) => each.unit === unit && each.fromUs >= month.fromUs)
    .toSorted((a, b) => a.fromUs - b.fromUs)

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
  const endUs = Date.parse(median) * 1000
  const unused = unusedAt(median, outlook)
  if (unused > 0)
    return [
      {
        label: say(`card.expires${of}`),
        value: speech.shortDay(endUs),
        under: [
          html`<span class="answer">${say(`ends.unused${of}`, {
            ...{ unused: speech.amounts(credits.unit).one(String(unused)), amount: left },
            date: speech.near(endUs, data.toUs),
          })}</span>`,
          earlierIn(data, speech),
        ],
      },
    ]
  return [
    {
      label: say(`card.ends${of}`),
      value: say('ends.about', { date: speech.shortDay(endUs) }),
      under: [
        html`<span class="answer">${say('ends.left', { amount: left })}</span>`,
        rangeIn(data, speech),
        paceIn(data, speech),
        fasterIn(data, speech),
      ],
    },
  ]
}

/** When the balance ends, in one line: on a phone, the reason of a dear day stands before the cell that says more. False without a balance. */
export function endLine(data: PageData, speech: Speech): Html | false {
  const [first] = endAnswers(data, speech)
  return (
    first !== undefined &&
    html`<p class="brief" data-whole>${first.label} <span class="unbroken"><b>${first.value}</b></span></p>`
  )
}

/** What expires at a time in the median future: it does not run out then. */
const unusedAt = (at: string, { expiries }: Answers['outlook']) =>
  expiries.reduce((sum, each) => sum + (each.at === at ? Number(each.median) : 0), 0)

/** The day on which one future in ten has used up what would expire; empty if none has. */
function earlierIn({ outlook, toUs }: PageData, { say, near }: Speech): string {
  const [early, median] = [outlook!.runsOut!.early!, outlook!.runsOut!.median!].map(Date.parse)
  return median! - early! < dayMs ? '' : say('ends.earliest', { date: near(early! * 1000, toUs) })
}

/** The days between which eight futures in ten end; empty if they are one day. */
function rangeIn({ outlook, toUs }: PageData, { say, near }: Speech): string {
  const { early, late } = outlook!.runsOut!
  const [from, to] = [early!, late].map((at) => at && near(Date.parse(at) * 1000, toUs))
  if (!to) return say('ends.range.open', { from: from! })
  return from === to ? '' : say('ends.range', { from: from!, to })
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

/** Two paces that differ by more times are not of the same use. */
const sameTimes = 1.5

interface Pace {
  /** What is left, for each day until it ends. */
  readonly perDay: number
  /** What was used on a day of the mean this month; null before it has had a week. */
  readonly mean: number | null
  /** The days whose extra use is in the mean and not in the pace. */
  readonly without: PageData['dears']
}

/** How fast a balance ends; null where what is left is no pace: some of it will expire, is for some models alone, or will be more. */
function paceOf({ credits, outlook, summary, projections, around }: PageData): Pace | null {
  const nowMs = Date.parse(summary.refreshedAt)
  const left = (Date.parse(outlook!.runsOut!.median!) - nowMs) / dayMs
  const isOther =
    outlook!.expiries.some(({ median }) => Number(median) > 0) ||
    credits!.grants.some(({ models }) => models !== null)
  if (left < 1 || isOther) return null
  const perDay = Number(credits!.remaining) / left
  const month = projections.get(credits!.unit)
  const days = month === undefined ? 0 : (nowMs - month.fromUs / 1000) / dayMs
  const mean = days < leastMean ? null : month!.used / days
  const found = month === undefined ? [] : daysOf(month, credits!.unit, around)
  const extra = found.reduce((sum, { amount, usual }) => sum + Number(amount) - usual, 0)
  const usual = mean === null ? null : mean - extra / days
  // Credits that begin later, or that are for models which the token does not show, are in the date alone.
  const [now, next] = outlook!.fan.map(({ p50 }) => Number(p50))
  const times = perDay / (usual ?? now! - next!)
  if (!(times > 1 / sameTimes && times < sameTimes)) return null
  const isNearer = mean !== null && Math.abs(perDay - usual!) < Math.abs(perDay - mean)
  return { perDay, mean, without: isNearer ? found : [] }
}

/** A mean of fewer days says little. */
const leastMean = 7

/** The same in words. */
function paceIn(data: PageData, speech: Speech): string {
  const found = paceOf(data)
  if (found === null) return ''
  const pace = speech.amounts(data.credits!.unit).about(found.perDay)
  if (found.without.length === 0) return speech.say('ends.pace', { pace })
  const days = nearDays(found.without, data, speech)
  return speech.say('ends.pace.without', { pace, days })
}

const nearDays = (dears: PageData['dears'], { toUs }: PageData, { list, near }: Speech) =>
  list(dears.map(({ fromUs }) => near(fromUs, toUs)))

/** The end at the mean pace of the month, which a reader works out; empty if it is no sooner than the range of the pace says. */
function fasterIn(data: PageData, speech: Speech): string {
  const { credits, outlook, summary, toUs } = data
  const { mean = null, without = [] } = paceOf(data) ?? {}
  if (mean === null) return ''
  const endMs = Date.parse(summary.refreshedAt) + (Number(credits!.remaining) / mean) * dayMs
  if (Date.parse(outlook!.runsOut!.early!) - endMs < dayMs) return ''
  const said = {
    pace: speech.amounts(credits!.unit).about(mean),
    date: speech.near(endMs * 1000, toUs),
  }
  return without.length === 0
    ? speech.say('ends.faster', said)
    : speech.say('ends.faster.with', { ...said, days: nearDays(without, data, speech) })
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
