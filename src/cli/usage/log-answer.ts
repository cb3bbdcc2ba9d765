import { setTimeout as wait } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { printable } from '../../report/summary/printable.ts'
import { headerTimeS } from '../../user/header-time.ts'
import { secrets } from '../../user/secrets/secrets.ts'
import { type UserError, userError } from '../../user/user-error.ts'

/** What a service answered to one read of its log. */
export interface LogAnswer {
  readonly text: string
  /** The header `Link`; empty without one. */
  readonly link: string
}

/** How often a busy service is asked, and how long at most before each time. */
const [mostTries, mostWaitS] = [4, 60]
const mostRedirects = 5
/** Letters of an address in an error. */
const longestAddress = 100
const busy = [429, 503]

/**
 * Reads an address of the log, with the key of ASSAY_API_KEY. A busy service is asked again, and a redirect within the service is
 * followed.
 *
 * @returns null for a 404
 * @throws UserError for any other answer, and for one that is not whole in time
 */
export async function logAnswer(url: string, patienceMs: number): Promise<LogAnswer | null> {
  let address = url
  let [tries, redirects] = [1, 0]
  for (;;) {
    const { status, headers, bytes } = await exchange(address, patienceMs)
    if (status === 404) return null
    if (status >= 200 && status < 300)
      return { text: textOf(url, bytes), link: headers.get('link') ?? '' }
    const location = headers.get('location')
    if (status >= 300 && status < 400 && location !== null) {
      address = redirected(url, address, location, ++redirects)
      continue
    }
    if (!busy.includes(status)) throw refused(url, status)
    if (tries === mostTries)
      throw userError.usage(`--log: ${shownPath(url)} answered ${status} four times.`)
    await wait(waitS(url, status, headers.get('retry-after'), tries++) * 1000)
  }
}

/** The same text for a user, without what the query may hold. */
export function shownPath(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}

async function exchange(url: string, patienceMs: number) {
  const key = process.env.ASSAY_API_KEY ?? ''
  if (key !== '') secrets.add(key)
  try {
    const answer = await fetch(url, {
      headers: key === '' ? {} : { authorization: `Bearer ${key}` },
      redirect: 'manual',
      signal: AbortSignal.timeout(patienceMs),
    })
    const { status, headers } = answer
    return { status, headers, bytes: Buffer.from(await answer.arrayBuffer()) }
  } catch (error) {
    throw userError.usage(
      `--log: ${new URL(url).origin} cannot be read: ${reasonOf(error, patienceMs)}.`,
    )
  }
}

function reasonOf(error: unknown, patienceMs: number): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `no whole answer within ${patienceMs / 1000} s`
  const { cause } = error
  return cause instanceof Error && cause.message !== '' ? cause.message : error.message
}

function redirected(url: string, from: string, location: string, nth: number): string {
  const to = URL.canParse(location, from) ? new URL(location, from) : null
  if (to === null)
    throw userError.usage(
      `--log: ${shownPath(url)} redirects to ${printable(location, longestAddress)}, which is no address.`,
    )
  if (nth > mostRedirects)
    throw userError.usage(`--log: ${shownPath(url)} redirects without an end.`)
  // The key is for the service that was named.
  if (to.origin !== new URL(url).origin)
    throw userError.usage(
      `--log: ${shownPath(url)} redirects to ${to.origin}, and the key is not sent there. If the log is there, name that address.`,
    )
  return to.href
}

function refused(url: string, status: number): UserError {
  const needs =
    status === 401 || status === 403
      ? ' It needs a key that may read the log, in ASSAY_API_KEY.'
      : ''
  return userError.usage(`--log: ${shownPath(url)} answered ${status}.${needs}`)
}

/** Seconds until a busy service is asked again: as many as it says, or 1, 2 and 4. */
function waitS(url: string, status: number, said: string | null, tries: number): number {
  const text = said?.trim() ?? ''
  const seconds = /^\d+$/.test(text)
    ? Number(text)
    : Math.ceil(headerTimeS(text) - Date.now() / 1000)
  if (Number.isNaN(seconds)) return 2 ** (tries - 1)
  if (seconds > mostWaitS)
    throw userError.usage(
      `--log: ${shownPath(url)} answered ${status} and asks to wait for ${seconds} s. Audit again after that.`,
    )
  return Math.max(0, seconds)
}

/** The first two bytes of gzip. */
const isPacked = (bytes: Buffer) => bytes[0] === 0x1f && bytes[1] === 0x8b

function textOf(url: string, bytes: Buffer): string {
  if (!isPacked(bytes)) return bytes.toString('utf8')
  try {
    return gunzipSync(bytes).toString('utf8')
  } catch {
    throw userError.usage(`--log: ${shownPath(url)} is packed, and damaged or cut off.`)
  }
}
