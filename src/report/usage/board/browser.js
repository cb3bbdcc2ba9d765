// The usage page in a browser: it draws every chart, card and table again for what the reader chose, and keeps the choice in the
// fragment of the address.
import { choiceOf, fragmentOf, initial } from './choice.js'
import { h } from './elements.js'
import { figureOf } from './figure.js'
import { fillFilters } from './filter-bar.js'
import { make } from './nodes.js'
import { requestList } from './request-list.js'
import { speechOf } from './speech.js'
import { bucketOf, dimensions, item } from './sums.js'
import { amountOf, mostOf, titleOf } from './tables.js'
import { viewsOf } from './views.js'

/** @import { BoardData } from './data.ts' */
/** @import { LatencyOf } from './views.js' */
/** @import { Bar, Card, Choice, RequestPage, RequestSort, SizeName, View } from './types.ts' */

/**
 * What a page with a server does for its board: `go` shows another period of local hours, `requests` promises a part of the
 * requests of a choice, `changed` hears of each choice, `reload` asks for the figures of other filters, and `split` for another split of the page.
 * A file has no server: it draws its latencies by `latencyOf`, and shows a part of what it has.
 *
 * @typedef {object} Served
 * @property {(from: number, to: number, filters: URLSearchParams) => void} [go]
 * @property {(data: BoardData, choice: Choice, sort: RequestSort, cursor: string | null) => RequestPage | null | Promise<RequestPage | 'busy' | null>} [requests]
 * @property {() => void} [changed]
 * @property {() => void} [reload]
 * @property {(by: string) => void} [split]
 * @property {LatencyOf} [latencyOf]
 */

/**
 * Starts the board of the document.
 *
 * @param {Served} [served]
 * @returns {() => void} a function that ends it
 */
