import { headerTimeS } from '../../user/header-time.ts'
import type { PricedRequest } from './request.ts'

/** A `Date` is cut to whole seconds. */
const dateStepMs = 1_000

/**
 * How many milliseconds the service's clock, by the `Date` of its answer, is ahead of the client's. 0 if that time lies within the
 * request, or if there is none.
 */
export function clockShiftMs({
  startMs,
  endMs,
  header,
}: Pick<PricedRequest, 'startMs' | 'endMs' | 'header'>): number {
  const dateMs = headerTimeS(header('date') ?? '') * 1000
  if (Number.isNaN(dateMs)) return 0
  if (dateMs > endMs) return dateMs - endMs
  return dateMs + dateStepMs < startMs ? dateMs - startMs : 0
}
