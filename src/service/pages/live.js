// Loads the page again when the service reports a change, and replaces its content.
/**
 * The tag of a page's figures.
 *
 * @param {ParentNode} page
 */
function tagOf(page) {
  /** @type {HTMLElement | null} */
  const tagged = page.querySelector('[data-tag]')
  return tagged?.dataset.tag ?? ''
}

let tag = tagOf(document)
let asking = false
/** Whether a change is not shown yet. */
let stale = false

async function refresh() {
  // A refresh would interrupt a person who fills in a form or selects text.
  const busy = document.activeElement?.matches('main input, main select') === true
  if (asking || document.hidden || busy || !getSelection()?.isCollapsed) return
  asking = true
  stale = false
  try {
    const response = await fetch(location.href, {
      headers: { 'if-none-match': tag },
      cache: 'no-store',
    })
    if (response.redirected) location.reload()
    if (response.status !== 200) return
    const next = new DOMParser().parseFromString(await response.text(), 'text/html')
    const fresh = next.querySelector('main')
    const old = document.querySelector('main')
    if (fresh === null || old === null) return
    keepOpen(old, fresh)
    sayAloud(old, fresh)
    const focused = focusedIn(old, fresh)
    old.replaceWith(fresh)
    focused?.focus({ preventScroll: true })
    tag = tagOf(fresh)
  } catch {
    // The service cannot be reached. The next attempt may succeed.
    stale = true
  } finally {
    asking = false
  }
}

/**
 * Shows the service's time, which is the time of the figures.
 *
 * @param {number} ms
 */
function showTime(ms) {
  /** @type {HTMLElement | null} */
  const time = document.querySelector('[data-as-of]')
  if (time === null) return
  time.textContent = new Date(ms).toLocaleString('en-GB', {
    ...{ dateStyle: 'medium', timeStyle: 'medium' },
    ...(time.dataset.zone === undefined ? {} : { timeZone: time.dataset.zone }),
  })
  document.querySelector('[data-live][hidden]')?.removeAttribute('hidden')
}

/**
 * Makes a screen reader read the balance when it changes, and nothing else of the page.
 *
 * @param {Element} old
 * @param {Element} fresh
 */
function sayAloud(old, fresh) {
  const [before, after] = [old, fresh].map((main) => main.querySelector('#remaining')?.textContent)
  if (after === undefined || after === before) return
  document.querySelector('[data-aloud]')?.replaceChildren(`Credits left: ${after}`)
}

/**
 * Keeps what is unfolded and how far tables are scrolled.
 *
 * @param {Element} old
 * @param {Element} fresh
 */
function keepOpen(old, fresh) {
  const folds = fresh.querySelectorAll('details')
  old.querySelectorAll('details').forEach(({ open }, at) => {
    const after = folds[at]
    if (after !== undefined) after.open = open
  })
  const tables = fresh.querySelectorAll('.table-scroll')
  const lefts = [...old.querySelectorAll('.table-scroll')].map(({ scrollLeft }) => scrollLeft)
  queueMicrotask(() => {
    tables.forEach((table, at) => {
      table.scrollLeft = lefts[at] ?? 0
    })
  })
}

/**
 * The new element for the focused one: the same one among those with the same text.
 *
 * @param {Element} old
 * @param {Element} fresh
 */
function focusedIn(old, fresh) {
  const here = document.activeElement
  if (here === null || !old.contains(here)) return null
  /** @param {Element} main */
  const alike = (main) => {
    /** @type {NodeListOf<HTMLElement>} */
    const some = main.querySelectorAll(here.localName)
    return [...some].filter((each) => each.textContent === here.textContent)
  }
  return alike(fresh)[alike(old).findIndex((each) => here.isSameNode(each))] ?? null
}

/** Without a time zone in the address, the browser's own applies. */
const asked = new URL(location.href)
const own = Intl.DateTimeFormat().resolvedOptions().timeZone
if (!asked.searchParams.get('timezone') && own && own !== 'UTC') {
  asked.searchParams.set('timezone', own)
  history.replaceState(null, '', asked)
  refresh()
}
/** Refreshes for what changes with time only: a new hour, token counts that a charge gets late. */
const anywayMs = 30_000
/** @type {EventSource | null} */
let news = null
let refreshedMs = Date.now()

function listen() {
  news?.close()
  news = null
  if (document.hidden) return
  news = new EventSource('/my-credits/events')
  // Catches up on changes between the load of the page and the first event.
  news.onopen = refresh
  news.addEventListener('change', () => {
    stale = true
    refresh()
  })
  news.addEventListener('time', ({ data }) => {
    showTime(Number(data))
    if (!stale && Date.now() - refreshedMs < anywayMs) return
    refreshedMs = Date.now()
    refresh()
  })
}
listen()
document.addEventListener('visibilitychange', listen)
// A page in the browser's back/forward cache must not hold a connection.
addEventListener('pagehide', () => news?.close())
addEventListener('pageshow', (event) => event.persisted && listen())
