import { decimalText, readNumber, subtract } from '../../money/rational.ts'
import { largest } from '../../user/extremes.ts'
import { type Html, html } from '../../user/html.ts'
import type { Answers } from '../api/shapes.ts'
import type { BudgetState } from '../figures/budgets.ts'
import type { NamesTable } from '../figures/names.ts'
import { plus } from '../figures/sums.ts'
import { roughly } from './columns.ts'
import { columnsOf, nameIn, topNames } from './name-columns.ts'
import type { PageData } from './page-shape.ts'
import type { Speech } from './speech.ts'

type Figure = Answers['summary']['requests']

/** An answer to the question of a cell, in one unit, and what is to be known of it. */
interface Answer {
  readonly label: string
  readonly value: string
  readonly under: readonly (Html | string | false)[]
  /** What the page's script changes when the reader filters. */
  readonly figure?: string
  /** Of these names, the script shows those of the filter. */
  readonly most?: 'key' | 'model'
}

/** A cell is an answer in each unit, that of the page first; two that are short share a row of a phone. */
type Cell = readonly Answer[]

/**
 * The four questions of the first screen: what was used, by which key and model, what is to pay or left, and the limit. Each is
 * answered in every unit of the account, that of the page first.
 */
export function renderFigures(data: PageData, speech: Speech): Html {
  const [used, most] = [usedAnswers(data, speech), mostAnswers(data, speech)]
  const isShort = most.length > 0 && used.every(({ value }) => value.length <= 12)
  const cells: readonly Cell[] = [
    used,
    ...(most.length === 0 ? [] : [most]),
    payAnswers(data, speech),
    limitAnswers(data, speech),
  ]
  return html`<dl class="figures answers">${cells.map((cell, at) => cellOf(cell, isShort && at < 2))}</dl>`
}

function cellOf(answers: Cell, isShort: boolean): Html {
  const { label } = answers[0]!
  return html`<div${isShort && html` class="short"`}><dt>${label}</dt><dd>${answers.map((each, at) => answerOf(each, at > 0 ? label : null))}</dd></div>`
}

/** @param above the name of the cell, for an answer that follows the first */
function answerOf({ label, value, under, figure, most }: Answer, above: string | null): Html {
  const lines = under.filter((each) => each !== '' && each !== false)
  const size = value.length > 24 ? 'smallest' : value.length > 14 ? 'smaller' : null
  const text = html`<b${size !== null && html` class="${size}"`}${figure !== undefined && html` data-figure="${figure}"`}>${value}</b>${lines.map((each) => html`<span class="aside">${each}</span>`)}`
  const answer = most === undefined ? text : html`<div data-most="${most}">${text}</div>`
  return above === null
    ? answer
    : html`<div class="next">${above !== label && html`<span class="aside">${label}</span>`}${answer}</div>`
}

/** The units of the account, that of the page first. */
const unitsOf = ({ unit, units }: PageData) => [
  ...units.filter((each) => each.unit === unit),
  ...units.filter((each) => each.unit !== unit),
]

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

function usedAnswers(data: PageData, speech: Speech): readonly Answer[] {
  const { summary } = data
  const { say, number } = speech
  const answers = unitsOf(data).flatMap(({ unit }) => usedIn(unit, data, speech))
  const [first, ...others] = answers
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
  // Where an account has two units, an amount says its own.
  const figure = data.units.length > 1 ? 'amount' : 'used'
  const answered = [{ ...first, figure, under: [...first.under, count] }, ...others]
  const last = answered.at(-1)!
  return others.length === 0
    ? answered
    : [
        ...answered.slice(0, -1),
        {
          ...last,
          under: [
            ...last.under,
            say(
              answers.length > 0 && data.units.every((each) => isMoney(each.unit))
                ? 'card.apart'
                : 'card.apart.credits',
            ),
          ],
        },
      ]
}

