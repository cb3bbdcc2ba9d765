// @ts-check
// Words beside the bars that are far above the others.
import { axisLeft, h, largest, r, top, widthOf } from './elements.js'
import { item } from './sums.js'

/** @import { DearBar } from './data.ts' */
/** @import { Element } from './types.ts' */
/** @import { Scale } from './elements.js' */

/** @typedef {{ isAfter: boolean, start: number, shown: readonly { text: string, isFirst: boolean }[], from: number, to: number, first: number, last: number, cost: number }} Beside lines on a side of a bar, and how bad that place is */

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

/** The cost of words over other words. */
const written = 1000

/**
 * Why bars are far above the others, in lines beside them, on the side where no bar is as high; none where only other words are.
 *
 * @param {readonly (DearBar & { readonly at: number })[]} dears
 * @param {{ readonly x: Scale, readonly step: number, readonly width: number, readonly topOf: Scale, readonly freeOf: Scale }} places `topOf` is the top of a bar, and above `freeOf` it has no words
 * @returns {readonly Element[]}
 */
export function besideBars(dears, { x, step, width, topOf, freeOf }) {
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
