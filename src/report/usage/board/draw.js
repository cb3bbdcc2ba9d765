// @ts-check
// Draws the charts of a usage page as trees of elements: the page's maker turns a tree into
// markup, and the browser into elements. Text is a child, so nothing of the data can be markup.
import { item } from './sums.js'

/** @import { Dimension, Width } from './cells.ts' */
/** @import { BoardData, DearBar } from './data.ts' */
/** @import { Bar, Bars, BoardSpeech, Child, Element, LegendEntry, Mark, Point, Series, Size, Span, TableCell, Tree } from './types.ts' */

/** @typedef {(place: number) => number} Scale from a value, or a place in a list, to pixels */

/**
 * An element; children that are not there are left out.
 *
 * @param {string} name
 * @param {Element['attributes']} attributes
 * @param {readonly (Child | readonly Child[])[]} children
 * @returns {Element}
 */
export const h = (name, attributes, ...children) => ({
  name,
  attributes,
  children: children
    .flat()
    .flatMap((each) => (each === false || each === null || each === '' ? [] : [each])),
})

/** @param {number} value */
const r = (value) => Math.round(value * 10) / 10

/**
 * The largest of values of which some may be null, and 0 if there is none above it.
 *
 * @param {readonly (number | null)[]} values
 */
function largest(values) {
  let most = 0
  for (const value of values) if (value !== null && value > most) most = value
  return most
}

/**
 * The smallest 1, 2 or 5 times a power of ten that is not below the value.
 *
 * @param {number} value
 */
