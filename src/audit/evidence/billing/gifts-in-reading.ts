import type { Credits } from '../../../contract/contract.ts'
import { smallest } from '../../../user/extremes.ts'
import type { Stretch } from './conservation.ts'
import { type Gift, sumsOf } from './gifts.ts'

/** Whether a rise may be a gift: half of the smallest that the contract has, since less may be wrong charges; without one, large. */
export function mayBeAdded(rise: Credits, giftSizes: readonly Credits[]): boolean {
  const isNamed = giftSizes.some((size) => Math.abs(size - rise) <= nearGift)
  const smallestPlausible = giftSizes.length === 0 ? nearGift : smallest(giftSizes) / 2
  return rise > smallestPlausible && !isNamed
}

/** How far a rise may be from a package that came in beside a wrong charge. */
export const nearGift: Credits = 20

/** Beyond this, what abandoned requests may have cost is as much as a small package, so a rise shows no size. */
const mostOpen: Credits = 40

/**
 * What may have come in at once. Within the largest rise, that is the rise itself, with whatever abandoned requests cost
 * meanwhile; or its half or third, if the same amount came in two or three times between the two values.
 */
export function risesOf(stretches: readonly Stretch[]): readonly Credits[] {
  const [largest] = stretches.toSorted((a, b) => a.excess - b.excess)
  if (largest === undefined || largest.ambiguous > mostOpen) return []
  const least = -largest.excess
  const whole = Array.from({ length: largest.ambiguous + 1 }, (_, at) => least + at)
  return [1, 2, 3].flatMap((times) =>
    whole.flatMap((rise) => (rise % times === 0 ? [rise / times] : [])),
  )
}

/** Whether so many credits that came in explain a stretch, whatever its abandoned requests cost. */
export function isAdded(stretch: Stretch, added: Credits): boolean {
  const excess = stretch.excess
  return excess < 0 && added >= -excess && added <= stretch.ambiguous - excess
}

/** The same if they came in once, twice or three times. */
export const isAddedAgain = (stretch: Stretch, added: Credits): boolean =>
  [1, 2, 3].some((times) => isAdded(stretch, times * added))

/** Whether the gifts that were found, or the sums of a few of them, explain each stretch. */
export function fitsWithGifts(stretches: readonly Stretch[], gifts: readonly Gift[]): boolean {
  const sums = sumsOf([...new Set(gifts.map(({ credits }) => credits))])
  return stretches.every(
    (stretch) => stretch.excess === 0 || sums.some((added) => isAdded(stretch, added)),
  )
}
