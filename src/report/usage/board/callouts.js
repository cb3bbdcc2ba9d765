// @ts-check
// Words beside the bars that are far above the others.
import { axisLeft, h, largest, r, top, widthOf } from './elements.js'
import { item } from './sums.js'

/** @import { DearBar } from './data.ts' */
/** @import { Element } from './types.ts' */
/** @import { Scale } from './elements.js' */

/** @typedef {{ from: number, to: number, first: number, last: number }} Box words between two places, and their first and last line */
/** @typedef {Box & { start: number, isAfter: boolean, shown: readonly { text: string, isFirst: boolean }[], cost: number }} Beside lines at a side of a bar, and how bad that place is */

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

/** The first days have their words beside their bars; others say them when they are pointed at. */
const mostBeside = 2

const lineHeight = 14

/** Words that have no room in whole lines are tried in lines of this width. */
const narrowest = 150

/** @param {number} step of bars */
export const isNarrow = (step) => step < 15

/** The cost of words over other words or a bar. */
const written = 1000

/** Their first line is larger. */
const ofFirst = 1.1

/**
 * Why bars are far above the others, in lines beside or above them, where no bar is as high; none where only other words are.
 *
 * @param {readonly (DearBar & { readonly at: number })[]} dears
 * @param {{ readonly x: Scale, readonly step: number, readonly width: number, readonly topOf: Scale, readonly over: readonly Box[] }} places `topOf` is the top of a bar, and `over` are the words over bars
 * @returns {readonly Element[]}
 */
export function besideBars(dears, { x, step, width, topOf, over }) {
  const taken = [...over]
  /** @param {number} place */
  const barAt = (place) => Math.floor((place - axisLeft) / step)
  return dears.slice(0, mostBeside).flatMap(({ at, lines }) => {
    // Narrow bars have room for the cause and who it is alone.
    let said = isNarrow(step) ? lines.slice(0, 2) : lines
    /** @type {(isAfter: boolean, isAbove: boolean, most: number) => Beside} */
    const placeOf = (isAfter, isAbove, most) => {
      const start = x(at) + (isAfter === isAbove ? 0 : step) + (isAbove ? 0 : isAfter ? 5 : -5)
      const room = Math.min(most, isAfter ? width - start : start - axisLeft)
      const parts = said.map((line, nth) =>
        wrapped(line, nth === 0 ? room / ofFirst : room).map((text) => ({
          text,
          isFirst: nth === 0,
        })),
      )
      const shown = parts.flat()
      const wide = largest(
        shown.map(({ text, isFirst }) => widthOf(text) * (isFirst ? ofFirst : 1)),
      )
      const from = isAfter ? start : start - wide
      const to = from + wide
      const height = lineHeight * (shown.length - 1)
      const first = isAbove ? topOf(at) - 24 - height : Math.max(top + 12, topOf(at) + 10)
      const last = first + height
      // A line that has no room is worse than more lines; the cause and who it is always have room, and no bar is behind words.
      let cost = shown.length + (isAbove ? 3 : 0) + (first < top + 8 ? written : 0)
      parts.forEach((part, nth) => {
        if (part.length === 0) cost += nth < 2 ? written : 100
      })
      for (const other of taken)
        if (from < other.to && to > other.from) {
          const apart = Math.max(first - other.last, other.first - last)
          // Words of two bars that follow each other would be read as one.
          cost += apart < lineHeight - 1 ? written : apart < 2 * lineHeight ? 4 : 0
        }
      for (let bar = barAt(from); bar <= barAt(to); bar++)
        if (bar !== at && topOf(bar) - 2 < last) cost += written
      return { start, isAfter, shown, from, to, first, last, cost }
    }
    const bestOf = () =>
      item(
        // Words of two bars keep apart.
        (dears.length > 1 ? [narrowest] : [width, narrowest])
          .flatMap((most) =>
            // After and before the bar, beside and above it.
            [0, 1, 2, 3].map((nth) => placeOf(nth < 2, nth % 2 > 0, most)),
          )
          .sort((a, b) => a.cost - b.cost),
        0,
      )
    let best = bestOf()
    // The last lines are left out where all have no room, but never the cause and who it is.
    while (best.cost >= written && said.length > 2) {
      said = said.slice(0, -1)
      best = bestOf()
    }
    // They are said in sentences, too.
    if (best.cost >= written) return []
    taken.push(best)
    return best.shown.map(({ text, isFirst }, nth) =>
      h(
        'text',
        {
          class: `b-word b-why${isFirst ? ' b-times' : ''}`,
          ...{ x: r(best.start), y: r(best.first + lineHeight * nth) },
          'text-anchor': best.isAfter ? 'start' : 'end',
        },
        text,
      ),
    )
  })
}
