// The single requests of a choice, in an order that the reader picks, page by page.
import { drawTable } from './drawn-table.js'
import { h } from './elements.js'
import { button, field, make } from './nodes.js'
import { speechOf } from './speech.js'
import { mostListed, requestHeads, requestSorts } from './tables.js'

/** @import { BoardData } from './data.ts' */
/** @import { Choice, RequestPage, RequestSort } from './types.ts' */

/**
 * The list of an hour is read at once, that of a longer time when it is asked for.
 *
 * @param {BoardData} data
 * @param {Choice} choice
 * @param {(sort: RequestSort, cursor: string | null) => Promise<RequestPage | 'busy' | null>} read
 */
export function requestList(data, choice, read) {
  const speech = speechOf(data)
  const { say } = speech
  const hours = choice.to - choice.from
  const section = make(h('section', { class: 'card' }))
  if (hours > mostListed) return section
  const title = say(hours > 1 ? 'requests' : 'hourRequests')
  const place = make(h('div', {}))
  let turn = 0
  /** @param {RequestSort} sort */
  const show = async (sort) => {
    const own = ++turn
    /** @type {RequestPage['rows']} */
    let rows = []
    /** @param {string | null} cursor */
    const more = async (cursor) => {
      const again = button(say('moreRequests'), say('moreRequests'), () => more(cursor))
      place.querySelector('button')?.setAttribute('disabled', '')
      const page = await read(sort, cursor)
      if (own !== turn) return
      if (page === 'busy') {
        place.querySelector('.note')?.remove()
        place.querySelector('button')?.remove()
        place.append(make(h('p', { class: 'note' }, say('noAnswer'))), again)
        return
      }
      if (page === null) {
        place.replaceChildren(make(h('p', { class: 'note' }, say('noRequests'))))
        return
      }
      rows = [...rows, ...page.rows]
      const { next } = page
      place.replaceChildren(
        make(drawTable(speech, title, requestHeads(data), rows)),
        ...(next === null
          ? []
          : [button(say('moreRequests'), say('moreRequests'), () => more(next))]),
      )
    }
    await more(null)
  }
  const sorts = make(h('select', {}))
  for (const [name, words] of requestSorts(data))
    sorts.append(make(h('option', { value: name }, words)))
  sorts.addEventListener('change', ({ target }) => {
    const value = target instanceof HTMLSelectElement ? target.value : 'time'
    show(requestSorts(data).find(([name]) => name === value)?.[0] ?? 'time')
  })
  const begin = () => {
    section.replaceChildren(make(h('h3', {}, title)), make(h('div', { class: 'filters' })), place)
    section.children[1]?.append(field(say('sortRequests'), sorts))
    show('time')
  }
  if (hours > 1) section.append(button(say('showRequests'), say('showRequests'), begin))
  else begin()
  return section
}
