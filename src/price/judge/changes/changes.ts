import type { ModelPrice } from '../../../contract/prices.ts'
import { parts } from '../../../tokens/usage.ts'
import type { PriceOf } from '../expected.ts'
import type { Change } from './change.ts'
import { feeChanges } from './fees.ts'
import { groupChanges } from './kinds.ts'
import { partChanges } from './parts.ts'
import { sideChanges } from './sides.ts'
import { priceChanges } from './steps.ts'
import { streamChanges } from './streams.ts'
import { nameChanges, outcomeChanges, roundingChanges, wholeChanges } from './whole.ts'

/** Every single change that may explain a wrong cost. Those to one part come before those to the whole. */
export function changesFor(models: readonly ModelPrice[], priceOf: PriceOf): readonly Change[] {
  return [
    ...parts.flatMap(partChanges),
    ...groupChanges,
    ...sideChanges,
    ...streamChanges,
    ...priceChanges(models),
    ...feeChanges(models),
    ...outcomeChanges,
    ...nameChanges(models, priceOf),
    ...wholeChanges,
    ...roundingChanges,
  ]
}
