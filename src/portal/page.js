// The page in its frame: fetches the content with the token of the address, follows filters, and talks with the host.
;(() => {
  const source = 'assay-usage'
  const { origins, expired } = document.body.dataset
  const known = (origins ?? '').split(' ').filter(Boolean)
  let token = new URLSearchParams(location.hash.slice(1)).get('t')
  let host = null
  let version = null
  let said = 0
  let stream = null
  let renewal = null
  history.replaceState(null, '', location.pathname + location.search)
  if (token === null && document.querySelector('main[aria-busy]') === null) return

  const tell = (message) => {
    if (parent === window) return
    for (const origin of host === null ? known : [host])
      parent.postMessage({ source, ...message }, origin)
  }
  const claims = () => {
    try {
      return JSON.parse(atob(token.split('.')[1].replace(/-/g, '+').replace(/_/g, '/')))
    } catch {
      return {}
    }
  }
  const show = (text) => {
    const main = document.createElement('main')
    main.textContent = text
    document.querySelector('main').replaceWith(main)
  }
  async function load() {
    const answer = await fetch(`/page${location.search}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    if (answer.status === 401) {
      tell({ type: 'error', code: (await answer.json()).code })
      tell({ type: 'token-expiring', inSeconds: 0 })
      show(expired)
      return
    }
    if (answer.status === 503) {
      setTimeout(load, 1000 * Number(answer.headers.get('retry-after') ?? 2))
      return
    }
    if (!answer.ok) {
      const { code, title } = await answer.json()
      tell({ type: 'error', code })
      show(title)
      return
    }
    const next = new DOMParser()
      .parseFromString(await answer.text(), 'text/html')
      .querySelector('main')
    const open = document.querySelector('details')?.open
    document.querySelector('main').replaceWith(next)
    if (open) document.querySelector('details')?.setAttribute('open', '')
    watchExpiry()
    follow()
    tell({ type: 'ready' })
  }
  function watchExpiry() {
    clearTimeout(renewal)
    const left = (claims().exp ?? 0) * 1000 - Date.now() - 60000
    renewal = setTimeout(
      () => tell({ type: 'token-expiring', inSeconds: 60 }),
      Math.max(0, Math.min(left, 2 ** 31 - 1)),
    )
  }
  // Server-sent events by fetch, since EventSource cannot send the token.
  async function follow() {
    if (stream !== null) return
    stream = new AbortController()
    try {
      const answer = await fetch('/v1/live', {
        headers: { authorization: `Bearer ${token}` },
        signal: stream.signal,
      })
      const reader = answer.ok ? answer.body.pipeThrough(new TextDecoderStream()).getReader() : null
      for (let text = ''; reader !== null; ) {
        const { value, done } = await reader.read()
        if (done) break
        text += value
        for (let at = text.indexOf('\n\n'); at >= 0; at = text.indexOf('\n\n')) {
          const [, now] = /^id: (.*)$/m.exec(text.slice(0, at)) ?? []
          text = text.slice(at + 2)
          if (now !== undefined && version !== null && now !== version) load()
          if (now !== undefined) version = now
        }
      }
    } catch {
      // Tried again below.
    }
    stream = null
    setTimeout(follow, 5000)
  }
  function go(query) {
    history.pushState(null, '', location.pathname + query)
    tell({ type: 'filters', query })
    return load()
  }
  addEventListener('popstate', load)
  addEventListener('click', (event) => {
    const link = event.target.closest?.('a[href^="?"]')
    if (link === null || link === undefined) return
    event.preventDefault()
    go(link.getAttribute('href'))
  })
  addEventListener('submit', (event) => {
    event.preventDefault()
    go(`?${new URLSearchParams(new FormData(event.target))}`)
  })
  addEventListener('message', ({ origin, data, source: from }) => {
    if (from !== parent || !known.includes(origin) || data?.source !== source) return
    host = origin
    if (data.type === 'token' && typeof data.token === 'string') {
      token = data.token
      stream?.abort()
      load()
    } else if (data.type === 'filters' && typeof data.query === 'string')
      go(`?${new URLSearchParams(data.query)}`)
    else if (data.type === 'theme' && /^(light|dark)$/.test(data.mode))
      document.documentElement.dataset.mode = data.mode
  })
  // At most ten times a second, and only if it changed by 2 px, so that no two observers chase each other.
  let waiting = false
  new ResizeObserver(() => {
    if (waiting) return
    waiting = true
    setTimeout(() => {
      waiting = false
      const px = Math.ceil(document.querySelector('main').getBoundingClientRect().height)
      if (Math.abs(px - said) < 2) return
      said = px
      tell({ type: 'height', px })
    }, 100)
  }).observe(document.body)
  if (token !== null) load()
  else tell({ type: 'token-expiring', inSeconds: 0 })
})()
