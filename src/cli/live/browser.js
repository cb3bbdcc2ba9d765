// Replaces parts of the page with updates of the command. Runs in the reader's browser.
;(() => {
  const news = new EventSource('/events')
  let saidMs = 0

  /**
   * A part with the focus or a selection is not replaced.
   *
   * @param {Element} part
   */
  const isBusy = (part) =>
    part.contains(document.activeElement) || getSelection()?.containsNode(part, true) === true

  /** @param {HTMLElement} part */
  function show(part) {
    const old = document.querySelector(`[data-part="${part.dataset.part}"]`)
    if (old === null || old.innerHTML === part.innerHTML || isBusy(old)) return
    const left = old.querySelector('.table-scroll')?.scrollLeft ?? 0
    const opened = [...old.querySelectorAll('details')].map(({ open }) => open)
    part.querySelectorAll('details').forEach((details, at) => {
      details.open = opened[at] === true
    })
    old.replaceWith(part)
    if (left > 0) part.querySelector('.table-scroll')?.scrollTo(left, 0)
  }

  /** @param {string} text */
  const say = (text) => document.getElementById('aloud')?.replaceChildren(text)

  /** A screen reader announces the verdict every ten seconds, not each second. */
  function sayAloud() {
    if (Date.now() - saidMs < 10_000) return
    saidMs = Date.now()
    const words = document.querySelectorAll('.verdict > h2, .verdict > p')
    say([...words].map(({ textContent }) => textContent).join('. '))
  }

  news.onmessage = ({ data }) => {
    const fresh = new DOMParser().parseFromString(JSON.parse(data), 'text/html')
    /** @type {NodeListOf<HTMLElement>} */
    const parts = fresh.querySelectorAll('[data-part]')
    for (const part of parts) show(part)
    sayAloud()
  }
  news.addEventListener('end', () => {
    news.close()
    location.reload()
  })
  news.onerror = () => {
    say('The command has ended or is not reachable.')
    document.querySelector('[data-gone]')?.removeAttribute('hidden')
  }
  news.onopen = () => document.querySelector('[data-gone]')?.setAttribute('hidden', '')
})()
