import type { Contract } from '../../../contract/contract.ts'
import { statusesForCredits } from '../../../contract/refusals.ts'
import { billingRule, credits, witnessOf } from '../../evidence/balances.ts'
import type { BalanceReading } from '../../evidence/billing/balance-reading.ts'
import type { Stretch } from '../../evidence/billing/conservation.ts'
import { type BalanceHistory, effects } from '../../evidence/billing/history.ts'
import { mayBeMoved, otherCause } from '../../evidence/other-cause.ts'
import { fail, inconclusive, notObserved, pass, passed, type Verdict } from '../../verdict.ts'
import { type Known, knownBalances, mostAtFirst } from './known-balance.ts'

const isRefused = ({ reading: { history }, row }: Known) => history.insufficient[row] === 1
const isServed = ({ reading: { history }, row }: Known) => history.effect[row] === effects.charge

/** Stretches that show what their successes took: nothing else moved the balance, which covered them. */
function clearStretches({ conservation }: BalanceReading, contract: Contract): readonly Stretch[] {
  const { stretches, balance } = conservation
  return stretches.filter(
    (stretch, at) =>
      stretch.charges > 0 &&
      stretch.ambiguous === 0 &&
      stretch.taken >= 0 &&
      balance[at]! >= stretch.sure &&
      !mayBeMoved(contract, stretch),
  )
}

/** Whether a success of a model was charged in a stretch: called after its first value, up to its last one. */
const isChargedIn = ({ from, to }: Stretch, { effect, model }: BalanceHistory, of: number) =>
  model
    .subarray(from + 1, to + 1)
    .some((each, at) => each === of && effect[from + 1 + at] === effects.charge)

/**
 * Whether requests that the balance covered took less, or more, than their price: it may then cover more, or fewer. Where stretches
 * have requests of the model of a row, only these count.
 */
function tookAnother(
  which: 'less' | 'more',
  reading: BalanceReading,
  contract: Contract,
  row?: number,
): boolean {
  const { history } = reading
  const clear = clearStretches(reading, contract)
  const ofModel =
    row === undefined
      ? clear
      : clear.filter((stretch) => isChargedIn(stretch, history, history.model[row]!))
  return (ofModel.length > 0 ? ofModel : clear).some(({ taken, sure }) =>
    which === 'less' ? taken < sure : taken > sure,
  )
}

const otherPrice = (which: 'less' | 'more') =>
  `requests that the balance covered took ${which} than their price (BILL-01 to BILL-04, BILL-10), so what it covers at its end is not known`

const takesPoor = 'an account whose balance is known and below the price of a request'

/** `403`, or what else the contract has for want of credits. */
function refusalOf(contract: Contract): string {
  const statuses = statusesForCredits(contract)
  return statuses.length === 0 ? 'a refusal' : statuses.join(' or ')
}

export const bill13 = billingRule({
  id: 'BILL-13',
  title: 'A request that the balance does not cover is refused as insufficient credits',
  section: '§7.1, §8.4',
  needs: ['active', 'quiescence'],
  explain: `Looks at requests at a known balance below their price: they must not be served. A 429,
400 or 401 may come first (gap G-26) and decides nothing, nor does a 403 whose error does not name
insufficient credits (§7.1: or permissions). Credits that abandoned requests may still
hold and return (gaps G-13, G-14) count as available. If credits were added or may have expired before
the next idle value, nothing is decided. If requests of its model that the balance covered took less than their price, it is inconclusive.`,
  decideBy(readings, { contract }) {
    const poor = knownBalances(readings, contract).filter(({ atMost, cost }) => atMost < cost)
    const judged = poor.filter((known) => isRefused(known) || isServed(known))
    const allServed = judged.filter(isServed)
    if (judged.length === 0) return notObserved(takesPoor)
    if (allServed.length === 0) return pass(judged.length)
    const served = allServed.find(
      ({ reading, row }) => !tookAnother('less', reading, contract, row),
    )
    if (served === undefined) return inconclusive(judged.length, otherPrice('less'))
    return fail(judged.length, {
      expected: `${refusalOf(contract)} for a request of ${credits(served.cost)} at a balance of ${served.atMost}`,
      observed: 'a success',
      witnesses: [witnessOf(served.reading, served.row, `served at a balance of ${served.atMost}`)],
    })
  },
})

