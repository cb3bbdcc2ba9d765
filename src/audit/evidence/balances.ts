import type { PromiseName } from '../../contract/promises.ts'
import { type Evidence, hasPromises, type Rule, whenPromised } from '../rule.ts'
import { inconclusive, notObserved, pass, type Verdict, type Witness } from '../verdict.ts'
import { knownPolicy } from './billing/abandoned/known-policy.ts'
import type { BalanceReading } from './billing/balance-reading.ts'
import { giftsOf, sumsOf } from './billing/gifts.ts'
import { loadHistories } from './billing/load.ts'
import { type OpenPrices, withoutOpenPrices } from './billing/open-prices.ts'
import { chosenPrices, type PricedReadings } from './billing/price-choice.ts'
import type { PricedEvidence } from './billing/price-table.ts'
import { oncePerEvidence } from './once.ts'

const pricedReadingsOf = oncePerEvidence(readPriced)

async function readPriced(evidence: PricedEvidence): Promise<PricedReadings> {
  const giftSizes = sumsOf(giftsOf(evidence.contract))
  const histories = await loadHistories(evidence)
  const { prices, readings } = chosenPrices(
    await withoutOpenPrices(evidence, histories),
    giftSizes,
    knownPolicy(evidence.profile),
  )
  return { prices, readings: oneSettlement(readings) }
}

/** Prices that the specification leaves open, as far as the balances reveal them. */
export const openPricesOf = async (evidence: PricedEvidence): Promise<OpenPrices> =>
  (await pricedReadingsOf(evidence)).prices

/** The balance readings of the audited runs, shared by all rules. */
export const readingsOf = async (evidence: PricedEvidence): Promise<readonly BalanceReading[]> =>
  (await pricedReadingsOf(evidence)).readings

/** A service that settles late does so for every account: if one reading proves it, early values in others are not wrong. */
function oneSettlement(readings: readonly BalanceReading[]): readonly BalanceReading[] {
  const settleUs = readings.reduce(
    (longest, { fits, settleUs, doubt }) =>
      fits === 'late' && doubt === null ? Math.max(longest, settleUs) : longest,
    0,
  )
  if (settleUs === 0) return readings
  return readings.map((reading) =>
    reading.fits === 'exact' || reading.fits === 'late'
      ? reading
      : { ...reading, fits: 'late' as const, settleUs },
  )
}

export const takesCredits =
  'a service that shows its balance, in X-Credits-Remaining or at the credits endpoint'

/** A rule about credits, decided by balance readings. */
export interface BillingRule<P extends PromiseName = never> extends Rule {
  decideBy(
    readings: readonly BalanceReading[],
    evidence: Evidence<P | Prices>,
  ): Promise<Verdict> | Verdict
}

type Prices = 'models.cost_credits'

async function prepareReadings(evidence: Evidence): Promise<void> {
  if (hasPromises(evidence, prices)) await readingsOf(evidence)
}

const prices = ['models.cost_credits'] as const

/** Without any balance value, the verdict is "not observed". */
export function billingRule<const P extends PromiseName = never>({
  promised = [],
  ...rule
}: Omit<BillingRule<P>, 'decide' | 'promised'> & {
  readonly promised?: readonly P[]
}): BillingRule<P> {
  return {
    ...rule,
    prepare: prepareReadings,
    ...whenPromised([...prices, ...promised], async (evidence) => {
      const readings = (await readingsOf(evidence)).filter((reading) => reading.observations > 0)
      if (readings.length === 0) return notObserved(takesCredits)
      return rule.decideBy(readings, evidence)
    }),
  }
}

/** A pass, unless the values of an account also fit a wrong charge. */
export function passWithoutDoubt(
  readings: readonly BalanceReading[],
  observations: number,
  note: { readonly note?: string } = {},
): Verdict {
  const doubtful = readings.find(({ doubt }) => doubt !== null)
  return doubtful === undefined
    ? pass(observations, note)
    : inconclusive(observations, `account ${doubtful.history.account}: ${doubtful.doubt}`)
}

export function witnessOf(
  { history }: Pick<BalanceReading, 'history'>,
  row: number,
  shows: string,
): Witness {
  const runId = history.earlierRunIds?.[row] ?? history.runId
  return { runId, slot: history.slot[row]!, retry: history.retry[row]!, shows }
}

/** Other causes of missing credits than a wrong charge. */
export const othersLookSo = 'Traffic of others on this account would look the same.'

/** `a fall by 3`, `a rise by 1`. */
export const movedBy = (taken: number): string =>
  taken < 0 ? `a rise by ${-taken}` : `a fall by ${taken}`

/** `1 credit`, `2 credits`. */
export const credits = (count: number): string =>
  `${count} ${Math.abs(count) === 1 ? 'credit' : 'credits'}`

/** `1 success`, `3 successes`. */
export const successes = (count: number): string =>
  count === 1 ? '1 success' : `${count} successes`
