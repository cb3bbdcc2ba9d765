import { nextMonth } from '../../measure/usage/calendar.ts'
import { decimalText, readNumber, subtract } from '../../money/rational.ts'
import { largest } from '../../user/extremes.ts'
import { type Html, html } from '../../user/html.ts'
import type { Answers } from '../api/shapes.ts'
import { plus } from '../figures/sums.ts'
import { type Answer, type Cell, datesOf, isUnknown, unitName, unitsOf } from './answer.ts'
import { against, changeOf, isCompared } from './change.ts'
import { isMoney } from './columns.ts'
import { limitAnswers } from './limit-answers.ts'
import { mostAnswers } from './most-answers.ts'
import type { PageData } from './page-shape.ts'
import { endAnswers, isPrepaid, payAnswers, prepaidCourse, priceOf } from './pay-answers.ts'
import type { Speech } from './speech.ts'

type Figure = Answers['summary']['requests']

/**
 * The questions of the first screen: what was used, what is to pay, when credits end, the limit, and by which key and model. Each is
 * answered in every unit of the account, that of the page first.
 */
export function renderFigures(data: PageData, speech: Speech): Html {
  const [used, pay] = [usedAnswers(data, speech), payAnswers(data, speech)]
  const isShort = [used, pay].every((cell) => cell.every(({ value }) => value.length <= mostShort))
  const ends = endAnswers(data, speech)
  // What is held is a limit: without a budget, there is no other.
  const limit = ends.length > 0 && data.budgets.length === 0 ? [] : limitAnswers(data, speech)
  const most = mostAnswers(data, speech)
  const isPair = limit.length > 0 && most.length > 0
  const cell = (answers: Cell, name: string, isNarrow: boolean) =>
    cellOf(answers, name, isNarrow, speech)
  return html`<dl class="figures answers">${[cell(used, 'used', isShort), cell(pay, 'pay', isShort), cell(ends, 'ends', false), cell(limit, 'limit', isPair), cell(most, 'most', isPair)]}</dl>`
}

/** What an account without use has: what is left, and its budgets. */
export function renderHeld(data: PageData, speech: Speech): Html | false {
  const ends = endAnswers(data, speech)
  const limit = data.budgets.length === 0 ? [] : limitAnswers(data, speech)
  const cells = [cellOf(ends, 'ends', false, speech), cellOf(limit, 'limit', false, speech)]
  return cells.some(Boolean) && html`<dl class="figures answers">${cells}</dl>`
}

/** Two cells share a row of a phone if each of their values has at most so many characters. */
const mostShort = 20

/** That amounts in two units are no sum, and when each was used. */
function apart(data: PageData, speech: Speech): string {
  const used = data.units.filter(
    ({ unit }) => unit === data.unit || (figureIn(data.summary, unit)?.value ?? null) !== null,
  )
  if (used.length < 2) return ''
  const units = used.map(({ unit }) => unit)
  const dates = datesOf(units, data, speech)
  const word = units.every(isMoney) ? '' : speech.say('card.apart.credits')
  const said = [dates, word].filter(Boolean)
  return said.join(' · ')
}

function cellOf(answers: Cell, name: string, isShort: boolean, speech: Speech): Html | false {
  const [first] = answers
  if (first === undefined) return false
  return html`<div class="${name}${isShort && html` short`}"><dt>${labelOf(first)}</dt><dd>${answers.map((each, at) => answerOf(each, at > 0 ? first.label : null, speech))}</dd></div>`
}

