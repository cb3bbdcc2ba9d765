import type { Witness } from '../verdict.ts'

/** How a service finds a witness: its log's row, UTC time and request ids, else its number in our run. */
export function placeOf(witness: Witness): string {
  const { service } = witness
  const own = ownPlaceOf(witness)
  if (service === undefined) return own
  const { line, at, ids } = service
  return [
    ...(line === undefined ? [] : [`line ${line}`]),
    ...(at === null ? [] : [at]),
    ...ids.map((id) => `request ${id}`),
    ...(line === undefined && ids.length === 0 ? [own] : []),
  ].join(', ')
}

/** Its number in our run, for a request that its service names by nothing. */
export const ownPlaceOf = ({ runId, slot, retry }: Pick<Witness, 'runId' | 'slot' | 'retry'>) =>
  `attempt ${slot} of run ${runId}${retry > 0 ? `, retry ${retry}` : ''}`
