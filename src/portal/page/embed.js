// <assay-usage token="…" from="2026-11-01" by="model"></assay-usage> is an iframe of the usage page.
const base = new URL('.', import.meta.url)
const source = 'assay-usage'
const filters = ['from', 'to', 'unit', 'metric', 'by', 'model', 'key', 'endpoint', 'tag']

class AssayUsage extends HTMLElement {
  static observedAttributes = ['token', 'theme', ...filters]
  /** @type {HTMLIFrameElement | null} */
  #frame = null
  /** @param {MessageEvent} message */
  #listen = ({ origin, data, source: from }) => {
    const frame = this.#frame
    if (origin !== base.origin || frame === null || from !== frame.contentWindow) return
    if (data?.source !== source) return
    if (data.type === 'height' && Number.isFinite(data.px)) frame.style.height = `${data.px}px`
    if (data.type === 'ready') this.#theme()
    this.dispatchEvent(new CustomEvent(data.type, { detail: data, bubbles: true }))
  }

  connectedCallback() {
    addEventListener('message', this.#listen)
    const frame = document.createElement('iframe')
    frame.title = this.getAttribute('title') ?? 'Usage'
    frame.sandbox = 'allow-scripts allow-same-origin allow-forms allow-downloads allow-popups'
    frame.referrerPolicy = 'no-referrer'
    frame.style.cssText = 'border:0;width:100%;height:600px;display:block'
    frame.src = `${base}page${this.#query()}#t=${this.getAttribute('token') ?? ''}`
    this.#frame = frame
    this.replaceChildren(frame)
  }

  disconnectedCallback() {
    removeEventListener('message', this.#listen)
    this.#frame = null
  }

  /**
   * @param {string} name
   * @param {string | null} before
   * @param {string | null} now
   */
  attributeChangedCallback(name, before, now) {
    if (this.#frame === null || before === now) return
    if (name === 'token') this.#tell({ type: 'token', token: now })
    else if (name === 'theme') this.#theme()
    else this.#tell({ type: 'filters', query: this.#query() })
  }

  #query() {
    const query = new URLSearchParams()
    for (const name of filters) {
      const value = this.getAttribute(name)
      if (value !== null) query.set(name, value)
    }
    return query.size === 0 ? '' : `?${query}`
  }

  #theme() {
    this.#tell({ type: 'theme', mode: this.getAttribute('theme') ?? 'auto' })
  }

  /** @param {Readonly<Record<string, string | null>>} message */
  #tell(message) {
    this.#frame?.contentWindow?.postMessage({ source, ...message }, base.origin)
  }
}

customElements.define('assay-usage', AssayUsage)