/** @param above the name of the cell, for an answer that follows the first */
function answerOf(answer: Answer, above: string | null, { say }: Speech): Html {
  const { label, value, others = [], under, isFigure, most } = answer
  const lines = under.filter((each) => each !== '' && each !== false)
  const long = largest(
    others.map((each) => each.length + 2),
    value.length,
  )
  const size = long > 18 ? 'smallest' : long > 14 ? 'smaller' : null
  const beside = others.map(
    (each) =>
      html` <span class="plus"${isFigure && html` data-whole`}>${say('card.and', { amount: each })}</span>`,
  )
  const text = html`${value !== '' && html`<b${size !== null && html` class="${size}"`}>${isFigure ? html`<span data-figure>${value}</span>` : value}${beside}</b>`}${lines.map((each) => html`<span class="aside"${isFigure && html` data-whole`}>${each}</span>`)}`
  const whole = most === undefined ? text : html`<div data-most="${most}">${text}</div>`
  return above === null
    ? whole
    : html`<div class="next">${above !== label && html`<span class="aside">${labelOf(answer)}</span>`}${whole}</div>`
}

const labelOf = ({ label, ofUnits = '' }: Answer) =>
  html`${label}${ofUnits !== '' && html`<span data-whole>${ofUnits}</span>`}`

/** Amounts of a unit in a summary; null without any. */
export function figureIn(summary: Answers['summary'], unit: string) {
  return unit === 'credits'
    ? summary.credits
    : (summary.cost.find(({ currency }) => currency === unit) ?? null)
}

const nothing = { value: '0', previous: null, unknownShare: 0, refunds: null }

/** The same on the page: in its own unit, nothing was used where no request was. */
export const usedFigure = ({ summary, unit: own }: PageData, unit: string) =>
  figureIn(summary, unit) ?? (unit === own && summary.requests.value === '0' ? nothing : null)

/** The time that the figure is of: without the days whose use is not known yet. */
function periodOfUse(data: PageData, speech: Speech): string {
  const { fromUs, toUs, lateUs } = data
  return lateUs !== null && lateUs > fromUs && speech.isOfDays(fromUs, toUs)
    ? speech.days(fromUs, lateUs)
    : speech.period(fromUs, toUs)
}

const counted = ({ value }: Figure, { say }: Speech) =>
  value === null ? say('card.unmeasured') : say('card.count', { requests: Number(value) })

/** Amounts beside those of the period before, and without what dear days used beyond usual ones. */
function comparedIn(
  units: readonly string[],
  data: PageData,
  speech: Speech,
): readonly (Html | string)[] {
  const changes = units.flatMap((unit) => {
    const figure = figureIn(data.summary, unit)
    if (figure === null || !isCompared(unit, data, speech)) return []
    const of = units.length < 2 ? '' : `${unitName(unit, speech)} `
    const change = changeOf(figure.value, figure.previous, speech)
    return change === '' ? [] : [{ unit, figure, of, change: `${of}${change}` }]
  })
  const without = changes.flatMap(({ unit, figure, of }) => {
    const dears = data.dears
      .filter((each) => each.unit === unit)
      .toSorted((a, b) => a.fromUs - b.fromUs)
    if (dears.length === 0) return []
    const beyond = dears.reduce((sum, { amount, usual }) => sum + Number(amount) - usual, 0)
    const change = changeOf(Number(figure.value) - beyond, figure.previous, speech)
    const days = speech.list(dears.map(({ fromUs }) => speech.near(fromUs, data.toUs)))
    return [
      speech.say(isMoney(unit) ? 'card.without.cost' : 'card.without', {
        ...{ days, change: `${of}${change}` },
      }),
    ]
  })
  return [against(speech.list(changes.map(({ change }) => change)), data, speech), ...without]
}

