import type { ServerResponse } from 'node:http'
import type { Html } from '../../user/html.ts'
import type { Call } from '../call.ts'

/** The response of a page. `cookie` sets the session of the browser; null ends it. */
export type PageAnswer =
  | {
      readonly is: 'page'
      readonly status: number
      readonly body: Html
      readonly cookie?: string | null
      /** For status 429: seconds to wait. */
      readonly retryAfterS?: number
    }
  /** Redirects after a form, so that a reload does not send the form again. */
  | { readonly is: 'redirect'; readonly to: string; readonly cookie?: string | null }
  /** Server-sent events until the reader leaves. `listen` starts them and returns what stops them. */
  | { readonly is: 'events'; readonly listen: (tell: (event: string) => void) => () => void }
  | { readonly is: 'unchanged'; readonly tag: string }
  | { readonly is: 'asset'; readonly type: string; readonly body: string; readonly tag: string }

export interface PageRequest {
  readonly call: Call
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly query: URLSearchParams
  /** The fields of a form; empty for GET. */
  readonly form: URLSearchParams
}

/** Who may frame a page, as Content-Security-Policy has it. */
export const frameAncestors = (origins: readonly string[]) =>
  `frame-ancestors ${origins.length === 0 ? "'none'" : origins.join(' ')}`

/** Allows our own style sheet and script only: a page can load, frame and send nothing else. */
const policyOf = (framedBy: readonly string[]) =>
  [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "connect-src 'self'",
    "img-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    frameAncestors(framedBy),
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
 * Whether a form comes from one of our own pages. Browsers send the origin of every form. Other
 * programs send none, and they have no cookie of a browser.
 */
export function isOwnOrigin({ incoming }: Call): boolean {
  const { origin, host } = incoming.headers
  const site = incoming.headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false
  if (origin === undefined) return true
  return URL.canParse(origin) && new URL(origin).host === host
}

/** Cookies ignore ports. The port in the name keeps two services on one machine apart. */
const cookieName = (response: ServerResponse): string =>
  `assay-session-${response.socket?.localPort ?? 0}`

export function readCookie(call: Call, response: ServerResponse): string | null {
  const name = cookieName(response)
  for (const pair of (call.incoming.headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=')
    if (pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return null
}

/**
 * Writes a response once everything that it reports is committed.
 *
 * @param framedBy the origins that may frame it
 */
export function writeAnswer(
  call: Call,
  response: ServerResponse,
  answer: PageAnswer,
  dateUs: number,
  framedBy: readonly string[],
): void {
  const headers: Record<string, string> = {
    date: new Date(dateUs / 1000).toUTCString(),
    'x-request-id': call.incoming.id,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'content-security-policy': policyOf(framedBy),
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
        // A slow reader misses some events. The next one has the same effect.
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
