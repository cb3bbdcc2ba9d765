import type { Random } from '../../../user/random.ts'
import { type Apart, type Groups, judgeApart, leastSessions, type Unlike } from './apart.ts'
import type { Shares } from './watch.ts'

/** Sessions of the service and of the reference that are neighbours in time. */
export interface SessionPair {
  readonly service: Shares
  readonly reference: Shares
}

export type NamedResult =
  | { readonly is: 'unseen' }
  | Apart
  | Unlike
  | (Pick<Apart, 'apart' | 'p'> & { readonly is: 'few' })
  /** One pair has no spread, and so no distance. */
  | { readonly is: 'one' }

const groupsOf = (pairs: readonly SessionPair[]): Groups => [
  pairs.map(({ service }) => service),
  pairs.map(({ reference }) => reference),
]

/** Whether a service answers as the reference does: SOLD-06. Sessions are exchanged within their pair. */
export function judgeNamed(pairs: readonly SessionPair[], draw: Random): NamedResult {
  if (pairs.length < 2) return { is: pairs.length === 0 ? 'unseen' : 'one' }
  const found = judgeApart(groupsOf(pairs), () =>
    groupsOf(
      pairs.map((pair) =>
        draw() < 0.5 ? pair : { service: pair.reference, reference: pair.service },
      ),
    ),
  )
  return found.is === 'unlike' || pairs.length >= leastSessions ? found : { ...found, is: 'few' }
}