function usedAnswers(data: PageData, speech: Speech): readonly Answer[] {
  const { summary } = data
  const { say, number } = speech
  const found = unitsOf(data).map(({ unit }) => ({ unit, answers: usedIn(unit, data, speech) }))
  const used = found.filter(({ answers }) => answers.length > 0).map(({ unit }) => unit)
  const [first, ...others] = found.flatMap(({ answers }) => answers)
  if (first === undefined) {
    const requests = isUnknown(data) ? null : summary.requests.value
    return [
      {
        label:
          data.lateUs === null
            ? say('card.requests')
            : `${say('card.requests')} ${periodOfUse(data, speech)}`,
        value: requests === null ? say('card.unmeasured') : number(requests),
        under: [against(changeOf(requests, summary.requests.previous, speech), data, speech)],
      },
    ]
  }
  return [
    {
      ...{ ...first, isFigure: true, others: others.map(({ value }) => value) },
      // Requests have no unit: beside several, their number is that of all.
      under: [
        ...first.under,
        ...comparedIn(used, data, speech),
        !isUnknown(data) && counted(summary.requests, speech),
        ...others.flatMap(({ under }) => under),
        data.unit === 'credits' && !isPrepaid('credits', data) && priceOf(data, speech),
        apart(data, speech),
      ],
    },
  ]
}

function usedIn(unit: string, data: PageData, speech: Speech): readonly Answer[] {
  const { whole } = data
  const { say } = speech
  const found = usedFigure(data, unit)
  if (found === null || (found.value === null && unit !== data.unit)) return []
  const figure = isUnknown(data) ? { ...found, value: null } : found
  const write = (amount: string | null) => speech.amount(unit, amount)
  const all = whole === null ? null : (figureIn(whole, unit)?.value ?? null)
  return [
    {
      label: say(data.seesOneKey ? 'card.used.key' : 'card.used', {
        period: periodOfUse(data, speech),
      }),
      value: figure.value === null ? say('card.unmeasured') : write(figure.value),
      under: [
        all !== null && !isUnknown(data) && say('card.of', { all: write(all) }),
        unit === data.unit && data.isClosed && say('closed'),
        ...laterLines(data, unit, speech),
        figure.refunds !== null &&
          Number(figure.refunds) !== 0 &&
          say('card.refunds', { amount: write(negated(figure.refunds)) }),
        ...entryLines(data, unit, figure.value, speech),
        figure.value !== null && figure.unknownShare > 0 && say('card.partial'),
        prepaidCourse(unit, data, speech),
      ],
    },
  ]
}

/** What came after a month was closed, with a link to the month that has it. */
function laterLines(
  { summary }: PageData,
  unit: string,
  { say, month, day, amount }: Speech,
): readonly Html[] {
  const own = summary.later.filter((each) => each.unit === unit)
  return own.map(({ value, month: of, at }) => {
    const holds = at.slice(0, 7)
    const link = html`<a href="?from=${holds}-01&to=${nextMonth(at)}" data-keep>${month(holds)}</a>`
    const said = { amount: amount(unit, value), month: month(of), date: day(Date.parse(at) * 1000) }
    const [before = '', after = ''] = say('entry.later', said).split('{later}')
    return html`${before}${link}${after}`
  })
}

/** Taxes, fees and the like, and the amount with them. */
function entryLines(
  { summary }: PageData,
  unit: string,
  used: string | null,
  speech: Speech,
): readonly string[] {
  const write = speech.amounts(unit)
  const own = summary.entries.filter((each) => each.unit === unit)
  const sum = own.reduce((all, { value }) => plus(all, value ?? '0'), '0')
  const written = write.column(
    own.map(({ value }) => value),
    sum,
  )
  const lines = own.map(({ type, month, at: cameAt }, at) =>
    speech.say(`entry.${type}`, {
      amount: written[at]!,
      ...(month === null || cameAt === null
        ? {}
        : { month: speech.month(month), date: speech.day(Date.parse(cameAt) * 1000) }),
    }),
  )
  const isWhole = own.length > 0 && used !== null && own.every(({ value }) => value !== null)
  return isWhole
    ? [...lines, speech.say('entry.all', { amount: write.one(plus(used, sum)) })]
    : lines
}

/** A refund is a negative amount, and is said as what was given back. */
const negated = (amount: string) => decimalText(subtract(readNumber('0')!, readNumber(amount)!))
