// @ts-check
// Draws what was used up to a time, and the forecast of it.
import { axisLeft, bottom, frame, h, niceAbove, r, svg, top, widthOf } from './elements.js'

/** @import { BoardData } from './data.ts' */
/** @import { BoardSpeech, Element, LegendEntry, Point, Size, Span, Tree } from './types.ts' */
/** @import { Scale } from './elements.js' */

/**
 * The time axis of cumulative use, which reaches to the end of the forecast.
 *
 * @param {Span} span
 * @param {BoardData['outlook']} outlook
 * @param {Size} size
 */
export function cumulativeX({ from, to }, outlook, { width }) {
  const end = outlook === null ? to : Math.max(to, outlook.points.at(-1)?.hour ?? to)
  return {
    end,
    /** @type {Scale} */
    x: (hour) => axisLeft + ((hour - from) / Math.max(1, end - from)) * (width - axisLeft),
  }
}

/** @type {NonNullable<BoardData['outlook']>} */
const noOutlook = { balance: null, budget: null, runsOut: null, points: [], expiries: [] }

/** Distances from a place, the least first: 0, 2, -2, 4 and so on. */
const nearest = Array.from({ length: 45 }, (_, at) => (at % 2 === 0 ? -at : at + 1))

/**
 * Cumulative use. With an outlook, the fan of the forecast goes on from where use is known. The line of what is held is drawn above
 * it, with a step where credits expire, and a mark where they are probably used up. The line of a budget ends where it begins anew.
 *
 * @param {BoardSpeech} speech
 * @param {string} label
 * @param {Span} span
 * @param {readonly Point[]} points
 * @param {BoardData['outlook']} outlook
 * @param {Size & { readonly now: number }} size with the hour of now
 * @returns {Tree}
 */
