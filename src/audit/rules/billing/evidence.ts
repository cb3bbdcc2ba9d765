import { sumsOf } from '../../billing/gifts.ts'
import { type LedgerReading, readLedger } from '../../billing/ledger.ts'
import { loadHistories } from '../../billing/load.ts'
import { type OpenPrices, withoutOpenPrices } from '../../billing/open-prices.ts'
import type { Evidence, Rule } from '../../rule.ts'
import type { Verdict, Witness } from '../../verdict.ts'

const readings = new WeakMap<Evidence, Promise<readonly LedgerReading[]>>()
const settled = new WeakMap<Evidence, ReturnType<typeof withoutOpenPrices>>()

function historiesOf(evidence: Evidence): ReturnType<typeof withoutOpenPrices> {
  const known = settled.get(evidence)
  if (known !== undefined) return known
  const loading = loadHistories(evidence).then((each) => withoutOpenPrices(evidence, each))
  settled.set(evidence, loading)
  return loading
}

/** What the service charges where the specification says nothing, as far as its values tell. */
export async function openPricesOf(evidence: Evidence): Promise<OpenPrices> {
  return (await historiesOf(evidence)).prices
}

/** The ledgers of the audited runs, read once for all rules. */
export function ledgersOf(evidence: Evidence): Promise<readonly LedgerReading[]> {
  const known = readings.get(evidence)
  if (known !== undefined) return known
  const { packages, grants } = evidence.contract
  const gifts = sumsOf([...packages.map((each) => each.credits), ...Object.values(grants)])
  const loading = historiesOf(evidence).then(({ histories }) =>
    oneSettlement(histories.map((history) => readLedger(history, gifts))),
  )
  readings.set(evidence, loading)
  return loading
}

/**
 * A service that settles late does so for every account: where one ledger proves it, nobody is
 * blamed by what others show a moment too early.
 */
function oneSettlement(ledgers: readonly LedgerReading[]): readonly LedgerReading[] {
  const settleUs = Math.max(
    0,
    ...ledgers.map((ledger) => (ledger.fits === 'late' ? ledger.settleUs : 0)),
  )
  if (settleUs === 0) return ledgers
  return ledgers.map((ledger) =>
    ledger.fits === 'exact' || ledger.fits === 'late'
      ? ledger
      : { ...ledger, fits: 'late' as const, settleUs },
  )
}

export const takesCredits =
  'a service that tells its balance, in X-Credits-Remaining or at the credits endpoint'

/** A rule about credits: where no value of a balance was ever seen, nothing was observed. */
export function billingRule(
  rule: Omit<Rule, 'decide'> & {
    decide(ledgers: readonly LedgerReading[], evidence: Evidence): Promise<Verdict> | Verdict
  },
): Rule {
  return {
    ...rule,
    prepare: ledgersOf,
    async decide(evidence) {
      const ledgers = (await ledgersOf(evidence)).filter((ledger) => ledger.observations > 0)
      if (ledgers.length === 0) return { verdict: 'not-observed', takes: takesCredits }
      return rule.decide(ledgers, evidence)
    },
  }
}

/** A row of a history as a witness. */
export function witnessOf({ history }: LedgerReading, row: number, shows: string): Witness {
  const runId = history.earlierRunIds?.[row] ?? history.runId
  return { runId, slot: history.slot[row]!, retry: history.retry[row]!, shows }
}

/** `1 credit`, `2 credits`. */
export function credits(count: number): string {
  return `${count} ${Math.abs(count) === 1 ? 'credit' : 'credits'}`
}

/** `1 success`, `3 successes`. */
export function successes(count: number): string {
  return count === 1 ? '1 success' : `${count} successes`
}
