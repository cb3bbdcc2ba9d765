// Loads the page again when the service reports a change, and replaces its content.
let tag = document.querySelector('[data-tag]')?.dataset.tag ?? ''
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
    tag = fresh.querySelector('[data-tag]')?.dataset.tag ?? ''
  } catch {
    // The service cannot be reached. The next attempt may succeed.
    stale = true
  } finally {
    asking = false
  }
}

/** Shows the service's time, which is the time of the figures. */
function showTime(ms) {
  const time = document.querySelector('[data-as-of]')
  if (time === null) return
  const style = { dateStyle: 'medium', timeStyle: 'medium', timeZone: time.dataset.zone }
  time.textContent = new Intl.DateTimeFormat('en-GB', style).format(new Date(ms))
  document.querySelector('[data-live][hidden]')?.removeAttribute('hidden')
}

/** Makes a screen reader read the balance when it changes, and nothing else of the page. */
function sayAloud(old, fresh) {
  const [before, after] = [old, fresh].map((main) => main.querySelector('#remaining')?.textContent)
  if (after === undefined || after === before) return
  document.querySelector('[data-aloud]').textContent = `Credits left: ${after}`
}

/** Keeps what is unfolded and how far tables are scrolled. */
function keepOpen(old, fresh) {
  const pairs = (selector) => {
    const now = [...fresh.querySelectorAll(selector)]
    return [...old.querySelectorAll(selector)].map((each, at) => [each, now[at]])
  }
  for (const [before, after] of pairs('details')) {
    if (after !== undefined) after.open = before.open
  }
  const scrolled = pairs('.table-scroll').map(([before, after]) => [after, before.scrollLeft])
  queueMicrotask(() => {
    for (const [after, left] of scrolled) if (after !== undefined) after.scrollLeft = left
  })
}

/** The new element for the focused one: the same one among those with the same text. */
function focusedIn(old, fresh) {
  const here = document.activeElement
  if (here === null || !old.contains(here)) return null
  const alike = (main) =>
    [...main.querySelectorAll(here.localName)].filter(
      (each) => each.textContent === here.textContent,
    )
  return alike(fresh)[alike(old).indexOf(here)] ?? null
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