function usedIn(unit: string, data: PageData, speech: Speech): readonly Answer[] {
  const { summary, whole, units } = data
  const { say } = speech
  const figure = figureIn(summary, unit)
  if (figure === null || (figure.value === null && unit !== data.unit)) return []
  const write = (amount: string | null) => speech.amount(unit, amount)
  const all = whole === null ? null : (figureIn(whole, unit)?.value ?? null)
  return [
    {
      label: say(unit === 'credits' ? 'card.credits' : 'card.cost'),
      value:
        figure.value === null
          ? say('card.unmeasured')
          : unit === 'credits' && units.length === 1
            ? speech.amounts(unit).one(figure.value)
            : write(figure.value),
      under: [
        all !== null && say('card.of', { all: write(all) }),
        unit === 'credits' && priceOf(data, speech),
        unit === data.unit && data.isClosed && say('closed'),
        figure.refunds !== null &&
          Number(figure.refunds) !== 0 &&
          say('card.refunds', { amount: write(negated(figure.refunds)) }),
        ...entryLines(data, unit, figure.value, speech),
        figure.value !== null && figure.unknownShare > 0 && say('card.partial'),
        compared(figure, data, speech),
        endedOn(unit, data, speech),
      ],
    },
  ]
}

const dayUs = 86_400e6