export const bill14 = billingRule({
  id: 'BILL-14',
  title: 'The last credit can be spent: nothing is refused that the balance covers',
  section: '§8.4',
  needs: ['active', 'quiescence'],
  explain: `Looks at requests at a known balance of at least their price: a 403 for insufficient
credits is wrong there. A 403 counts only if its error names insufficient credits; one for permissions (§7.1), or
without a readable body, decides nothing. Credits that abandoned requests (gap G-14) or other requests in flight
may take first do not count as available. If credits were added or may have expired before the
next idle value, nothing is decided. Only requests at the very end of a balance decide this rule. If requests of its model that the balance covered took more
than their price, it is inconclusive.`,
  decideBy(readings, { contract }): Verdict {
    const known = knownBalances(readings, contract).filter(({ atLeast, cost }) => atLeast >= cost)
    const allRefused = known.filter(isRefused)
    const refused = allRefused.find(
      ({ reading, row }) => !tookAnother('more', reading, contract, row),
    )
    const last = known.filter((each) => isServed(each) && each.atLeast - each.cost < each.cost)
    if (refused !== undefined)
      return fail(known.length, {
        expected: `a request of ${credits(refused.cost)} served at a balance of ${refused.atLeast}`,
        observed: 'refused',
        witnesses: [
          witnessOf(refused.reading, refused.row, `refused at a balance of ${refused.atLeast}`),
        ],
      })
    if (allRefused.length > 0) return inconclusive(known.length, otherPrice('more'))
    return passed(last.length, 'an account spent to its last credit, one request at a time')
  },
})

export const bill15 = billingRule({
  id: 'BILL-15',
  title: 'A balance is never overdrawn, however many requests come at once',
  section: '§8.4',
  severity: 'derived',
  needs: ['active'],
  isOfConcurrency: true,
  explain: `The successes after an idle value must not cost more than that balance plus the credits added since,
and no value may be below zero. It passes only if a burst reached the end of a balance: successes in flight together and
a refusal for insufficient credits. If requests that the balance covered took less than their price, it is inconclusive.`,
  decideBy(readings, { contract }): Verdict {
    let observations = 0
    let open: Verdict | null = null
    for (const reading of readings) {
      const { history, conservation } = reading
      const { effect, costCredits, value, insufficient, callUs, readUs, endUs, size } = history
      for (let row = 0; row < size; row++) {
        const shown = value[row]! - (history.spentOnReads?.[row] ?? 0)
        if (shown < 0 && effect[row] !== effects.failure)
          return overdrawn(reading, row, `a balance of ${shown}`)
      }
      const [first] = conservation.idle
      if (first === undefined) continue
      let [spent, refused, last, busyUntil, together] = [0, 0, first, -Infinity, 0]
      // A package bought meanwhile would raise the spendable credits.
      const risen = conservation.stretches.some((stretch) => {
        const excess = stretch.excess
        if (stretch.taken < -1) return true
        return excess < 0 && otherCause(contract, stretch, excess) !== null
      })
      for (let row = first + 1; row < size; row++) {
        if (insufficient[row] === 1) refused++
        if (effect[row] !== effects.charge) continue
        spent += costCredits[row]!
        last = row
        if (callUs[row]! < busyUntil) together++
        busyUntil = Math.max(busyUntil, endUs[row]!)
      }
      const received = reading.gifts.filter(({ row }) => readUs[row]! > readUs[first]!)
      const had = received.reduce((sum, { credits }) => sum + credits, mostAtFirst(reading))
      if (spent > had && !risen && tookAnother('less', reading, contract)) {
        open = inconclusive(Math.max(observations, 1), otherPrice('less'))
        continue
      }
      if (spent > had && !risen)
        return overdrawn(reading, last, `successes of ${credits(spent)} from a balance of ${had}`)
      // Something else raised the balance.
      if (spent > had) continue
      if (refused > 0 && together > 0) observations += together
    }
    return (
      open ?? passed(observations, 'a burst of 8 to 64 requests on an account with fewer credits')
    )

    function overdrawn(reading: BalanceReading, row: number, observed: string): Verdict {
      return fail(Math.max(observations, 1), {
        expected: `account ${reading.history.account}: successes up to the balance, then ${refusalOf(contract)}`,
        observed,
        witnesses: [witnessOf(reading, row, observed)],
      })
    }
  },
})
