import { decimalText, readNumber, subtract } from '../../money/rational.ts'
import { type Html, html } from '../../user/html.ts'
import type { Answers } from '../api/shapes.ts'
import type { BudgetState } from '../figures/budgets.ts'
import type { NamesTable } from '../figures/names.ts'
import { plus } from '../figures/sums.ts'
import {
  type Answer,
  beginUsOf,
  type Cell,
  datesOf,
  endedOn,
  isMoney,
  unitName,
  unitsOf,
} from './answer.ts'
import { type Column, columnsOf, nameIn, type TopName, topNames } from './name-columns.ts'
import type { PageData } from './page-shape.ts'
import { endAnswers, payAnswers, prepaidCourse } from './pay-answers.ts'
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
  const cell = (answers: Cell, isHalf: boolean) => answers.length > 0 && cellOf(answers, isHalf)
  return html`${apart(data, speech)}<dl class="figures answers">${[cell(used, isShort), cell(pay, isShort), cell(ends, false), cell(limit, isPair), cell(most, isPair)]}</dl>`
}

/** Two cells share a row of a phone if each of their values has at most so many characters. */
const mostShort = 20

/** That amounts in two units are no sum, and when each was used. */
function apart(data: PageData, speech: Speech): Html | false {
  const used = data.units.filter(
    ({ unit }) => unit === data.unit || (figureIn(data.summary, unit)?.value ?? null) !== null,
  )
  if (used.length < 2) return false
  const word = used.every(({ unit }) => isMoney(unit)) ? 'card.apart' : 'card.apart.credits'
  const dates = datesOf(
    used.map(({ unit }) => unit),
    data,
    speech,
  )
  return html`<p class="note apart">${[dates, speech.say(word)].filter(Boolean).join(' · ')}</p>`
}

function cellOf(answers: Cell, isShort: boolean): Html {
  const { label } = answers[0]!
  return html`<div${isShort && html` class="short"`}><dt>${label}</dt><dd>${answers.map((each, at) => answerOf(each, at > 0 ? label : null))}</dd></div>`
}

/** @param above the name of the cell, for an answer that follows the first */
function answerOf(
  { label, value, under, isFigure, most, isOther }: Answer,
  above: string | null,
): Html {
  const lines = under.filter((each) => each !== '' && each !== false)
  const size = value.length > 24 ? 'smallest' : value.length > 14 ? 'smaller' : null
  const text = html`${value !== '' && html`<b${size !== null && html` class="${size}"`}${isFigure && html` data-figure`}>${value}</b>`}${lines.map((each) => html`<span class="aside">${each}</span>`)}`
  const answer = most === undefined ? text : html`<div data-most="${most}">${text}</div>`
  return above === null
    ? answer
    : html`<div class="next"${isOther && html` data-whole`}>${above !== label && html`<span class="aside">${label}</span>`}${answer}</div>`
}

/** Amounts of a unit in a summary; null without any. */
function figureIn(summary: Answers['summary'], unit: string) {
  return unit === 'credits'
    ? summary.credits
    : (summary.cost.find(({ currency }) => currency === unit) ?? null)
}

const counted = ({ value }: Figure, { say }: Speech, isOfUnits = false) =>
  value === null
    ? say('card.unmeasured')
    : say(isOfUnits ? 'card.countAll' : 'card.count', { requests: Number(value) })

function compared({ value, previous }: Figure, { before }: PageData, speech: Speech): string {
  if (before === null || previous === null || value === null || Number(previous) === 0) return ''
  const period = speech.days(before.fromUs, before.toUs)
  const change = Number(value) / Number(previous) - 1
  if (Math.abs(change) < 0.0005) return speech.say('card.same', { period })
  const word = change > 0 ? 'card.more' : 'card.less'
  return speech.say(word, { share: speech.share(Math.abs(change)), period })
}

/**
 * An amount beside that of the period before. Of a unit that was used for a part of these times alone, when that use began or ended:
 * amounts of unequal times are no comparison.
 */
