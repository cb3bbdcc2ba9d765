// @ts-check
// Draws a table of names or times and values.
import { h } from './elements.js'

/** @import { BoardSpeech, Element, TableCell } from './types.ts' */

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
