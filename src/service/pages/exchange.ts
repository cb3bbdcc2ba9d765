import type { ServerResponse } from 'node:http'
import type { Html } from '../../user/html.ts'
import type { Call } from '../call.ts'

/** What a page answers; `cookie` sets or, with null, ends the session of the browser. */
export type PageAnswer =
  | {
      readonly is: 'page'
      readonly status: number
      readonly body: Html
      readonly cookie?: string | null
      /** On 429: seconds to wait. */
      readonly retryAfterS?: number
    }
  /** See another page: after a form, so that loading it again sends nothing again. */
  | { readonly is: 'redirect'; readonly to: string; readonly cookie?: string | null }
  /** Server-sent events, until the reader leaves: `listen` begins them and hands back what ends them. */
  | { readonly is: 'events'; readonly listen: (tell: (event: string) => void) => () => void }
  | { readonly is: 'unchanged'; readonly tag: string }
  | { readonly is: 'asset'; readonly type: string; readonly body: string; readonly tag: string }

/** One request for a page. */
export interface PageRequest {
  readonly call: Call
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly query: URLSearchParams
  /** The fields of a form; empty on GET. */
  readonly form: URLSearchParams
}

/** Nothing but our own style sheet and script; nothing in a page can load, frame or send elsewhere. */
const policy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

export function readPageRequest(call: Call): PageRequest | null {
  const { method, path, query, headers } = call.incoming
  if (method !== 'GET' && method !== 'POST') return null
  const isForm =
    method === 'POST' &&
    headers['content-type']?.split(';')[0]?.trim().toLowerCase() ===
      'application/x-www-form-urlencoded'
  return {
    call,
    method,
    path,
    query: new URLSearchParams(query),
    form: new URLSearchParams(isForm ? call.body.toString('utf8') : ''),
  }
}

/**
 * Whether a form was sent by a page of ours, as far as its sender tells: browsers name the origin
 * of every form, and other programs, which hold no cookie of a browser, name none.
 */
export function isOwnOrigin({ incoming }: Call): boolean {
  const { origin, host } = incoming.headers
  const site = incoming.headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false
  if (origin === undefined) return true
  return URL.canParse(origin) && new URL(origin).host === host
}

/** Cookies know no ports: two services on one machine must not take each other's. */
function cookieName(response: ServerResponse): string {
  return `assay-session-${response.socket?.localPort ?? 0}`
}

export function readCookie(call: Call, response: ServerResponse): string | null {
  const name = cookieName(response)
  for (const pair of (call.incoming.headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=')
    if (pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return null
}

/** Writes an answer; whatever it tells of is committed by then. */
export function writeAnswer(
  call: Call,
  response: ServerResponse,
  answer: PageAnswer,
  dateUs: number,
): void {
  const headers: Record<string, string> = {
    date: new Date(dateUs / 1000).toUTCString(),
    'x-request-id': call.incoming.id,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'content-security-policy': policy,
    'cache-control': 'no-store',
  }
  if ('cookie' in answer && answer.cookie !== undefined) {
    const secure = call.incoming.headers['x-forwarded-proto'] === 'https' ? '; Secure' : ''
    const age = answer.cookie === null ? '; Max-Age=0' : ''
    headers['set-cookie'] =
      `${cookieName(response)}=${answer.cookie ?? ''}; Path=/; HttpOnly; SameSite=Strict${age}${secure}`
  }
  switch (answer.is) {
    case 'page': {
      headers['content-type'] = 'text/html; charset=utf-8'
      if (answer.retryAfterS !== undefined) headers['retry-after'] = String(answer.retryAfterS)
      send(response, answer.status, headers, answer.body.text)
      return
    }
    case 'redirect':
      headers.location = answer.to
      send(response, 303, headers, '')
      return
    case 'events': {
      headers['content-type'] = 'text/event-stream'
      response.writeHead(200, headers)
      const stop = answer.listen((event) => {
        // Who does not read misses news: the next one says as much.
        if (!response.writableNeedDrain) response.write(event)
      })
      response.once('close', stop)
      return
    }
    case 'unchanged':
      headers.etag = answer.tag
      response.writeHead(304, headers).end()
      return
    case 'asset':
      headers['content-type'] = answer.type
      headers['cache-control'] = 'no-cache'
      headers.etag = answer.tag
      send(response, 200, headers, answer.body)
  }
}

function send(
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
  body: string,
): void {
  headers['content-length'] = String(Buffer.byteLength(body))
  response.writeHead(status, headers).end(body)
}
