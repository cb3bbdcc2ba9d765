import { type Html, html } from '../../user/html.ts'
import type { Answers } from '../api/shapes.ts'
import { plus } from '../figures/sums.ts'
import type { PageData } from './page.ts'
import type { Speech } from './speech.ts'

type Figure = Answers['summary']['requests']

/** What stands in a cell: a question's name, its answer, and what is to be known of it. */
interface Cell {
  readonly label: string
  readonly value: string
  readonly under: readonly (Html | string | false)[]
  /** What the page's script changes when the reader filters. */
  readonly figure?: string
}

/** The three answers of the first screen: what was used, what is to pay or left, and the limit. */
export function renderFigures(data: PageData, speech: Speech): Html {
  const cells = [usedCell(data, speech), toPayCell(data, speech), limitCell(data, speech)]
  return html`<dl class="figures answers">${cells.map(({ label, value, under, figure }) => html`<div><dt>${label}</dt><dd><b${figure !== undefined && html` data-figure="${figure}"`}>${value}</b>${under.filter((each) => each !== '' && each !== false).map((each) => html`<span class="aside">${each}</span>`)}</dd></div>`)}</dl>`
}

/** Amounts of a unit in a summary; null without any. */
function figureIn(summary: Answers['summary'], unit: string | null) {
  if (unit === null) return null
  return unit === 'credits'
    ? summary.credits
    : (summary.cost.find(({ currency }) => currency === unit) ?? null)
}

const counted = ({ value }: Figure, { say }: Speech) =>
  value === null ? say('card.unmeasured') : say('card.count', { requests: Number(value) })

function compared({ value, previous }: Figure, { before }: PageData, speech: Speech): string {
  if (before === null || previous === null || value === null || Number(previous) === 0) return ''
  const period = speech.days(before.fromUs, before.toUs)
  const change = Number(value) / Number(previous) - 1
  if (Math.abs(change) < 0.0005) return speech.say('card.same', { period })
  const word = change > 0 ? 'card.more' : 'card.less'
  return speech.say(word, { share: speech.share(Math.abs(change)), period })
}

function usedCell(data: PageData, speech: Speech): Cell {
  const { summary, whole, unit, units } = data
  const { say, number } = speech
  const requests = summary.requests.value
  const count = counted(summary.requests, speech)
  const figure = figureIn(summary, unit)
  if (unit === null || figure === null || (figure.value === null && units.length === 0)) {
    return {
      label: say('card.requests'),
      value: requests === null ? say('card.unmeasured') : number(requests),
      under: [compared(summary.requests, data, speech)],
    }
  }
  const write = speech.amounts(unit)
  const all = whole === null ? null : (figureIn(whole, unit)?.value ?? null)
  const priced = unit === 'credits' ? priceOf(data, speech) : ''
  const others = units.flatMap((each) => {
    const value = each === unit ? null : (figureIn(summary, each)?.value ?? null)
    return value === null ? [] : [speech.amounts(each).one(value)]
  })
  return {
    label: say(unit === 'credits' ? 'card.credits' : 'card.cost'),
    value: figure.value === null ? say('card.unmeasured') : write.one(figure.value),
    figure: 'used',
    under: [
      all !== null && say('card.of', { all: write.one(all) }),
      priced,
      data.isClosed && say('closed'),
      figure.refunds !== null &&
        Number(figure.refunds) !== 0 &&
        say('card.refunds', { amount: write.one(figure.refunds) }),
      ...entryLines(data, unit, figure.value, speech),
      figure.value !== null && figure.unknownShare > 0 && say('card.partial'),
      compared(figure, data, speech),
      count,
      others.length > 0 && say('card.others', { amounts: others.join(' · ') }),
    ],
  }
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

/** Credits at their price. */
function priceOf({ summary, units }: PageData, speech: Speech): string {
  const priced = summary.cost.filter(({ currency }) => !units.includes(currency))
  return priced.map(({ currency, value }) => speech.money(currency, value)).join(' + ')
}

/** Credits left, and until when; of money, what the month will probably cost. */
function toPayCell(data: PageData, speech: Speech): Cell {
  const { credits, unit, projection, isPending } = data
  const { say } = speech
  if (credits !== null && credits.remaining !== null && unit !== null && !isMoney(unit)) {
    return {
      label: say('card.balance'),
      value: speech.number(credits.remaining),
      under: [html`<span class="answer">${lasts(data, speech)}</span>`, range(data, speech)],
    }
  }
  if (projection === null || unit === null) {
    return {
      label: say('card.month'),
      value: '–',
      under: [say(isPending ? 'month.pending' : 'month.unknown')],
    }
  }
  const write = speech.amounts(unit)
  const round = write.about
  const [low, high] = [round(projection.low), round(projection.high)]
  return {
    label: say('card.month'),
    value: say('month.about', { amount: round(projection.median) }),
    under: [
      say('month.until', { date: speech.day(projection.toUs - 1) }),
      low !== high && say('month.range', { low, high }),
      isMoney(unit) && say('month.noInvoice'),
    ],
  }
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

/** The days of the range, if the answer is a date and they differ. */
function range({ outlook, credits }: PageData, { say, day }: Speech): string {
  const { early = null, late = null, median = null } = outlook?.runsOut ?? {}
  if (early === null || late === null || median === null || isPast(outlook!)) return ''
  if (Number(credits!.remaining) <= 0) return ''
  const [first, last] = [early, late].map((each) => day(Date.parse(each) * 1000))
  return first === last ? '' : say('answer.range', { early: first!, late: last! })
}

/** Budgets, the fullest first; without one, how many requests succeeded. */
function limitCell(data: PageData, speech: Speech): Cell {
  const { say, share } = speech
  const [first, ...others] = [...data.budgets].sort((a, b) => b.share - a.share)
  if (first === undefined) {
    const { successShare } = data.summary
    return {
      label: say('card.success'),
      value: successShare === null ? '–' : share(successShare),
      under: [counted(data.summary.requests, speech)],
    }
  }
  const line = ({ budget, used }: typeof first) => {
    const write = speech.amounts(budget.unit)
    return say('card.budget.used', { used: write.one(used), amount: write.one(budget.amount) })
  }
  const bar = ({ share: part }: typeof first) =>
    html`<span class="bar${part >= 1 && html` over`}"><svg viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label="${share(part)}"><rect width="${Math.min(100, Math.max(0, part * 100)).toFixed(1)}" height="6"></rect></svg></span>`
  const until = ({ budget, period }: typeof first) =>
    say(`card.budget.${budget.period}`, { date: speech.day(period.toUs) })
  return {
    label: say('card.budget'),
    value: line(first),
    under: [
      until(first),
      bar(first),
      first.crossesUs !== null &&
        say('state.crosses', {
          amount: speech.amounts(first.budget.unit).one(first.budget.amount),
          date: speech.day(first.crossesUs),
        }),
      ...others.flatMap((each) => [html`${line(each)} ${until(each)}`, bar(each)]),
    ],
  }
}
