import { sumsOf } from '../billing/gifts.ts'
import type { LedgerReading } from '../billing/ledger.ts'
import { loadHistories } from '../billing/load.ts'
import { type OpenPrices, withoutOpenPrices } from '../billing/open-prices.ts'
import { chosenPrices, type PricedLedgers } from '../billing/price-choice.ts'
import type { Evidence, Rule } from '../rule.ts'
import type { Verdict, Witness } from '../verdict.ts'

const readings = new WeakMap<Evidence, Promise<PricedLedgers>>()

/** The ledgers of the audited runs, read once for all rules. */
function pricedLedgersOf(evidence: Evidence): Promise<PricedLedgers> {
  const known = readings.get(evidence)
  if (known !== undefined) return known
  const loading = readPriced(evidence)
  readings.set(evidence, loading)
  return loading
}

async function readPriced(evidence: Evidence): Promise<PricedLedgers> {
  const { packages, grants } = evidence.contract
  const gifts = sumsOf([...packages.map((each) => each.credits), ...Object.values(grants)])
  const histories = await loadHistories(evidence)
  const { prices, ledgers } = chosenPrices(await withoutOpenPrices(evidence, histories), gifts)
  return { prices, ledgers: oneSettlement(ledgers) }
}

/** What the service charges where the specification says nothing, as far as its values tell. */
export async function openPricesOf(evidence: Evidence): Promise<OpenPrices> {
  return (await pricedLedgersOf(evidence)).prices
}

export async function ledgersOf(evidence: Evidence): Promise<readonly LedgerReading[]> {
  return (await pricedLedgersOf(evidence)).ledgers
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

/** A pass, unless the values of an account fit only by what a wrong charge would look like, too. */
export function passWithoutDoubt(
  ledgers: readonly LedgerReading[],
  observations: number,
  note: { readonly note?: string } = {},
): Verdict {
  const doubtful = ledgers.find(({ doubt }) => doubt !== null)
  return doubtful === undefined
    ? { verdict: 'pass', observations, ...note }
    : {
        verdict: 'inconclusive',
        observations,
        why: `account ${doubtful.history.account}: ${doubtful.doubt}`,
      }
}

/** A row of a history as a witness. */
export function witnessOf(
  { history }: Pick<LedgerReading, 'history'>,
  row: number,
  shows: string,
): Witness {
  const runId = history.earlierRunIds?.[row] ?? history.runId
  return { runId, slot: history.slot[row]!, retry: history.retry[row]!, shows }
}

/** What credits that are missing may be besides a wrong charge. */
export const othersLookSo = 'Traffic of others on this account would look the same.'

/** `a fall by 3`, `a rise by 1`. */
export function movedBy(taken: number): string {
  return taken < 0 ? `a rise by ${-taken}` : `a fall by ${taken}`
}

/** `1 credit`, `2 credits`. */
export function credits(count: number): string {
  return `${count} ${Math.abs(count) === 1 ? 'credit' : 'credits'}`
}

/** `1 success`, `3 successes`. */
export function successes(count: number): string {
  return count === 1 ? '1 success' : `${count} successes`
}
