import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isLoopback } from '../../contract/base-url.ts'
import { renderDocument } from '../../report/document.ts'
import { type Html, html } from '../../user/html.ts'
import { userError } from '../../user/user-error.ts'
import { wholeNumberOf } from '../terminal/numbers.ts'
import { onStopSignal } from '../terminal/stop-signals.ts'

/** The content of a live page. `body` and `metrics` are called only on demand. */
export interface LiveSource {
  readonly title: string
  /** Elements with `data-part` replace the same parts of an open page. */
  readonly body: () => Html
  /** Prometheus text. */
  readonly metrics: () => string
}

/** Shortest interval of updates. */
const everyMs = 1000
/** Longest wait for open pages to load the last page. */
const lastLookMs = 5000

const script = readFileSync(new URL('../../../src/cli/live/browser.js', import.meta.url), 'utf8')

/**
 * Serves a live page on this machine while a command works: `/`, its updates as server-sent events at
 * `/events`, and `/metrics`. Only programs and pages of this machine are answered.
 */
export class LiveServer {
  private readonly source: LiveSource
  private readonly server = createServer((request, response) => this.answer(request, response))
  private readonly streams = new Set<ServerResponse>()
  private toldMs = 0
  private last: string | null = null
  /** Open pages that have not loaded the last page yet. */
  private behind = 0
  private onRead = () => {}

  constructor(source: LiveSource) {
    this.source = source
  }

  /** @returns the URL of the page @throws UserError if the port is not available */
  async open(port: number): Promise<string> {
    await new Promise<void>((done, fail) => {
      this.server.once('error', (error: NodeJS.ErrnoException) =>
        fail(userError.usage(`--live: port ${port} cannot be used (${error.code}).`)),
      )
      this.server.listen(port, '127.0.0.1', done)
    })
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`
  }

  /** Sends an update to open pages; a slow reader misses some. */
  tell(nowMs: number): void {
    if (this.streams.size === 0 || nowMs - this.toldMs < everyMs) return
    this.toldMs = nowMs
    const event = this.news()
    for (const stream of this.streams) if (!stream.writableNeedDrain) stream.write(event)
  }

  /** Shows a final page, by default the last update, and waits until open pages have loaded it. */
  async end(page = this.page()): Promise<void> {
    this.last = page
    this.behind = this.streams.size
    for (const stream of this.streams) stream.end('event: end\ndata: {}\n\n')
    if (this.behind === 0) return
    await new Promise<void>((done) => {
      const timer = setTimeout(done, lastLookMs)
      this.onRead = () => {
        clearTimeout(timer)
        done()
      }
    })
  }

  close(): void {
    this.server.close()
    this.server.closeAllConnections()
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const { host = '', origin } = request.headers
    // DNS rebinding: another site may have pointed its own name here.
    const isOurs = isLoopback(`http://${host}`) && (origin ?? `http://${host}`) === `http://${host}`
    if (!isOurs) say(response, 403, 'Only pages of this machine are answered.\n')
    else if (request.method !== 'GET') say(response, 405, 'Only GET is answered.\n')
    else if (request.url === '/') this.sendPage(response)
    else if (request.url === '/events') this.stream(response)
    else if (request.url === '/metrics') {
      say(response, 200, this.source.metrics(), 'text/plain; version=0.0.4')
    } else if (request.url === '/favicon.ico') response.writeHead(204).end()
    else say(response, 404, 'There are /, /events and /metrics.\n')
  }

  private sendPage(response: ServerResponse): void {
    if (this.last !== null) response.once('finish', () => --this.behind <= 0 && this.onRead())
    say(response, 200, this.last ?? this.page(), 'text/html')
  }

  private stream(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    if (this.last !== null) return void response.end('event: end\ndata: {}\n\n')
    response.write(this.news())
    this.streams.add(response)
    response.once('close', () => this.streams.delete(response))
  }

  private news(): string {
    return `data: ${JSON.stringify(this.source.body().text)}\n\n`
  }

  private page(): string {
    return renderDocument({
      title: `${this.source.title} · Assay`,
      charts: {},
      live: { script, head: html`<noscript><meta http-equiv="refresh" content="5"></noscript>` },
      body: html`<main class="page">${this.source.body()}</main><p class="aloud" role="status" id="aloud"></p>`,
    })
  }
}

function say(response: ServerResponse, status: number, text: string, type = 'text/plain'): void {
  response.writeHead(status, {
    'content-type': `${type}; charset=utf-8`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  response.end(text)
}

/**
 * Opens a page at the port of `--live` and prints its URL; `true` lets the system pick a port.
 *
 * @throws UserError for an invalid port, or one that is not available
 */
export async function openLive(flag: string | true, source: LiveSource): Promise<LiveServer> {
  const port = flag === true ? 0 : wholeNumberOf('--live', flag)
  if (port > 65_535) throw userError.usage(`--live: expected a port; got ${flag}.`)
  const server = new LiveServer(source)
  process.stderr.write(`Live: ${await server.open(port)}\n`)
  return server
}

/** On a terminal the last page stays until Ctrl-C; elsewhere until open pages have loaded it. */
export async function stayLive(server: LiveServer, page?: string): Promise<void> {
  await server.end(page)
  if (!process.stderr.isTTY) return
  process.stderr.write('The page stays until Ctrl-C.\n')
  await new Promise<void>((done) => {
    const ignore = onStopSignal(() => {
      ignore()
      done()
    })
  })
}
