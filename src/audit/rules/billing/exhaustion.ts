import { effects } from '../../billing/history.ts'
import type { LedgerReading } from '../../billing/ledger.ts'
import type { Verdict } from '../../verdict.ts'
import { billingRule, credits, witnessOf } from './evidence.ts'

/**
 * A request whose balance before it is known, because nothing was in flight. Where the header of
 * the charge before it may show the balance before or after that charge (gap G-12), it lies between
 * two values.
 */
interface Known {
  readonly ledger: LedgerReading
  readonly row: number
  readonly atLeast: number
  readonly atMost: number
  readonly cost: number
}

/** Requests that came right after an idle value: the balance that each of them met. */
function knownBalances(ledgers: readonly LedgerReading[]): readonly Known[] {
  return ledgers.flatMap((ledger) => {
    const { history, conservation } = ledger
    if (ledger.fits === 'late') return []
    const { effect, costCredits, callUs, endUs } = history
    const known: Known[] = []
    for (const [at, idle] of conservation.idle.entries()) {
      // The next request that can move the balance; reads and 4xx before it do not.
      for (let row = idle + 1; row < history.size; row++) {
        if (callUs[row]! <= endUs[idle]!) continue
        if (costCredits[row]! > 0) {
          const onReads = history.spentOnReads?.[idle] ?? 0
          const balance = conservation.balance[at]! - onReads
          const [atLeast, atMost] =
            effect[idle] !== effects.charge || isSettled(ledger, idle)
              ? [balance, balance]
              : [
                  history.value[idle]! - onReads - costCredits[idle]!,
                  history.value[idle]! - onReads,
                ]
          known.push({ ledger, row, atLeast, atMost, cost: costCredits[row]! })
        }
        // A read that cost something has a value of its own, from which the next goes on.
        if (effect[row] !== effects.read || history.spentOnReads !== undefined) break
      }
    }
    return known
  })
}

/** Whether it is known which balance the header of this charge shows. */
function isSettled({ history, meanings }: LedgerReading, row: number): boolean {
  const kind = history.streamed[row] === 1 ? 'stream' : 'plain'
  return new Set(meanings.map((meaning) => meaning[kind])).size === 1
}

const isRefused = ({ ledger: { history }, row }: Known) =>
  history.effect[row] === effects.failure &&
  (history.status[row] === 403 || history.status[row] === 402)
const isServed = ({ ledger: { history }, row }: Known) => history.effect[row] === effects.charge

const takesPoor = 'an account whose balance is known and below the price of a request'

export const bill13 = billingRule({
  id: 'BILL-13',
  says: 'A request that the balance does not cover is refused as insufficient credits',
  section: '§7.1, §8.4',
  severity: 'must',
  needs: ['active', 'quiescence'],
  explain: `Looks at requests that met a known balance below their price: they must not be served. A 429,
400 or 401 may come first (gap G-26) and decides nothing.`,
  decide(ledgers) {
    const poor = knownBalances(ledgers).filter(({ atMost, cost }) => atMost < cost)
    const judged = poor.filter((known) => isRefused(known) || isServed(known))
    const served = judged.find(isServed)
    if (judged.length === 0) return { verdict: 'not-observed', takes: takesPoor }
    if (served === undefined) return { verdict: 'pass', observations: judged.length }
    return {
      verdict: 'fail',
      observations: judged.length,
      expected: `403 for a request of ${credits(served.cost)} at a balance of ${served.atMost}`,
      came: 'a success',
      witnesses: [witnessOf(served.ledger, served.row, `served at a balance of ${served.atMost}`)],
    }
  },
})

export const bill14 = billingRule({
  id: 'BILL-14',
  says: 'The last credit can be spent: nothing is refused that the balance covers',
  section: '§8.4',
  severity: 'must',
  needs: ['active', 'quiescence'],
  explain: `Looks at requests that met a known balance at or above their price: a 403 for insufficient
credits there is wrong. It is decided by requests at the very end of a balance.`,
  decide(ledgers): Verdict {
    const known = knownBalances(ledgers).filter(({ atLeast, cost }) => atLeast >= cost)
    const refused = known.find(isRefused)
    const last = known.filter((each) => isServed(each) && each.atLeast - each.cost < each.cost)
    if (refused !== undefined) {
      return {
        verdict: 'fail',
        observations: known.length,
        expected: `a request of ${credits(refused.cost)} served at a balance of ${refused.atLeast}`,
        came: 'refused',
        witnesses: [
          witnessOf(refused.ledger, refused.row, `refused at a balance of ${refused.atLeast}`),
        ],
      }
    }
    return last.length > 0
      ? { verdict: 'pass', observations: last.length }
      : {
          verdict: 'not-observed',
          takes: 'an account spent to its last credit, one request at a time',
        }
  },
})

export const bill15 = billingRule({
  id: 'BILL-15',
  says: 'A balance is never overdrawn, however many requests come at once',
  section: '§8.4',
  severity: 'derived',
  needs: ['active'],
  explain: `The successes after an idle value must not cost more than that balance, and no value may be
below zero. It passes only where a burst met the end of a balance: successes in flight together and
a refusal for insufficient credits.`,
  decide(ledgers): Verdict {
    let observations = 0
    for (const ledger of ledgers) {
      const { history, conservation } = ledger
      const { effect, costCredits, value, status, callUs, endUs, size } = history
      for (let row = 0; row < size; row++) {
        const shown = value[row]! - (history.spentOnReads?.[row] ?? 0)
        if (shown < 0 && effect[row] !== effects.failure) {
          return overdrawn(ledger, row, `a balance of ${shown}`)
        }
      }
      const [first] = conservation.idle
      if (first === undefined) continue
      let [spent, refused, last, busyUntil, together] = [0, 0, first, -Infinity, 0]
      // A package bought meanwhile would raise what can be spent.
      const risen = conservation.segments.some(({ taken }) => taken < -1)
      for (let row = first + 1; row < size; row++) {
        if (effect[row] === effects.failure && (status[row] === 403 || status[row] === 402))
          refused++
        if (effect[row] !== effects.charge) continue
        spent += costCredits[row]!
        last = row
        if (callUs[row]! < busyUntil) together++
        busyUntil = Math.max(busyUntil, endUs[row]!)
      }
      const had = conservation.balance[0]!
      if (spent > had && !risen) {
        return overdrawn(ledger, last, `successes of ${credits(spent)} from a balance of ${had}`)
      }
      if (refused > 0 && together > 0) observations += together
    }
    return observations > 0
      ? { verdict: 'pass', observations }
      : {
          verdict: 'not-observed',
          takes: 'a burst of 8 to 64 requests on an account with fewer credits',
        }

    function overdrawn(ledger: LedgerReading, row: number, came: string): Verdict {
      return {
        verdict: 'fail',
        observations: Math.max(observations, 1),
        expected: `account ${ledger.history.account}: successes up to the balance, then 403`,
        came,
        witnesses: [witnessOf(ledger, row, came)],
      }
    }
  },
})
