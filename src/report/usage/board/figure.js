// A chart of the page, with what the reader can do with it.
import { csvName, csvOf } from './csv.js'
import { drawTable } from './drawn-table.js'
import { h } from './elements.js'
import { explore } from './explore.js'
import { button, make, nodeOf, saveAs } from './nodes.js'

/** @import { BoardData } from './data.ts' */
/** @import { Bar, BoardSpeech, Choice, View } from './types.ts' */

/**
 * A chart with its legend, what is said of it, and its table.
 *
 * @param {BoardData} data
 * @param {View} view
 * @param {Choice} choice
 * @param {BoardSpeech} speech
 * @param {(from: number, to: number) => void} period
 * @param {(bar: Bar) => void} open
 */
export function figureOf(data, view, choice, speech, period, open) {
  const head = make(h('figcaption', {}, h('h3', {}, view.title)))
  head.append(
    button('CSV', `CSV: ${view.title}`, () =>
      saveAs(csvName(data, view, choice), new Blob([csvOf(data, view)], { type: 'text/csv' })),
    ),
  )
  const figure = make(
    h('figure', {
      class: `card ${view.wide || view.whole ? 'whole' : 'half'}`,
      id: `board-${view.id}`,
    }),
  )
  const stage = make(h('div', { class: 'b-stage chart-drawings' }, view.tree))
  const said = make(h('p', { class: 'note b-said', role: 'status' }))
  const details = make(h('details', { class: 'as-table' }, h('summary', {}, speech.say('table'))))
  details.addEventListener('toggle', () => {
    if (details.childElementCount < 2)
      details.append(make(drawTable(view.speech ?? speech, view.title, ...view.table())))
  })
  figure.append(head, ...(view.legend ? [nodeOf(view.legend)] : []), stage)
  if (view.under) {
    figure.append(nodeOf(view.under))
    /** @type {NodeListOf<HTMLElement>} */
    const marks = figure.querySelectorAll('li[data-from]')
    for (const mark of marks) {
      const { from, to } = mark.dataset
      const text = mark.textContent
      mark.replaceChildren(button(text, text, () => period(Number(from), Number(to))))
    }
  }
  figure.append(said)
  if (view.note) figure.append(make(h('p', { class: 'note' }, view.note)))
  figure.append(details)
  explore(stage, said, view, speech, open)
  return figure
}
