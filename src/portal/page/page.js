// The page in its frame: fetches the content with the token of the address, and talks with the host. The board is in scope:
// it draws what the address asks for, and asks here for what its data have not.
/** @import { Answers } from '../api/shapes.ts' */
/** @import { BoardData } from '../../report/usage/board/data.ts' */
/** @import { Choice, RequestPage, RequestSort } from '../../report/usage/board/types.ts' */
import { startBoard } from '../../report/usage/board/browser.js'
import { timeText } from '../../report/usage/board/choice.js'
import { dimensions, metrics } from '../../report/usage/board/sums.js'
import { amountIn, endIn, hourIn, nameIn, requestCells } from '../../report/usage/board/tables.js'
import { askedOf, boardData, saveExport } from './export.js'

;(() => {
  const source = 'assay-usage'
  const filters = ['model', 'key', 'endpoint', 'metric', 'by']
  const { origins, expired = '', busy = '', failed = '' } = document.body.dataset
  const known = (origins ?? '').split(' ').filter(Boolean)
  const isShell = !!document.querySelector('main[data-shell]')
  const said = new URLSearchParams(location.hash.slice(1))
  /**
   * When a token ends, Unix milliseconds.
   *
   * @param {string} text
   * @returns {number}
   */
  const endOf = (text) =>
    JSON.parse(atob((text.split('.')[1] ?? '').replace(/-/g, '+').replace(/_/g, '/'))).exp * 1000
  /**
   * The token outlives a reload of this tab, until it ends; storage may be denied to a frame.
   *
   * @param {string | null} [text]
   */
  const keepToken = (text) => {
    try {
      if (typeof text === 'string') sessionStorage.setItem(source, text)
      const kept = sessionStorage.getItem(source)
      return kept !== null && endOf(kept) > Date.now() ? kept : null
    } catch {
      return null
    }
  }
  let token = said.get('t') ?? (isShell ? keepToken() : null)
  /** @type {string | null} */
  let host = null
  /** @type {string | null} */
  let version = null
  let heightPx = 0
  /** @type {AbortController | null} */
  let stream = null
  let renewal = 0
  let asking = 0
  let endBoard = () => {}
  /** @type {string | null} */
  let loaded = null

  /** @type {(query: URLSearchParams, sign: string) => string} */
  const textOf = (query, sign) => (query.size === 0 ? '' : `${sign}${query}`)
  /** @type {(name: string, value: string) => boolean} */
  const isKnown = (name, value) =>
    name === 'metric'
      ? Object.hasOwn(metrics, value)
      : name !== 'by' || dimensions.some((each) => each === value)
  /**
   * Filters stand in the fragment, where they change without a request; the period of the data stands in the query. So does a split by
   * a tag, and then the key, since its data have no keys.
   *
   * @param {string | URLSearchParams} query
   */
  function addressOf(query) {
    const [search, fragment] = [new URLSearchParams(query), new URLSearchParams()]
    const isByTag = !!search.get('by')?.startsWith('tag:')
    for (const name of filters) {
      const value = search.get(name)
      // What is no metric and no split stays, and the server says so.
      if (value === null || (isByTag && name === 'key') || !isKnown(name, value)) continue
      fragment.set(name, value)
      search.delete(name)
    }
    return { search, fragment }
  }
  /**
   * A period of local hours, as the server is asked for it.
   *
   * @type {(from: number, to: number) => URLSearchParams}
   */
  const periodOf = (from, to) => {
    const data = boardData()
    return new URLSearchParams({ from: timeText(data, from), to: timeText(data, to) })
  }
  /**
   * This address with another split, and what the reader filtered.
   *
   * @param {string} by
   */
  const splitBy = (by) => {
    const query = new URLSearchParams(location.search)
    keep(filters, new URLSearchParams(location.hash.slice(1)), query)
    query.set('by', by)
    return query
  }

  if (token === null && !isShell) {
    // A backend made the page, and has the token.
    startBoard({
      go: (from, to, fragment) =>
        location.assign(`?${new URLSearchParams([...periodOf(from, to), ...fragment])}`),
      split: (by) => location.assign(`?${splitBy(by)}`),
    })
    return
  }
  {
    said.delete('t')
    const { search, fragment } = addressOf(location.search)
    // What a server makes the figures of stands in the query.
    for (const [name, value] of said)
      (name === 'from' || name === 'to' ? search : fragment).set(name, value)
    history.replaceState(null, '', location.pathname + textOf(search, '?') + textOf(fragment, '#'))
  }

  /** @param {Readonly<Record<string, string | number>>} message */
  const tell = (message) => {
    if (parent === window) return
    for (const origin of host === null ? known : [host])
      parent.postMessage({ source, ...message }, origin)
  }
  const tellFilters = () => {
    const query = new URLSearchParams(location.search)
    for (const [name, value] of new URLSearchParams(location.hash.slice(1))) query.set(name, value)
    tell({ type: 'filters', query: textOf(query, '?') })
  }
  /** @type {(path: string, options?: RequestInit) => Promise<Response>} */
  const ask = (path, options = {}) =>
    fetch(path, { ...options, headers: { authorization: `Bearer ${token}` } })
  /** @param {string} text */
  const show = (text) => {
    endBoard()
    document.querySelector('main')?.replaceChildren(text)
  }
  let tries = 0
  /** Asks again, each time later; at last it says that it failed. Figures that are shown stay. */
  function again() {
    const isOver = ++tries > 6
    if (!document.querySelector('figure')) show(isOver ? failed : busy)
    clearTimeout(asking)
    if (!isOver) asking = window.setTimeout(load, 2500 * 2 ** tries)
  }
  /** What the server is asked for: it makes the figures of the period and the filters. */
  function asked() {
    const query = new URLSearchParams(location.search)
    keep(dimensions, new URLSearchParams(location.hash.slice(1)), query)
    return textOf(query, '?')
  }
  /** @param {string} tables */
  const withTables = (tables) => `${asked() || '?'}&tables=${encodeURIComponent(tables)}`
  /**
   * A long table comes when it is opened.
   *
   * @param {Event} event
   */
  async function openTable({ target }) {
    if (!(target instanceof HTMLDetailsElement) || !target.open) return
    const { table } = target.dataset
    if (!table) return
    delete target.dataset.table
    const answer = await ask(`page${withTables(table)}`).catch(() => null)
    if (answer?.ok) return target.insertAdjacentHTML('beforeend', await answer.text())
    target.dataset.table = table
    target.open = false
  }
  addEventListener('toggle', openTable, true)
  async function load() {
    const query = asked()
    // New figures of the same view come without a sign.
    if (query !== loaded) document.querySelector('main')?.setAttribute('aria-busy', 'true')
    loaded = query
    const answer = await ask(`page${withTables('top')}`).catch(() => null)
    // The reader has chosen something else meanwhile.
    if (query !== loaded) return
    if (!answer || answer.status === 503 || answer.status === 429) return again()
    if (!answer.headers.get('content-type')?.includes('html')) {
      const { code } = await answer.json().catch(() => '')
      if (!code) return again()
      tell({ type: 'error', code })
      if (answer.status !== 401) return show(failed)
      show(expired)
      keepToken('')
      return tell({ type: 'token-expiring', inSeconds: 0 })
    }
    const next = new DOMParser()
      .parseFromString(await answer.text(), 'text/html')
      .querySelector('main')
    const shown = document.querySelector('main')
    if (!next || !shown) return again()
    tries = 0
    const opened = [...document.querySelectorAll('details[open]')].map(
      (details) => details.closest('figure, .tops section')?.id,
    )
    const focused = document.activeElement?.closest('figure')?.id
    endBoard()
    shown.replaceWith(next)
    endBoard = startBoard({
      ...(next.hasAttribute('data-requests') ? { requests } : {}),
      ...{ go, changed: tellFilters, reload: load, split },
    })
    for (const each of next.querySelectorAll('.exports')) each.removeAttribute('hidden')
    for (const id of opened) document.querySelector(`#${id} details`)?.setAttribute('open', '')
    if (focused) {
      /** @type {HTMLElement | null} */
      const stage = document.querySelector(`#${focused} .b-stage`)
      stage?.focus()
    }
    clearTimeout(asking)
    // The forecast is still being made.
    if (next.hasAttribute('data-pending')) asking = window.setTimeout(load, 2000)
    watchExpiry()
    follow()
    const code = next.dataset.error
    tell(code ? { type: 'error', code } : { type: 'ready' })
  }
  /**
   * A part of the requests of a choice; null if there are only sums, or none are shown.
   *
   * @param {BoardData} data
   * @param {Choice} choice
   * @param {RequestSort} sort
   * @param {string | null} cursor
   * @returns {Promise<RequestPage | 'busy' | null>}
   */
  async function requests(data, choice, sort, cursor) {
    const query = askedOf(data, choice)
    const tag = data.keyIs === 'tag' && new URLSearchParams(location.search).get('by')?.slice(4)
    const isMoney = sort === 'amount' && data.unit !== 'credits'
    if (isMoney) query.set('unit', data.unit)
    query.set('sort', sort !== 'amount' ? sort : isMoney ? 'cost' : 'credits')
    query.set('limit', '100')
    if (cursor !== null) query.set('cursor', cursor)
    const answer = await ask(`v1/usage/requests?${query}`).catch(() => null)
    if (!answer?.ok) return answer?.status === 403 || answer?.status === 404 ? null : 'busy'
    const words = JSON.parse(document.querySelector('main')?.dataset.outcomes ?? '{}')
    /** @type {Answers['requests']} */
    const { requests: found, next } = await answer.json()
    return {
      next,
      rows: found.map((each) =>
        requestCells(data, choice, {
          ...{ id: each.id, hour: hourIn(data, each), clock: each.at.slice(11, 19) },
          names: dimensions.map((name) => nameIn(each, name, tag)),
          ...{ status: endIn(each, words), duration: each.durationMs },
          ...{ input: each.input, output: each.output, amount: amountIn(each, data.unit) },
        }),
      ),
    }
  }
  function watchExpiry() {
    clearTimeout(renewal)
    if (token === null) return
    renewal = window.setTimeout(
      () => tell({ type: 'token-expiring', inSeconds: 60 }),
      endOf(token) - Date.now() - 60_000,
    )
  }
  // Server-sent events by fetch, since EventSource cannot send the token.
  async function follow() {
    if (stream) return
    stream = new AbortController()
    try {
      const answer = await ask('v1/live', { signal: stream.signal })
      const reader = answer.ok
        ? answer.body?.pipeThrough(new TextDecoderStream()).getReader()
        : null
      for (let text = ''; reader; ) {
        const { value, done } = await reader.read()
        if (done) break
        text += value
        for (let at = text.indexOf('\n\n'); at >= 0; at = text.indexOf('\n\n')) {
          const [, now] = /^id:(.*)/m.exec(text.slice(0, at)) ?? []
          text = text.slice(at + 2)
          if (now === undefined) continue
          if (version !== null && now !== version) load()
          version = now
        }
      }
    } catch {
      // Tried again below.
    }
    stream = null
    setTimeout(follow, 5000)
  }
  /**
   * Copies what an address says of some names.
   *
   * @param {readonly string[]} names
   * @param {URLSearchParams} said
   * @param {URLSearchParams} query
   */
  function keep(names, said, query) {
    for (const name of names) {
      const value = said.get(name)
      if (value !== null) query.set(name, value)
    }
  }
  /**
   * Shows another period with these filters.
   *
   * @param {number} from
   * @param {number} to
   * @param {URLSearchParams} fragment
   */
  function go(from, to, fragment) {
    const next = periodOf(from, to)
    keep(['unit', 'tag', 'by', 'key'], new URLSearchParams(location.search), next)
    visit(textOf(next, '?') + textOf(fragment, '#'))
  }
  /** @param {string} address */
  function visit(address) {
    history.pushState(null, '', location.pathname + address)
    tellFilters()
    load()
  }
  /** @param {string} text */
  const query = (text) => {
    const { search, fragment } = addressOf(text)
    visit(textOf(search, '?') + textOf(fragment, '#'))
  }
  /** @param {string} by */
  const split = (by) => query(textOf(splitBy(by), '?'))
  addEventListener('popstate', () => asked() !== loaded && load())
  addEventListener('click', (event) => {
    const { target } = event
    if (!(target instanceof Element)) return
    const format = target.getAttribute('data-export')
    if (format) saveExport(ask, format)
    /** @type {HTMLAnchorElement | null} */
    const link = target.closest('a[href^="?"]')
    if (link === null) return
    event.preventDefault()
    const asked = new URLSearchParams(link.search)
    // Another period or unit keeps what the reader filtered since.
    if (link.dataset.keep !== undefined)
      keep(filters, new URLSearchParams(location.hash.slice(1)), asked)
    query(textOf(asked, '?'))
  })
  addEventListener('message', ({ origin, data, source: from }) => {
    if (from !== parent || !known.includes(origin) || data?.source !== source) return
    host = origin
    if (data.type === 'token' && typeof data.token === 'string') {
      token = data.token
      tries = 0
      keepToken(token)
      stream?.abort()
      load()
    } else if (data.type === 'filters' && typeof data.query === 'string') query(data.query)
    else if (data.type === 'theme' && /^(light|dark)$/.test(data.mode))
      document.documentElement.dataset.mode = data.mode
    else if (data.type === 'theme' && data.mode === 'auto')
      delete document.documentElement.dataset.mode
  })
  // At most ten times a second, and only if it changed by 2 px, so that no two observers chase each other.
  let waiting = false
  new ResizeObserver(() => {
    if (waiting) return
    waiting = true
    setTimeout(() => {
      waiting = false
      const px = Math.ceil(document.querySelector('main')?.getBoundingClientRect().height ?? 0)
      if (Math.abs(px - heightPx) < 2) return
      heightPx = px
      tell({ type: 'height', px })
    }, 100)
  }).observe(document.body)
  if (token === null) {
    // A host sends one; a page that nobody frames gets none.
    if (parent === window) show(expired)
    tell({ type: 'token-expiring', inSeconds: 0 })
  } else {
    keepToken(token)
    load()
  }
})()
