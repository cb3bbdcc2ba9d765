// Loads the page anew when the service says that something changed, and puts what came in the place
// of what was there.
let tag = document.querySelector('[data-tag]')?.dataset.tag ?? ''
let asking = false
/** Whether something changed that is not shown yet. */
let stale = false

async function refresh() {
  // A form that somebody is filling in, or text that is being selected, is left alone.
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
    // The service is away; the next attempt may find it.
    stale = true
  } finally {
    asking = false
  }
}

/** The service's own time, as of which the figures hold. */
function showTime(ms) {
  const time = document.querySelector('[data-as-of]')
  if (time === null) return
  const style = { dateStyle: 'medium', timeStyle: 'medium', timeZone: time.dataset.zone }
  time.textContent = new Intl.DateTimeFormat('en-GB', style).format(new Date(ms))
  document.querySelector('[data-live][hidden]')?.removeAttribute('hidden')
}

/** A screen reader hears the balance when it changes, and no more of the page. */
function sayAloud(old, fresh) {
  const [before, after] = [old, fresh].map((main) => main.querySelector('#remaining')?.textContent)
  if (after === undefined || after === before) return
  document.querySelector('[data-aloud]').textContent = `Credits left: ${after}`
}

/** What was unfolded and scrolled stays so. */
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

/** What the keyboard was at: the same one of those that say the same. */
function focusedIn(old, fresh) {
  const here = document.activeElement
  if (here === null || !old.contains(here)) return null
  const alike = (main) =>
    [...main.querySelectorAll(here.localName)].filter(
      (each) => each.textContent === here.textContent,
    )
  return alike(fresh)[alike(old).indexOf(here)] ?? null
}

/** Who asked for no time zone means their own. */
const asked = new URL(location.href)
const own = Intl.DateTimeFormat().resolvedOptions().timeZone
if (!asked.searchParams.get('timezone') && own && own !== 'UTC') {
  asked.searchParams.set('timezone', own)
  history.replaceState(null, '', asked)
  refresh()
}
/** What only time changes: an hour that begins, tokens that a charge learns late. */
const anywayMs = 30_000
let news = null
let refreshedMs = Date.now()

function listen() {
  news?.close()
  news = null
  if (document.hidden) return
  news = new EventSource('/my-credits/events')
  // Nothing is lost between the page and its news.
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
// A page that stays in the cache of the browser holds no connection.
addEventListener('pagehide', () => news?.close())
addEventListener('pageshow', (event) => event.persisted && listen())
