import { shownBaseUrl } from '../../contract/base-url.ts'
import { userError } from '../../user/user-error.ts'

/** Another server that makes the answers. */
export interface UpstreamOptions {
  /** Base URL of an OpenAI-compatible server, such as `http://localhost:8000/v1`. */
  readonly url: string
  /** Sent as `Authorization: Bearer`; null sends none. */
  readonly apiKey?: string | null
  /** `ours=theirs`, or `theirs` for every model without an entry. */
  readonly models?: readonly string[]
  /** Sent with each request, in place of our own headers. Secret values are never shown. */
  readonly headers?: readonly {
    readonly name: string
    readonly value: string
    readonly isSecret: boolean
  }[]
  /** Receives each kind of failure once. Clients do not see these messages. */
  readonly tell?: (words: string) => void
  /** In real milliseconds. Default: the contract's. */
  readonly timeouts?: {
    readonly connectMs?: number
    readonly readMs?: number
    readonly streamMs?: number
  }
}

/**
 * The URL of chat completions below a base URL. A bare host gets `/v1`.
 *
 * @throws UserError for anything but an HTTP URL
 */
export function chatAddress(base: string): URL {
  const url = URL.canParse(base) ? new URL(base) : null
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw userError.service(
      `--upstream: expected an address such as http://localhost:8000/v1; got "${shownBaseUrl(base)}"`,
    )
  }
  if (url.username !== '' || url.password !== '') {
    throw userError.service(
      '--upstream: expected no user or password in the address; ASSAY_UPSTREAM_KEY holds the key',
    )
  }
  if (/[?#]/.test(base)) {
    throw userError.service(
      '--upstream: expected no query in the address; ASSAY_UPSTREAM_KEY holds the key, and --upstream-header adds a header',
    )
  }
  const path = url.pathname.replace(/\/+$/, '')
  url.pathname = path.endsWith('/chat/completions')
    ? path
    : `${path === '' ? '/v1' : path}/chat/completions`
  return url
}

/**
 * The upstream's name for each of our models.
 *
 * @param known the names of our models
 * @throws UserError for an invalid name
 */
export function modelNames(
  given: readonly string[],
  known: readonly string[],
): (ours: string) => string {
  const names = new Map<string, string>()
  let standard: string | null = null
  for (const each of given) {
    const at = each.indexOf('=')
    const theirs = each.slice(at + 1)
    if (theirs === '' || at === 0) {
      throw userError.service(`--upstream-model: expected a name, or ours=theirs; got "${each}"`)
    }
    const ours = each.slice(0, Math.max(at, 0))
    const before = at < 0 ? standard : names.get(ours)
    if (before != null) {
      throw userError.service(
        `--upstream-model: expected one name for ${at < 0 ? 'all models' : ours}; got "${before}" and "${theirs}"`,
      )
    }
    if (at < 0) standard = theirs
    else if (known.includes(ours)) names.set(ours, theirs)
    else {
      throw userError.service(
        `--upstream-model: expected ours=theirs, ours being one of ${known.join(', ')}; got "${each}"`,
      )
    }
  }
  return (ours) => names.get(ours) ?? standard ?? ours
}
