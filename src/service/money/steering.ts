import type { Call } from '../call.ts'

/** What the user's last message asks the service to go through, so that a test can ask for it. */
export interface Steering {
  /** The stream breaks off after half of its text; a plain request fails. */
  readonly breaksOff: boolean
  /** The filter holds the answer back. */
  readonly isFiltered: boolean
  readonly isEmpty: boolean
  /** Another model of the contract answers. */
  readonly fallsBack: boolean
  /** Upstreams that fail before one answers. */
  readonly innerFailures: number
}

export function steeringOf({ request }: Call): Steering {
  const text = request?.messages.findLast(({ role }) => role === 'user')?.text ?? ''
  return {
    breaksOff: /\bbreak off\b/i.test(text),
    isFiltered: /\bhold it back\b/i.test(text),
    isEmpty: /\bsay nothing\b/i.test(text),
    fallsBack: /\bfall back\b/i.test(text),
    innerFailures: Number(/\bfail (\d) times? inside\b/i.exec(text)?.[1] ?? 0),
  }
}