export function startBoard(served = {}) {
  const payload = document.getElementById('board-data')
  const board = document.getElementById('board')
  if (payload === null || board === null) return () => {}
  const ending = new AbortController()
  /** @type {BoardData} */
  const data = JSON.parse(payload.textContent)
  const speech = speechOf(data)
  const { say } = speech
  /**
   * A place of the board's markup.
   *
   * @param {string} name
   */
  const placeOf = (name) => {
    /** @type {HTMLElement | null} */
    const found = board.querySelector(`.b-${name}`)
    if (found === null) throw new TypeError(`the board has no .b-${name}`)
    return found
  }
  const most = [...document.querySelectorAll('[data-most]')].map((place) => ({
    ...{ place, first: [...place.childNodes] },
    by: dimensions.find((name) => name === place.getAttribute('data-most')) ?? 'key',
  }))
  const firstCards = [...placeOf('cards').childNodes]
  /** @type {HTMLElement | null} */
  const own = board.querySelector('.b-own')
  /** @type {HTMLElement | null} */
  const used = document.querySelector('[data-figure]')
  const allUsed = used?.textContent ?? ''
  const label = used?.closest('dd')?.previousElementSibling
  const firstLabel = label?.textContent ?? ''
  // The first choice of a page that a backend made is in its markup.
  const { choice: first } = board.dataset
  if (location.hash === '' && first) history.replaceState(null, '', `#${first}`)
  let choice = choiceOf(data, location.hash.slice(1))
  /**
   * What figures are of: the markup has those of the first choice.
   *
   * @param {Choice} choice
   */
  const partOf = ({ by: _, metric: __, ...part }) => JSON.stringify(part)
  const firstPart = partOf(first === undefined ? initial(data) : choiceOf(data, first))

  /**
   * As the columns of the style sheet.
   *
   * @param {string} [type] an event
   * @returns {SizeName}
   */
  const sizeFor = (type) =>
    type === 'beforeprint'
      ? 'paper'
      : innerWidth <= 560
        ? 'phone'
        : innerWidth <= 900
          ? 'middle'
          : 'desk'
  let size = sizeFor()

  /** @param {Partial<Choice>} changed */
  function change(changed) {
    choice = { ...choice, ...changed }
    const fragment = fragmentOf(data, choice)
    const address = `${location.pathname}${location.search}${fragment === '' ? '' : `#${fragment}`}`
    history.pushState(null, '', address)
    served.changed?.()
    if (partOf(choice) !== firstPart) served.reload?.()
    draw()
  }

  /**
   * Shows a period: a server makes its figures, and a file has those of a part of its own.
   *
   * @param {number} from
   * @param {number} to
   */
  function period(from, to) {
    if (served.go !== undefined) {
      const { from: _, to: __, ...filters } = choice
      const whole = { ...filters, from: data.from, to: data.to }
      served.go(from, to, new URLSearchParams(fragmentOf(data, whole)))
      // Until they come, the next choice goes on from this one.
      choice = { ...choice, from, to }
      if (from >= data.from && to <= data.to) draw()
    } else change({ from: Math.max(from, data.from), to: Math.min(to, data.to) })
  }

  /**
   * Opens a bar: its hours, and at last the requests of an hour.
   *
   * @param {Bar} bar
   */
  function open({ start, end }) {
    const from = Math.max(start, data.from)
    const to = Math.min(end, data.to)
    const isFinest =
      to - from <= 1 ||
      (data.finest !== 'hour' && bucketOf(data, from, to) === data.finest && to - from <= 24)
    if (from < to && !(isFinest && choice.to - choice.from === to - from)) period(from, to)
  }

  /** @param {Card} card */
  const cardOf = ([, label, value, aside]) =>
    h('div', {}, h('dt', {}, label), h('dd', {}, value, h('span', { class: 'aside' }, aside)))

  function draw() {
    const focused = document.activeElement?.closest('figure')?.id
    const { views, cards, tables, sums } = viewsOf(data, choice, size, served.latencyOf)
    /** @param {View} view */
    const drawn = (view) => figureOf(data, view, choice, speech, period, open)
    fillFilters(placeOf('filters'), data, choice, speech, served, change, period)
    const isFirst = partOf(choice) === firstPart
    if (own) own.hidden = !isFirst
    if (used) {
      const metric = data.metrics.includes('credits') ? 'credits' : 'requests'
      used.textContent = isFirst ? allUsed : amountOf(data, metric, sums[metric])
      // A server says it with the figures that come, and those of a filter are not all.
      if (!(isFirst || first || served.reload))
        used.append(make(h('small', {}, ` ${say('ofAll', { all: allUsed })}`)))
      if (label) label.textContent = isFirst ? firstLabel : titleOf(data, metric)
    }
    // What stands beside the figure is of the first choice.
    for (const each of document.querySelectorAll('[data-whole]'))
      each.toggleAttribute('hidden', !isFirst)
    for (const { place, by, first } of most) {
      const [[name = '–'] = [], ...lines] = isFirst ? [] : mostOf(data, choice, by)
      const asides = lines.map((parts) =>
        make(
          h(
            'span',
            { class: 'aside' },
            parts.length === 1
              ? item(parts, 0)
              : h('span', { class: 'pair follows' }, ...parts.map((part) => h('span', {}, part))),
          ),
        ),
      )
      place.replaceChildren(...(isFirst ? first : [make(h('b', {}, name)), ...asides]))
    }
    placeOf('cards').replaceChildren(
      ...(isFirst
        ? firstCards
        : [
            make(
              h(
                'dl',
                { class: 'figures' },
                cards
                  .filter(([name]) => !used || (name !== 'credits' && name !== 'money'))
                  .map(cardOf),
              ),
            ),
          ]),
    )
    placeOf('first').replaceChildren(...views.slice(0, 1).map(drawn))
    placeOf('more').replaceChildren(...views.slice(1).map(drawn))
    placeOf('tables').replaceChildren(
      ...tables
        .filter(({ by }) => !(own && isFirst) || by === 'endpoint')
        .map(({ title, tree, by }) =>
          make(
            h('section', { class: 'card whole', id: `board-by-${by}` }, h('h3', {}, title), tree),
          ),
        ),
    )
    listRequests()
    const stage = focused ? document.getElementById(focused)?.querySelector('.b-stage') : null
    if (stage instanceof HTMLElement) stage.focus()
  }

  /** The requests of the choice: those of the page, or those that the server knows. */
  function listRequests() {
    const place = placeOf('requests')
    place.replaceChildren()
    const { requests } = served
    if (requests === undefined && choice.to - choice.from > 1) return
    const asked = choice
    place.append(
      requestList(data, asked, async (sort, cursor) =>
        requests === undefined ? null : requests(data, asked, sort, cursor),
      ),
    )
  }

  /** @type {(name: string, act: () => void) => void} */
  const listen = (name, act) => addEventListener(name, act, { signal: ending.signal })
  const follow = () => {
    choice = choiceOf(data, location.hash.slice(1))
    draw()
  }
  listen('hashchange', follow)
  listen('popstate', follow)
  for (const name of ['resize', 'beforeprint', 'afterprint'])
    listen(name, () => {
      if (size === sizeFor(name)) return
      size = sizeFor(name)
      draw()
    })
  draw()
  return () => ending.abort()
}
