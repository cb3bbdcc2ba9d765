import type { Credits } from '../../../contract/contract.ts'
import type { KnownPolicy } from './abandoned/known-policy.ts'
import type { BalanceReading } from './balance-reading.ts'
import { best, eachMeaning } from './best-meaning.ts'
import { readConservation } from './conservation.ts'
import { withoutGifts } from './gifts.ts'
import { fitsWithGifts, mayBeAdded, risesOf } from './gifts-in-reading.ts'
import { includesOwnCharge, possibleMeanings } from './header-meaning.ts'
import type { BalanceHistory } from './history.ts'
import { readMeaning } from './read-meaning.ts'

/**
 * Reads all values of one account under each legal meaning of the header, the most specific first. What none explains may be
 * credits that came in: of the sizes that the contract names, then of any. It is at fault only if nothing explains it.
 *
 * @param policy what aborted requests cost by the profile; null if unknown
 */
export function readBalance(
  history: BalanceHistory,
  giftSizes: readonly Credits[] = [],
  policy: KnownPolicy | null = null,
): BalanceReading {
  const meanings = possibleMeanings(history)
  const asShown = best(
    eachMeaning(meanings, (meaning) => readMeaning(history, meaning, meanings, policy)),
  )
  if (asShown.fits === 'exact') return asShown
  const named = withGifts(asShown, giftSizes, policy)
  // A rise of another size is no charge; it may be a purchase that the contract does not name.
  if (fitsAllButGifts(named) || asShown.charges === 0) return named
  return withUnnamedPurchase(asShown, giftSizes, policy) ?? named
}

/** Whether the values fit, with the gifts that were found. */
const fitsAllButGifts = ({ fits, gifts, conservation: { stretches } }: BalanceReading) =>
  fits !== 'none' && fitsWithGifts(stretches, gifts)

/**
 * The same history, read without credits of these sizes that came in; as it was if there are none. Tiers 1 to 3 need one falling line of
 * charges, so they read the lowered values. Tier 0 keeps the values as they were shown: there, a gift is the excess of one stretch, in
 * which rules look for grants and purchases (`fitsWithGifts`).
 *
 *     shown     100   98 │ 1096  1094      1,000 credits came in at │, and each request costs 2
 *     lowered   100   98 │   96    94      `fits`, `intervals`, `bounds`: every charge has its place
 *     shown     ── −2 ── │ ── +998 ──      `history`, `conservation`: an excess of −1,000 over │
 */
function withGifts(
  asShown: BalanceReading,
  giftSizes: readonly Credits[],
  policy: KnownPolicy | null,
): BalanceReading {
  const { history, meanings } = asShown
  const lowered = eachMeaning(meanings, (meaning) => {
    const includesOwn = includesOwnCharge(history, meaning)
    const { history: without, gifts } = withoutGifts(history, giftSizes, includesOwn)
    return gifts.length === 0 ? null : { ...readMeaning(without, meaning, meanings, policy), gifts }
  })
  if (lowered.length === 0) return asShown
  const reading = best(lowered)
  const conservation = readConservation(history, includesOwnCharge(history, reading.meaning))
  return { ...reading, history, conservation }
}

/** The same, if one rise that may be a purchase explains the values; else null. */
function withUnnamedPurchase(
  asShown: BalanceReading,
  giftSizes: readonly Credits[],
  policy: KnownPolicy | null,
): BalanceReading | null {
  const rises = risesOf(asShown.conservation.stretches).filter((rise) =>
    mayBeAdded(rise, giftSizes),
  )
  for (const rise of rises) {
    const risen = withGifts(asShown, [...giftSizes, rise], policy)
    if (fitsAllButGifts(risen) && risen.gifts.some(({ credits }) => credits === rise))
      return { ...risen, unnamedPurchase: rise }
  }
  return null
}
