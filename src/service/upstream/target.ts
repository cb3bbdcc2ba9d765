import { UserError } from '../../user/user-error.ts'

/** Where answers come from when they are not made up here. */
export interface UpstreamOptions {
  /** Base address of an OpenAI-compatible server, such as `http://localhost:8000/v1`. */
  readonly url: string
  /** Sent as `Authorization: Bearer`; null sends none. */
  readonly apiKey?: string | null
  /** `ours=theirs`, or `theirs` alone for every model that is not named. */
  readonly models?: readonly string[]
  /** Sent there with each request, over our own; what is secret of them is told to nobody. */
  readonly headers?: readonly {
    readonly name: string
    readonly value: string
    readonly isSecret: boolean
  }[]
  /** Is told, once each, of failures there: clients are not told what is behind them. */
  readonly tell?: (words: string) => void
  /** The contract's unless given, in real milliseconds. */
  readonly timeouts?: {
    readonly connectMs?: number
    readonly readMs?: number
    readonly streamMs?: number
  }
}

/**
 * The address of chat completions below a base address: `/v1` is added to a bare host.
 *
 * @throws UserError for what is no HTTP address
 */
export function chatAddress(base: string): URL {
  const url = URL.canParse(base) ? new URL(base) : null
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new UserError(
      'service',
      `--upstream: expected an address such as http://localhost:8000/v1; got "${base}"`,
    )
  }
  if (url.username !== '' || url.password !== '') {
    throw new UserError(
      'service',
      '--upstream: expected no user or password in the address; ASSAY_UPSTREAM_KEY holds the key',
    )
  }
  const path = url.pathname.replace(/\/+$/, '')
  url.pathname = path.endsWith('/chat/completions')
    ? path
    : `${path === '' ? '/v1' : path}/chat/completions`
  return url
}

/**
 * How a model of ours is called there.
 *
 * @param known the models of ours
 * @throws UserError for a name that is none
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
      throw new UserError(
        'service',
        `--upstream-model: expected a name, or ours=theirs; got "${each}"`,
      )
    }
    const ours = each.slice(0, Math.max(at, 0))
    if (at < 0) standard = theirs
    else if (known.includes(ours)) names.set(ours, theirs)
    else {
      throw new UserError(
        'service',
        `--upstream-model: expected ours=theirs, ours being one of ${known.join(', ')}; got "${each}"`,
      )
    }
  }
  return (ours) => names.get(ours) ?? standard ?? ours
}