function niceAbove(value) {
  if (!(value > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return power * ([1, 1.5, 2, 3, 5, 7.5].find((each) => each * power >= value) ?? 10)
}

const top = 14
const axisLeft = 52
const bottom = 24

/**
 * The frame of a chart: places of its axes.
 *
 * @param {BoardSpeech} speech
 * @param {number} width
 * @param {number} height
 * @param {number} most
 */
function frame(speech, width, height, most) {
  const left = axisLeft
  /** @type {Scale} */
  const y = (value) => top + (1 - Math.min(value, most) / most) * (height - top - bottom)
  const lines = [0, 0.5, 1].flatMap((share) => [
    h('path', { class: 'b-grid', d: `M${left} ${r(y(share * most))}H${width}` }),
    h(
      'text',
      { x: left - 6, y: r(y(share * most) + 4), 'text-anchor': 'end' },
      speech.compact(share * most),
    ),
  ])
  return { left, y, lines }
}

/**
 * @param {string} chart
 * @param {Size} size
 * @param {Readonly<Record<string, number>>} geometry what the cursor of the browser must know
 * @param {readonly Child[]} children
 */
function svg(chart, { width, height }, geometry, children) {
  return h(
    'svg',
    {
      ...{ class: 'b-chart', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': chart },
      ...Object.fromEntries(
        Object.entries(geometry).map(([name, value]) => [`data-${name}`, value]),
      ),
    },
    children,
  )
}

/**
 * @param {BoardSpeech} speech
 * @param {Bars} bars
 * @param {Scale} x
 * @param {Size} size
 */
function timeAxis(speech, { bucket, bars }, x, { width, height }) {
  const most = Math.max(2, Math.min(6, Math.floor((width - axisLeft) / 90)))
  const step = Math.ceil(bars.length / most)
  const span = (bars.at(-1)?.end ?? 0) - (bars[0]?.start ?? 0)
  return bars.flatMap(({ start }, at) =>
    at % step === 0 && (at === 0 || x(at) < width - 56)
      ? h('text', { x: r(x(at)), y: height - 6 }, speech.tick(bucket, start, span))
      : [],
  )
}

/** A bar of so many times the usual one leaves the others readable. */
const readable = 12

/**
 * The highest value of the axis. A bar far above the usual one is cut, and its value is written at it; the axis still reaches the
 * second highest, so that two unequal bars never end at one height.
 *
 * @param {readonly number[]} totals
 */
export function ceilingOf(totals) {
  const sorted = totals.filter((value) => value > 0).sort((a, b) => b - a)
  const [first = 0, second = 0] = sorted
  // Of working days, which weekends are far below.
  const [usual = 0] = sorted.slice(sorted.length >> 2)
  return niceAbove(first > readable * usual ? Math.min(first, 1.25 * second) : first)
}

/**
 * The height of each bar.
 *
 * @type {(bars: readonly Bar[], series: readonly Series[]) => readonly number[]}
 */
const totalsOf = (bars, series) =>
  bars.map((_, at) => series.reduce((sum, { values }) => sum + Math.max(0, values[at] ?? 0), 0))

/**
 * The number over a bar, which the list under the chart has too.
 *
 * @param {number | string} rank
 */
export const markOf = (rank) => `▾${rank}`

/** @type {(name: string, at: number) => string} */
const classOf = (name, at) => (name === '(other)' ? 's8' : `s${at + 1}`)

/**
 * About how wide words are, in the pixels of a drawing.
 *
 * @param {string} text
 */
const widthOf = (text) => [...text].reduce((sum, sign) => sum + (sign > '\u2e80' ? 12 : 7), 0)

/**
 * A text in lines of at most this width; none if a word of it is wider.
 *
 * @type {(text: string, room: number) => readonly string[]}
 */
function wrapped(text, room) {
  /** @type {string[]} */
  const lines = []
  for (const word of text.split(' ')) {
    if (widthOf(word) > room) return []
    const longer = `${lines.at(-1)} ${word}`
    if (lines.length > 0 && widthOf(longer) <= room) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}

/** @typedef {{ isAfter: boolean, start: number, shown: readonly { text: string, isFirst: boolean }[], from: number, to: number, first: number, last: number, cost: number }} Beside lines on a side of a bar, and how bad that place is */

/** The first days have their words beside their bars; others say them when they are pointed at. */
const mostBeside = 2
const lineHeight = 14
/** Words that have no room in whole lines are tried in lines of this width. */
const narrowest = 150
/** @param {number} step of bars */
const isNarrow = (step) => step < 15
/** The cost of words over other words. */
const written = 1000

/**
 * Why bars are far above the others, in lines beside them, on the side where no bar is as high; none where only other words are.
 *
 * @param {readonly (DearBar & { readonly at: number })[]} dears
 * @param {{ readonly x: Scale, readonly step: number, readonly width: number, readonly topOf: Scale, readonly freeOf: Scale }} places `topOf` is the top of a bar, and above `freeOf` it has no words
 * @returns {readonly Element[]}
 */
function besideBars(dears, { x, step, width, topOf, freeOf }) {
  /** @type {Beside[]} */
  const taken = []
  /** @param {number} place */
  const barAt = (place) => Math.floor((place - axisLeft) / step)
  return dears.slice(0, mostBeside).flatMap(({ at, lines: all }) => {
    // Narrow bars have room for the cause alone.
    const lines = isNarrow(step) ? all.slice(1, 2) : all
    const first = Math.max(top + 12, topOf(at) + 10)
    /** @type {(isAfter: boolean, most: number) => Beside} */
    const side = (isAfter, most) => {
      const start = isAfter ? x(at) + step + 5 : x(at) - 5
      const room = Math.min(most, isAfter ? width - start : start - axisLeft)
      const parts = lines.map((line, nth) =>
        wrapped(line, room).map((text) => ({ text, isFirst: nth === 0 })),
      )
      const shown = parts.flat()
      const wide = largest(shown.map(({ text }) => widthOf(text)))
      const from = isAfter ? start : start - wide
      const to = from + wide
      const last = first + lineHeight * (shown.length - 1)
      // A line that has no room is worse than a bar behind words, and that than more lines; the times and the cause always have room.
      let cost = shown.length
      parts.forEach((part, nth) => {
        if (part.length === 0) cost += nth < 2 ? written : 100
      })
      for (const other of taken)
        if (
          from < other.to &&
          to > other.from &&
          first - other.last < lineHeight &&
          other.first - last < lineHeight
        )
          cost += written
      for (let bar = barAt(from); bar <= barAt(to); bar++)
        if (bar !== at && freeOf(bar) < last) cost += 10
      return { isAfter, start, shown, from, to, first, last, cost }
    }
    const tried = [width, narrowest]
      .flatMap((most) => [side(true, most), side(false, most)])
      .sort((a, b) => a.cost - b.cost)
    const best = item(tried, 0)
    // They are said in sentences, too.
    if (best.cost >= written) return []
    taken.push(best)
    const { isAfter, start, shown } = best
    return shown.map(({ text, isFirst }, nth) =>
      h(
        'text',
        {
          class: `b-word b-why${isFirst ? ' b-times' : ''}`,
          ...{ x: r(start), y: r(first + lineHeight * nth) },
          'text-anchor': isAfter ? 'start' : 'end',
        },
        text,
      ),
    )
  })
}

/**
 * Bars over time, one path for each series. `marks` are numbers over some bars; the bars of `dears` say their value, and the first of
 * them why they are far above the others.
 *
 * @param {BoardSpeech} speech
 * @param {string} label
 * @param {Bars & { readonly series: readonly Series[]; readonly marks?: readonly Mark[]; readonly dears?: readonly DearBar[] }} data
 * @param {Size & { readonly classes?: readonly string[] }} size classes of the series, if they have their own
 * @returns {Tree}
 */
export function drawBars(speech, label, data, size) {
  const { bars, series, marks = [], dears = [] } = data
  const { width, height, classes } = size
  const totals = totalsOf(bars, series)
  const most = ceilingOf(totals)
  const { left, y, lines } = frame(speech, width, height, most)
  const step = (width - left) / Math.max(1, bars.length)
  const gap = step > 5 ? Math.min(4, step * 0.15) : 0
  /** @type {Scale} */
  const x = (at) => left + at * step
  const floors = bars.map(() => 0)
  const paths = series.flatMap(({ name, values }, at) => {
    let [done, open] = ['', '']
    values.forEach((value, bar) => {
      if (value === null || value <= 0) return
      const from = item(floors, bar)
      floors[bar] = from + value
      if (from >= most) return
      const mark = `M${r(x(bar) + gap / 2)} ${r(y(from))}V${r(y(from + value))}h${r(step - gap)}V${r(y(from))}z`
      if (bars[bar]?.open) open += mark
      else done += mark
    })
    const kind = classes?.[at] ?? classOf(name, at)
    return [
      done !== '' && h('path', { class: kind, d: done }),
      open !== '' && h('path', { class: `${kind} b-open`, d: open }),
    ]
  })
  // A bar that is cut has a break, so that nobody reads its height.
  const breaks = totals
    .map((value, at) => (value <= most ? '' : `M${r(x(at) - 1)} ${top + 18}l${r(step + 2)} -8`))
    .join('')
  const dark = bars
    .map(({ measured }, at) =>
      measured ? '' : `M${r(x(at))} ${top}h${r(step)}V${r(y(0))}h${r(-step)}z`,
    )
    .join('')
  const explained = dears
    .map((dear) => ({ ...dear, at: bars.findIndex(({ start }) => start === dear.hour) }))
    .filter(({ at }) => (totals[at] ?? 0) > 0)
  /** @param {number} place */
  const isDear = (place) => explained.some(({ at }) => at === place)
  const words = totals.map((value, at) => {
    // Two days of a phone have no room for their amounts and marks.
    const isAlone = isNarrow(step) && isDear(at)
    const ranks = isAlone ? [] : marks.filter(({ bar }) => bar === at).map(({ rank }) => rank)
    const shown = speech.show(value)
    return [value > most ? `↑ ${shown}` : isDear(at) && shown, ranks.map(markOf).join(' ')]
      .filter(Boolean)
      .join(' ')
  })
  const apart = Math.max(step / 2, 7)
  const over = totals.flatMap((value, at) => {
    if (words[at] === '') return []
    // Words over neighbours turn away from each other, with a space between them.
    const [before, after] = [words[at - 1] ?? '', words[at + 1] ?? '']
    const next = words.findIndex((word, later) => later > at + 1 && word !== '')
    const isClose =
      next > 0 && x(next) - x(at) < widthOf(item(words, at)) + widthOf(item(words, next))
    const isEnd = x(at) > width - 60 || ((after !== '' || isClose) && x(at) > left + 60)
    const isStart = !isEnd && before !== ''
    const isWide = isStart && x(at) + apart + 1.1 * widthOf(item(words, at)) > width
    const place = {
      x: r(
        isWide
          ? width
          : isEnd
            ? x(at) + step - (after === '' ? 2 : apart)
            : isStart
              ? x(at) + apart
              : Math.max(left + 20, x(at) + step / 2),
      ),
      y: r(y(value) - 4),
      'text-anchor': isEnd || isWide ? 'end' : isStart ? 'start' : 'middle',
    }
    return [h('text', { class: isDear(at) ? 'b-dear' : 'b-cut', ...place }, item(words, at))]
  })
  return svg(label, size, { left, step: r(step * 1000) / 1000, bars: bars.length }, [
    dark !== '' && h('path', { class: 'b-unmeasured', d: dark }),
    ...lines,
    ...paths,
    breaks !== '' && h('path', { class: 'b-break', d: breaks }),
    ...over,
    ...besideBars(explained, {
      ...{ x, step, width },
      topOf: (at) => y(item(totals, at)),
      freeOf: (at) => y(totals[at] ?? 0) - (words[at] ? 14 : 2),
    }),
    ...timeAxis(speech, data, x, size),
  ])
}

/**
 * Lines over bars; a null is a gap.
 *
 * @param {BoardSpeech} speech
 * @param {string} label
 * @param {Bars} data
 * @param {readonly { readonly kind: string; readonly values: Series['values'] }[]} lines
 * @param {Size} size
 * @returns {Tree}
 */
export function drawLines(speech, label, data, lines, size) {
  const { bars } = data
  const { width, height } = size
  const most = niceAbove(largest(lines.flatMap(({ values }) => values)))
  const { left, y, lines: grid } = frame(speech, width, height, most)
  const step = (width - left) / Math.max(1, bars.length)
  /** @type {Scale} */
  const x = (at) => left + at * step
  return svg(label, size, { left, step: r(step * 1000) / 1000, bars: bars.length }, [
    ...grid,
    ...lines.map(({ kind, values }) => {
      let [path, isOn] = ['', false]
      values.forEach((value, at) => {
        if (value === null) isOn = false
        else {
          // A value alone is a dot.
          const middle = x(at) + step / 2
          path += isOn ? `L${r(middle)} ${r(y(value))}` : `M${r(middle - 1)} ${r(y(value))}h2`
          isOn = true
        }
      })
      return h('path', { class: `b-line ${kind}`, d: path })
    }),
    ...timeAxis(speech, data, x, size),
  ])
}

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
        speech.say('heldLine', { sum: heldAt(start), credits: balance }),
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
          speech.say('expire', { credits: each.credits }),
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

const weekLeft = 40

/**
 * The place of an hour of the week.
 *
 * @param {number} at
 * @param {Pick<Size, 'width'>} size
 */
export function weekCell(at, { width }) {
  const step = (width - weekLeft) / 24
  return {
    ...{ x: r(weekLeft + (at % 24) * step), y: Math.floor(at / 24) * 24 },
    ...{ width: r(step - 1), height: 23 },
  }
}

/**
 * The shade of a median: none for 0, else one of seven.
 *
 * @param {number} value
 * @param {number} most
 */
const shadeOf = (value, most) =>
  value === 0 ? 'h0' : `h${Math.min(7, 1 + Math.floor((7 * value) / (most * 1.0001)))}`

/**
 * The shades of these medians, each with the least median that it stands for.
 *
 * @param {readonly (number | null)[]} cells
 */
export function weekShades(cells) {
  const most = largest(cells)
  const values = cells.filter((value) => value !== null).toSorted((a, b) => a - b)
  /** @type {Map<string, number>} */
  const least = new Map()
  for (const value of [0, ...values]) {
    const kind = shadeOf(value, most)
    if (!least.has(kind)) least.set(kind, value)
  }
  return [...least].map(([kind, value]) => ({ kind, least: value }))
}

/**
 * Medians of the hours of the week.
 *
 * @param {BoardSpeech} speech
 * @param {string} label
 * @param {readonly (number | null)[]} cells
 * @param {Pick<Size, 'width'>} size
 * @returns {Tree}
 */
export function drawWeek(speech, label, cells, { width }) {
  const left = weekLeft
  const weekdays = speech.shortWeekdays
  const [stepX, stepY] = [(width - left) / 24, 24]
  const most = largest(cells)
  /** @param {number} value */
  const shade = (value) => shadeOf(value, most)
  return svg(label, { width, height: 7 * stepY + 26 }, { left }, [
    ...weekdays.map((day, at) =>
      h('text', { x: left - 6, y: at * stepY + 16, 'text-anchor': 'end' }, day),
    ),
    ...cells.flatMap((value, at) =>
      value === null
        ? []
        : [
            h(
              'rect',
              { class: shade(value), ...weekCell(at, { width }) },
              h(
                'title',
                {},
                `${weekdays[Math.floor(at / 24)]} ${speech.clock(at % 24)}: ${speech.show(value)}`,
              ),
            ),
          ],
    ),
    ...[0, 6, 12, 18].map((hour) =>
      h('text', { x: r(left + hour * stepX), y: 7 * stepY + 16 }, speech.clock(hour)),
    ),
  ])
}

/**
 * A legend, for names with these classes.
 *
 * @param {readonly LegendEntry[]} names
 */
export const drawLegend = (names) =>
  h(
    'ul',
    { class: 'b-legend' },
    names.map(([name, kind]) => h('li', {}, h('i', { class: kind }), name)),
  )

/**
 * What pale bars and grey ground mean, if a chart has them.
 *
 * @type {(speech: BoardSpeech, bars: readonly Bar[]) => readonly LegendEntry[]}
 */
export const legendOfBars = ({ say }, bars) => {
  /** @type {LegendEntry[]} */
  const legend = []
  if (bars.some(({ open }) => open)) legend.push([say('open'), 's1 b-open'])
  if (bars.some(({ measured }) => !measured)) legend.push([say('unmeasured'), 'b-unmeasured'])
  return legend
}

/**
 * What a break in a bar means, if a chart has one.
 *
 * @type {(speech: BoardSpeech, drawn: Bars & { readonly series: readonly Series[] }) => readonly LegendEntry[]}
 */
export const legendOfCut = ({ say }, { bars, series }) => {
  const totals = totalsOf(bars, series)
  const most = ceilingOf(totals)
  return totals.some((value) => value > most) ? [[say('cut'), 's1 b-broken']] : []
}

/** @type {(nameOf: (name: string) => string, series: readonly Series[]) => readonly LegendEntry[]} */
export const legendOf = (nameOf, series) =>
  series.map(({ name }, at) => [nameOf(name), classOf(name, at)])

/** Longer text is no number with its unit. */
const mostOfNumber = 40

/**
 * A table of names or times and values.
 *
 * @param {BoardSpeech} speech
 * @param {string} label
 * @param {readonly string[]} heads
 * @param {readonly (readonly TableCell[])[]} rows
 * @returns {Element}
 */
export function drawTable(speech, label, heads, rows) {
  return h(
    'div',
    { class: 'table-scroll', tabindex: 0, role: 'region', 'aria-label': label },
    h(
      'table',
      {},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          heads.map((head, at) => h('th', { scope: 'col', class: at === 0 ? 'txt' : 'num' }, head)),
        ),
      ),
      h(
        'tbody',
        {},
        rows.map((cells) =>
          h(
            'tr',
            {},
            cells.map((cell, at) =>
              at === 0
                ? h('th', { scope: 'row', class: 'txt' }, cell ?? '')
                : h(
                    'td',
                    {
                      class: typeof cell === 'string' && cell.length > mostOfNumber ? 'txt' : 'num',
                      'data-head': heads[at] ?? '',
                    },
                    typeof cell === 'string' ? cell : speech.show(cell),
                  ),
            ),
          ),
        ),
      ),
    ),
  )
}
