import { type DeploymentProfile, established } from '../../../../contract/profile.ts'
import { abandonments, effects, type History } from '../history.ts'
import type { Charges } from './hypotheses.ts'

/** What a deployment charges for requests that the client aborted, as a probe found out (gaps G-14, G-15). */
export type KnownPolicy = (history: History) => Charges

/** Points of a stream in order, by the names of the probe's answer. */
const points = [
  'before headers',
  'after headers',
  'after the first event',
  'after four events',
  'before the end',
] as const

/** @returns null if the profile does not say what aborted streams cost at each point */
export function knownPolicy(profile: DeploymentProfile | undefined): KnownPolicy | null {
  const streams = points.map((point) => established(profile, 'G-14', point))
  if (!streams.every((answer) => answer === 'charged' || answer === 'free')) return null
  const plain = established(profile, 'G-15', 'charge')
  return ({ readUs, contentEvents, abandonment, streamed }) =>
    (row) => {
      if (abandonment[row] !== abandonments.aborted) return 'perhaps'
      if (streamed[row] === 0) return plain === 'charged' ? true : 'perhaps'
      const events = contentEvents[row]!
      const at = Number.isNaN(readUs[row]!) ? 0 : events === 0 ? 1 : events < 4 ? 2 : 3
      // The service may have come further than the client saw, up to the end.
      return streams.slice(at).every((answer) => answer === 'charged') ? true : 'perhaps'
    }
}

/** Whether the policy may have charged this much in all for attempts whose price is open. */
export function mayTake(history: History, charges: Charges, credits: number): boolean {
  let [least, most] = [0, 0]
  for (let row = 0; row < history.size; row++) {
    if (history.effect[row] !== effects.ambiguous) continue
    const is = charges(row)
    if (is === false) continue
    most += history.costCredits[row]!
    if (is === true) least += history.costCredits[row]!
  }
  return least <= credits && credits <= most
}