/** When a unit that others replaced was last used. */
function endedOn(unit: string, { units }: PageData, speech: Speech): string {
  const last = units.find((each) => each.unit === unit)?.lastUs ?? null
  const latest = largest(units.map(({ lastUs }) => lastUs ?? 0))
  return last === null || latest - last < dayUs
    ? ''
    : speech.say('card.ended', { date: speech.day(last) })
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

/** How many names a cell of the first screen has. */
const mostNames = 3

/** The key and the model that used most in the unit of the page, and those that follow. */
function mostAnswers({ tables, unit, units }: PageData, speech: Speech): Cell {
  // Shares are of the amounts in one unit.
  const of = units.length < 2 ? '' : ` (${unit === 'credits' ? speech.say('chart.credits') : unit})`
  return (['key', 'model'] as const).flatMap((by) => {
    const table = tables.find((each) => each.by === by)
    if (table === undefined) return []
    const [first, ...others] = topNames(table, mostNames, speech).map((each) => ({
      ...each,
      name: nameIn(table, each.name, speech),
      share: speech.part(each.share),
    }))
    if (first === undefined) return []
    return [
      {
        label: speech.say(wordOfMost(by, table, speech)) + of,
        value: first.name,
        under: [
          `${first.said} · ${first.share}`,
          others.map(({ name, share }) => `${name} ${share}`).join(' · '),
        ],
        most: by,
      },
    ]
  })
}

/** Money is cost, and no use: the key of the highest cost may be used least. */
function wordOfMost(by: 'key' | 'model', table: NamesTable, speech: Speech) {
  const [first] = columnsOf(table, speech)
  if (first === undefined) return `most.${by}` as const
  return first.unit === 'credits' ? (`most.${by}.credits` as const) : (`most.${by}.cost` as const)
}

/** What will be paid: of money, what the month will probably cost; of credits, how long they last. */
function payAnswers(data: PageData, speech: Speech): readonly Answer[] {
  const answers = unitsOf(data).flatMap(({ unit }) =>
    unit === 'credits' && hasBalance(data)
      ? [
          balanceAnswer(data, speech),
          ...(data.projections.has(unit) ? monthIn(unit, data, speech, true) : []),
        ]
      : monthIn(unit, data, speech),
  )
  if (answers.length > 0) return answers
  const { say } = speech
  return [
    {
      label: say('card.month'),
      value: '–',
      under: [say(data.isPending ? 'month.pending' : 'month.unknown')],
    },
  ]
}

const hasBalance = ({ credits }: PageData) => credits !== null && credits.remaining !== null

function balanceAnswer(data: PageData, speech: Speech): Answer {
  const { say } = speech
  return {
    label: say('card.balance'),
    value: speech.number(data.credits!.remaining!),
    under: [
      Number(data.credits!.remaining) > 0 &&
        html`<span class="answer">${say('answer.prepaid')}</span>`,
      html`<span class="answer">${lasts(data, speech)}</span>`,
      range(data, speech),
      buyBefore(data, speech),
    ],
  }
}

/** @param beside whether it follows what is left, and is said in fewer lines */
function monthIn(unit: string, data: PageData, speech: Speech, beside = false): Cell {
  const { projections, price, isPending } = data
  const { say } = speech
  const label = say('card.month')
  const course = projections.get(unit)
  // What is over before the period is no question of it.
  if (unit !== data.unit && data.units.find((each) => each.unit === unit)?.lastUs === null)
    return []
  if (course === undefined)
    return unit === data.unit
      ? [{ label, value: '–', under: [say(isPending ? 'month.pending' : 'month.unknown')] }]
      : []
  // Beside the amount, its unit is said already.
  const [low, high] = [course.low, course.high].map((each) => speech.amounts(unit).about(each))
  // What is not expected to be used any more is as exact as what was.
  const isOver = Math.abs(course.high - course.used) <= Math.abs(course.used) / 200
  return [
    {
      label,
      value: isOver
        ? speech.amount(unit, String(course.used))
        : say('month.about', { amount: speech.about(unit, course.median) }),
      under: [
        isOver
          ? endedOn(unit, data, speech)
          : !beside && say('month.until', { date: speech.day(course.toUs - 1) }),
        !isOver &&
          low !== high &&
          say('month.range', { low: low!, high: speech.about(unit, course.high) }),
        unit === 'credits' &&
          price !== null &&
          // Of the credits as they are shown, so that a reader who multiplies finds the same.
          say('month.cost', {
            amount: speech.amount(
              price.currency,
              (roughly(course.median) * Number(price.value)).toFixed(6),
            ),
          }),
        isMoney(unit) && unit === data.unit && say('month.noInvoice'),
      ],
    },
  ]
}

const isMoney = (unit: string) => /^[A-Z]{3}$/.test(unit)

function lasts({ credits, outlook, isPending, lastUs }: PageData, speech: Speech): string {
  const { say, day } = speech
  if (Number(credits!.remaining) <= 0) return say('answer.none')
  if (!outlook?.known) return say(isPending ? 'answer.pending' : 'answer.unknown')
  const median = outlook.runsOut?.median ?? null
  if (median === null) return say('answer.long')
  return isPast(outlook)
    ? say('answer.past', { date: day(lastUs ?? Date.parse(median) * 1000) })
    : say('answer.runsOut', { date: day(Date.parse(median) * 1000) })
}

/** Whether the credits would have run out before now, if usage had gone on. */
const isPast = ({ runsOut, fan }: Answers['outlook']) =>
  runsOut?.median != null && Date.parse(runsOut.median) < Date.parse(fan[0]!.at)

/** The range of the answer, if it is a date. */
function rangeOf({ outlook, credits }: PageData): { early: number; late: number } | null {
  const { early = null, late = null, median = null } = outlook?.runsOut ?? {}
  if (early === null || late === null || median === null || isPast(outlook!)) return null
  return Number(credits!.remaining) <= 0
    ? null
    : { early: Date.parse(early) * 1000, late: Date.parse(late) * 1000 }
}

/** The days of the range, if they differ. */
function range(data: PageData, { say, day }: Speech): string {
  const found = rangeOf(data)
  if (found === null) return ''
  const [first, last] = [day(found.early), day(found.late)]
  return first === last ? '' : say('answer.range', { early: first, late: last })
}

/** When to buy more: before one future in ten has none left. */
function buyBefore(data: PageData, { say, day }: Speech): string {
  const found = rangeOf(data)
  return found === null ? '' : say('answer.buy', { date: day(found.early) })
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
      ? say('budget.crosses', { date: speech.day(crossesUs) })
      : share >= 1
        ? overBudget(budget, used, speech)
        : endedOn(budget.unit, data, speech) || (isEnough && say('budget.enough'))
  return {
    label: say('card.budget'),
    value: say('card.budget.used', of),
    under: [say(`card.budget.${budget.period}`, { date: speech.day(period.toUs) }), bar, end],
  }
}