function comparedIn(unit: string, figure: Figure, data: PageData, speech: Speech): string {
  const ended = endedOn(unit, data, speech)
  if (ended !== '') return ended
  const begin = beginUsOf(unit, data)
  return begin === null
    ? compared(figure, data, speech)
    : speech.say('card.begun', { date: speech.near(begin, data.toUs) })
}

function usedAnswers(data: PageData, speech: Speech): readonly Answer[] {
  const { summary } = data
  const { say, number } = speech
  const [first, ...others] = unitsOf(data).flatMap(({ unit }) => usedIn(unit, data, speech))
  if (first === undefined) {
    const requests = summary.requests.value
    return [
      {
        label: say('card.requests'),
        value: requests === null ? say('card.unmeasured') : number(requests),
        under: [compared(summary.requests, data, speech)],
      },
    ]
  }
  // Requests have no unit: beside several, their number is that of all.
  const count = counted(summary.requests, speech, others.length > 0)
  return [
    { ...first, isFigure: true, under: [...first.under, count] },
    ...others.map((each) => ({ ...each, isOther: true as const })),
  ]
}

function usedIn(unit: string, data: PageData, speech: Speech): readonly Answer[] {
  const { summary, whole } = data
  const { say } = speech
  const figure = figureIn(summary, unit)
  if (figure === null || (figure.value === null && unit !== data.unit)) return []
  const write = (amount: string | null) => speech.amount(unit, amount)
  const all = whole === null ? null : (figureIn(whole, unit)?.value ?? null)
  return [
    {
      label: say('card.used', { period: speech.days(data.fromUs, data.toUs) }),
      value: figure.value === null ? say('card.unmeasured') : write(figure.value),
      under: [
        all !== null && say('card.of', { all: write(all) }),
        unit === 'credits' && priceOf(data, speech),
        unit === data.unit && data.isClosed && say('closed'),
        figure.refunds !== null &&
          Number(figure.refunds) !== 0 &&
          say('card.refunds', { amount: write(negated(figure.refunds)) }),
        ...entryLines(data, unit, figure.value, speech),
        figure.value !== null && figure.unknownShare > 0 && say('card.partial'),
        prepaidCourse(unit, data, speech),
        comparedIn(unit, figure, data, speech),
      ],
    },
  ]
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

/** What the credits cost, and at which price. */
function priceOf({ summary, units, price }: PageData, speech: Speech): string {
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

/** A refund is a negative amount, and is said as what was given back. */
const negated = (amount: string) => decimalText(subtract(readNumber('0')!, readNumber(amount)!))

/** How many names a cell of the first screen has: fewer where it has those of another unit, too. */
const mostNames = ({ units }: PageData) => (units.length < 2 ? 3 : 2)

/** The key and the model that used most, those that follow, and the first in each other unit, which is a block of its own. */
function mostAnswers(data: PageData, speech: Speech): Cell {
  const tables = ['key', 'model'].flatMap((by) => data.tables.filter((each) => each.by === by))
  const others = unitsOf(data).filter(({ unit }) => unit !== data.unit)
  return [
    ...tables.flatMap((table) => mostIn(table, data, speech)),
    ...others.flatMap(({ unit }) => {
      const lines = tables.flatMap((table) => firstIn(table, unit, speech))
      const label = unitName(unit, speech)
      return lines.length === 0 ? [] : [{ label, value: '', under: lines, isOther: true as const }]
    }),
  ]
}

/** The first name of a table in another unit, with its amount and share. */
function firstIn(table: NamesTable, unit: string, speech: Speech): readonly Html[] {
  const column = columnsOf(table, speech).find((each) => each.unit === unit)
  // Of more names than the table has, it may be among the others.
  if (column === undefined || table.more > 0) return []
  return topNames(table, 1, speech, column).map(({ name, said, share }) =>
    pairOf(nameIn(table, name, speech), `${said} · ${speech.part(share)}`),
  )
}

function mostIn(table: NamesTable, data: PageData, speech: Speech): readonly Answer[] {
  const { unit, units, seesOneKey } = data
  const { say, part } = speech
  const by = table.by === 'key' ? 'key' : 'model'
  const columns = columnsOf(table, speech)
  const column = columns.find((each) => each.unit === unit)
  // Without any amount, names are ordered by requests, which have no unit.
  if (column === undefined && columns.length > 0) return []
  // The line of one other name is its own.
  const most = mostNames(data) + Number(table.rows.length === mostNames(data) + 1)
  const [first, ...others] = topNames(table, most, speech, column)
  if (first === undefined) return []
  const name = (top: TopName) => nameIn(table, top.name, speech)
  // Shares are of the amounts in one unit.
  const of = units.length < 2 ? '' : ` (${unitName(unit!, speech)})`
  // All of what one key used is no share of what the account used.
  const isOnly = by === 'key' && seesOneKey
  const rest = 1 - [first, ...others].reduce((sum, { share }) => sum + share, 0)
  return [
    {
      label: (isOnly ? say('most.onlyKey') : say(wordOfMost(by, column))) + of,
      value: name(first),
      under: [
        isOnly ? first.said : `${first.said} · ${part(first.share)}`,
        ...others.map((each) => pairOf(name(each), part(each.share), true)),
        rest >= leastRest && pairOf(say('most.others'), part(rest), true),
      ],
      most: by,
    },
  ]
}

/** A share that is shown as 0.1 %. */
const leastRest = 0.0005

/** A name and its share, each in a column of its own: a name may end with a number. */
const pairOf = (name: string, share: string, follows = false) =>
  html`<span class="pair${follows && ' follows'}"><span>${name}</span> <span>${share}</span></span>`

/** Money is cost, and no use: the key of the highest cost may be used least. */
function wordOfMost(by: 'key' | 'model', column: Column | undefined) {
  if (column === undefined) return `most.${by}` as const
  return column.unit === 'credits' ? (`most.${by}.credits` as const) : (`most.${by}.cost` as const)
}

/** Budgets, the fullest first; without one, how many requests succeeded. */
function limitAnswers(data: PageData, speech: Speech): readonly Answer[] {
  const { say, share } = speech
  if (data.budgets.length === 0) {
    const { successShare, requests } = data.summary
    const all = Number(requests.value)
    return [
      {
        label: say('card.success'),
        value: successShare === null ? '–' : share(successShare),
        under: [
          successShare === null
            ? counted(requests, speech)
            : say('card.successOf', { ok: Math.round(successShare * all), all }),
          say('card.noBudget'),
        ],
      },
    ]
  }
  return [...data.budgets]
    .sort(
      (a, b) =>
        Number(b.budget.unit === data.unit) - Number(a.budget.unit === data.unit) ||
        b.share - a.share,
    )
    .map((state) => budgetAnswer(state, data, speech))
}

function overBudget({ unit, amount }: BudgetState['budget'], used: string, speech: Speech): string {
  const over = decimalText(subtract(readNumber(used)!, readNumber(amount)!))
  return Number(over) > 0
    ? speech.say('budget.over', { amount: speech.amount(unit, over) })
    : speech.say('budget.full')
}

function budgetAnswer(
  { budget, period, used, share, crossesUs, isEnough }: BudgetState,
  data: PageData,
  speech: Speech,
): Answer {
  const { say } = speech
  const write = speech.amounts(budget.unit)
  const of = { used: write.one(used), amount: speech.amount(budget.unit, budget.amount) }
  const width = Math.min(100, Math.max(0, share * 100)).toFixed(1)
  const bar = html`<span class="bar${share >= 1 && html` over`}"><svg viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label="${speech.share(share)}"><rect width="${width}" height="6"></rect></svg></span>`
  const end =
    crossesUs !== null
      ? say('budget.crosses', { date: speech.near(crossesUs, data.toUs) })
      : share >= 1
        ? overBudget(budget, used, speech)
        : endedOn(budget.unit, data, speech) || (isEnough && say('budget.enough'))
  return {
    label: say('card.budget'),
    value: say('card.budget.used', of),
    under: [
      say(`card.budget.${budget.period}`, { date: speech.near(period.toUs, data.toUs) }),
      bar,
      end,
    ],
  }
}
