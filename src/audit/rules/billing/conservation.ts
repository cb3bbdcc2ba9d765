import type { Credits } from '../../../contract/contract.ts'
import {
  billingRule,
  credits,
  movedBy,
  othersLookSo,
  passWithoutDoubt,
  successes,
  witnessOf,
} from '../../evidence/balances.ts'
import type { BalanceReading } from '../../evidence/billing/balance-reading.ts'
import type { Stretch } from '../../evidence/billing/conservation.ts'
import { giftsOf, sumsOf } from '../../evidence/billing/gifts.ts'
import { isAddedAgain, mayBeAdded } from '../../evidence/billing/gifts-in-reading.ts'
import { otherCause } from '../../evidence/other-cause.ts'
import { fail, inconclusive, notObserved } from '../../verdict.ts'

export const bill10 = billingRule({
  id: 'BILL-10',
  title: 'Between two idle moments, the balance falls by exactly the cost of the successes',
  section: '§8.4.1',
  needs: ['passive', 'quiescence'],
  explain: `Tier 0, conservation. A value is idle when nothing else of the account was in flight
while it was read. From one idle value to the next the balance must fall by at least the cost of the
successes in between, and at most by that and the cost of the ambiguous attempts (aborted, timed out
or broken after they were sent; gap G-14 leaves open whether they are charged, and a service may
charge them until its own deadline has passed). It holds for any meaning of the header. It cannot
see errors that cancel between two idle values. It assumes that no one else uses the account:
other traffic looks like a double charge. An open price (reads, gap G-17) is the same for all requests of its
endpoint; if the sums fit only in a way that a wrong charge could also explain, it is inconclusive. Credits that
expire, are bought or are added meanwhile make it inconclusive. So do charges that the last value lacks, if it lacks
none for much longer than values before it lacked others, which came later.`,
  decideBy(readings, { contract }) {
    const giftSizes = sumsOf(giftsOf(contract))
    let observations = 0
    type Breach = {
      reading: BalanceReading
      stretch: Stretch
      excess: Credits
      otherwise: string | null
    }
    let worst: Breach | null = null
    for (const reading of readings) {
      const { stretches, whole } = reading.conservation
      // If charges settle late, only the whole can match; BILL-08 is about the delay.
      const judged = reading.fits === 'late' && whole !== null ? [whole] : stretches
      observations += judged.length
      const rises = judged.filter(({ taken }) => taken < 0)
      for (const stretch of judged) {
        const { excess } = stretch
        const isPurchase =
          reading.unnamedPurchase !== undefined && isAddedAgain(stretch, reading.unnamedPurchase)
        const isClear = stretch.ambiguous === 0 && reading.fits !== 'late'
        // Where the contract names packages, BILL-19 judges the purchase.
        if (excess === 0 || (isPurchase && isClear && contract.packages !== undefined)) continue
        const isOnlyRise = rises.length === 1 && rises[0] === stretch
        const otherwise =
          otherCause(contract, stretch, excess) ??
          // What is missing may come later, if other charges did.
          (reading.fits === 'late' && excess < 0 ? reading.doubt : null) ??
          (isPurchase || (isOnlyRise && mayBeAdded(-excess, giftSizes))
            ? 'Credits that somebody added would look the same.'
            : null)
        // Stretches without another explanation come first, then the narrowest, which is the most specific.
        const surer = worst?.otherwise !== null && otherwise === null
        const sameAndNarrower =
          (worst?.otherwise === null) === (otherwise === null) &&
          stretch.charges < (worst?.stretch.charges ?? Infinity)
        if (worst === null || surer || sameAndNarrower)
          worst = { reading, stretch, excess, otherwise }
      }
    }
    if (observations === 0) return notObserved(idleTakes)
    if (worst === null) return passWithoutDoubt(readings, observations)
    const { reading, stretch, excess, otherwise } = worst
    const moved = stretch.taken < 0 ? 'rose' : 'fell'
    const shows = `the balance ${moved} by ${Math.abs(stretch.taken)} since the idle balance before`
    const witnesses = [
      witnessOf(reading, stretch.to, shows),
      witnessOf(reading, stretch.from, 'the idle balance before'),
    ]
    if (otherwise !== null)
      return inconclusive(
        observations,
        `account ${reading.history.account}: ${shows}, where ${successes(stretch.charges)} cost ${stretch.sure}. ${otherwise}`,
        witnesses,
      )
    const range =
      stretch.ambiguous > 0 ? ` to ${stretch.sure + stretch.ambiguous} (ambiguous attempts)` : ''
    return fail(observations, {
      expected:
        stretch.charges === 0 && stretch.ambiguous === 0
          ? `account ${reading.history.account}: no fall, since nothing succeeded`
          : `account ${reading.history.account}: a fall by ${stretch.sure}${range} for ${successes(stretch.charges)}`,
      observed: `${movedBy(stretch.taken)}: ${credits(Math.abs(excess))} too ${excess > 0 ? 'much' : 'little'}`,
      witnesses,
      // Traffic of others can take credits, but not return any.
      ...(excess > 0 ? { note: othersLookSo } : {}),
    })
  },
})

export const idleTakes =
  'two values of the balance with nothing in flight: GET /user/credits before and after, or one request at a time'
