import type { ModelPrice } from '../../../contract/prices.ts'
import type { KnownCauses } from '../price-judge.ts'
import type { Change } from './change.ts'
import { feeChanges } from './fees.ts'
import { groupChanges } from './kinds.ts'
import { loggedChanges } from './logged.ts'
import { pairChanges, partChanges } from './parts.ts'
import { sideChanges } from './sides.ts'
import { priceChanges } from './steps.ts'
import { streamChanges } from './streams.ts'
import {
  nameChanges,
  outcomeChanges,
  roundedIn,
  roundingChanges,
  stepChanges,
  wholeChanges,
} from './whole.ts'
import { tierChanges } from './wide.ts'

/** Every single change that may explain a wrong cost. Those to one part come before those to the whole. */
export function changesFor(
  models: readonly ModelPrice[],
  { priceOf, loggedOf, others = [] }: KnownCauses,
): readonly Change[] {
  const ofOthers = pairChanges(models)
  const ofTiers = tierChanges(models)
  return [
    ...partChanges,
    ...(loggedOf === undefined ? [] : loggedChanges(loggedOf)),
    ...ofOthers,
    ...groupChanges,
    ...sideChanges,
    ...streamChanges,
    ...priceChanges(models),
    ...ofTiers,
    ...feeChanges(models),
    ...outcomeChanges,
    ...nameChanges(models, priceOf),
    ...wholeChanges,
    ...stepChanges,
    ...roundingChanges,
    ...others.flatMap(roundedIn),
    ...(loggedOf === undefined
      ? []
      : loggedChanges(loggedOf, [...partChanges, ...ofOthers, ...ofTiers])),
  ]
}