export function drawCumulative(speech, label, { from, to }, points, outlook, size) {
  const { width, height, now } = size
  const used = points.at(-1)?.sum ?? 0
  const start = points.at(-1)?.hour ?? from
  const { end, x } = cumulativeX({ from, to }, outlook, size)
  const { balance, budget, runsOut, points: future, expiries } = outlook ?? noOutlook
  /** @param {number} hour */
  const heldAt = (hour) =>
    expiries.reduce(
      (left, each) => left - (each.hour <= hour ? each.credits : 0),
      used + (balance ?? 0),
    )
  const most = niceAbove(
    balance === null
      ? Math.max(used, budget?.amount ?? 0, used + (future.at(-1)?.high ?? 0))
      : Math.max(used, budget?.amount ?? 0, heldAt(start)),
  )
  const { left, y, lines } = frame(speech, width, height, most)
  /** @type {(hour: number, value: number) => string} */
  const at = (hour, value) => `${r(x(hour))} ${r(y(Math.max(0, value)))}`
  /** @param {readonly (readonly [hour: number, value: number])[]} some */
  const line = (some) => some.map(([hour, value]) => at(hour, value)).join('L')
  /** @param {number} hour */
  const dateOf = (hour) => speech.tick('day', hour, 0)
  const reset = Math.min(budget?.hour ?? end, end)
  const isOut = runsOut !== null && runsOut.hour <= end && runsOut.hour > start
  const uprights = [x(start), ...(budget ? [x(reset)] : []), ...(isOut ? [x(runsOut.hour)] : [])]
  /** @type {{ readonly from: number, readonly to: number, readonly y: number }[]} */
  const taken = []
  /**
   * A word where no other is: the least lower or higher than its place, if that is taken.
   *
   * @type {(place: number, from: number, isBefore: boolean, word: string) => Element}
   */
  const put = (place, from, isBefore, word) => {
    const wide = widthOf(word)
    const box = isBefore ? { from: from - wide, to: from } : { from, to: from + wide }
    /** @param {number} line */
    const isFree = (line) =>
      line >= 9 &&
      line < height - bottom &&
      taken.every(
        (other) => Math.abs(other.y - line) >= 12 || other.from > box.to || other.to < box.from,
      )
    const line = nearest.map((apart) => place + apart).find(isFree) ?? place
    taken.push({ ...box, y: line })
    return h(
      'text',
      {
        ...{ class: 'b-word', x: r(from), y: r(line) },
        ...(isBefore ? { 'text-anchor': 'end' } : {}),
      },
      word,
    )
  }
  /**
   * A word over a line, or under it.
   *
   * @type {(value: number, word: string, isUnder: boolean) => Element}
   */
  const named = (value, word, isUnder) => put(y(value) + (isUnder ? 14 : -5), left + 6, false, word)
  // Of two lines close to each other, the lower one has its word under it.
  const gap = y(budget?.amount ?? 0) - y(heldAt(start))
  /**
   * A word beside a line at a time, on the side that has room for it, and no other such line.
   *
   * @type {(hour: number, place: number, word: string) => Element}
   */
  const beside = (hour, place, word) => {
    const [at, wide] = [x(hour), widthOf(word) + 5]
    /** @type {(from: number, to: number) => boolean} */
    const isCrossed = (from, to) =>
      from < left || to > width || uprights.some((each) => each > from && each < to && each !== at)
    const [isBefore, isAfter] = [isCrossed(at - wide, at), isCrossed(at, at + wide)]
    const isLate = at > (left + width) / 2
    const turns = isBefore === isAfter ? isLate : isAfter
    return put(place, turns ? at - 5 : at + 5, turns, word)
  }
  /** @type {(kind: string, hour: number, value: number) => Element} */
  const upright = (kind, hour, value) =>
    h('path', { class: kind, d: `M${r(x(hour))} ${r(y(Math.max(0, value)))}V${height - bottom}` })
  /** @param {'low' | 'median' | 'high'} name */
  const fan = (name) => line(future.map((point) => [point.hour, used + point[name]]))
  const back = line(future.toReversed().map(({ hour, high }) => [hour, used + high]))
  const held = future.map(({ hour }) => `H${r(x(hour))}V${r(y(Math.max(0, heldAt(hour))))}`)
  const floor = height - bottom - 6
  // Words at times stand above that of a low budget.
  const low = budget !== null && y(budget.amount) > floor - 36 ? y(budget.amount) - 20 : floor
  /** @type {readonly (Element | false | null)[]} */
  const ahead = [
    h('path', { class: 'b-fan', d: `M${fan('low')}L${back}z` }),
    h('path', { class: 'b-line b-all b-dashed', d: `M${fan('median')}` }),
    balance !== null &&
      h('path', { class: 'b-line b-held', d: `M${at(from, heldAt(start))}${held.join('')}` }),
    balance !== null &&
      named(
        heldAt(start),
        speech.say('heldLine', {
          sum: speech.show(heldAt(start)),
          credits: speech.show(balance),
        }),
        gap < 0 && gap > -15,
      ),
    ...(!isOut
      ? []
      : [
          upright('b-out', runsOut.hour, heldAt(runsOut.hour)),
          beside(runsOut.hour, low - 14, speech.say('outLine', { date: dateOf(runsOut.hour) })),
        ]),
    budget &&
      h('path', { class: 'b-line b-budget', d: `M${at(from, budget.amount)}H${r(x(reset))}` }),
    budget && upright('b-reset', reset, budget.amount),
    budget &&
      named(
        budget.amount,
        speech.say('budgetLine', {
          amount: speech.show(budget.amount),
          date: dateOf(budget.hour),
        }),
        gap >= 0 && gap < 15,
      ),
    ...expiries
      .filter(({ hour }) => hour <= end)
      .map((each) =>
        beside(
          each.hour,
          y(heldAt(each.hour)) + 14,
          speech.say('expire', { credits: speech.show(each.credits), n: each.credits }),
        ),
      ),
    h('path', { class: 'b-now', d: `M${r(x(start))} ${top}V${height - bottom}` }),
    beside(
      start,
      low,
      now - start < 1 ? speech.say('now') : speech.say('dataTo', { date: dateOf(start) }),
    ),
  ]
  const children = [
    ...lines,
    ...(outlook === null ? [] : ahead.filter((each) => !!each)),
    h('path', {
      class: 'b-line b-all',
      d: `M${[at(from, 0), ...points.map(({ hour, sum }) => at(hour, sum))].join('L')}`,
    }),
  ]
  const count = Math.max(2, Math.min(5, Math.floor(width / 130)))
  const bucket = end - from <= 48 ? 'hour' : 'day'
  const ticks = Array.from({ length: count }, (_, place) => {
    const after = ((end - from) * place) / count
    const hour = from + (bucket === 'hour' ? Math.floor(after) : Math.floor(after / 24) * 24)
    return h('text', { x: r(x(hour)), y: height - 6 }, speech.tick(bucket, hour, end - from))
  })
  // A word is drawn over the lines that pass behind it.
  children.sort((a, b) => Number(a.name === 'text') - Number(b.name === 'text'))
  return svg(label, size, { left }, [...children, ...ticks])
}

/**
 * What the lines of cumulative use are.
 *
 * @type {(speech: BoardSpeech, outlook: NonNullable<BoardData['outlook']>) => readonly LegendEntry[]}
 */
export const legendOfCumulative = ({ say }, { balance, budget }) => [
  [say('usedLine'), 'b-stroke b-all'],
  [say('forecastLine'), 'b-stroke b-all b-dashed'],
  [say('rangeBand'), 'b-fan'],
  ...(balance === null ? [] : [/** @type {const} */ ([say('heldKey'), 'b-stroke b-held'])]),
  ...(budget === null ? [] : [/** @type {const} */ ([say('budgetKey'), 'b-stroke b-budget'])]),
]
