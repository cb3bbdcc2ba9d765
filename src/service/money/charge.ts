import type { PriceTerms } from '../../contract/prices.ts'
import type { Rational } from '../../money/rational.ts'
import { type Bends, type Bill, billFor } from './bill.ts'
import type { Counts, Metered } from './metered.ts'
import { nothing } from './sheet.ts'

/** Where a charge shows. */
export const places = ['stated', 'logged', 'balance'] as const
export type Place = (typeof places)[number]

/** A row of the service's own log. */
export interface LogRow {
  readonly cost: Rational
  readonly counts: Counts
  readonly bill: Bill
}

/** What one request costs, in each place where that shows. Honest charges agree in all of them. */
export interface Charge {
  /** The cost that the answer states. Null states none. */
  readonly stated: Rational | null
  readonly rows: readonly LogRow[]
  /** Sums taken from the balance, each on its own. A negative one is given back. */
  readonly postings: readonly Rational[]
  /** The usage that the answer reports. */
  readonly shown: Counts
}

/** A request whose charge is made: the honest bill, and what a fault may ask. */
export interface Making {
  readonly terms: PriceTerms
  readonly metered: Metered
  readonly bill: Bill
  /** What was held back for the request at its start. */
  readonly deposit: Rational
  /** The whole answer, of which an aborted request received a part. */
  readonly whole: Counts
  /** Tokens that the first event of a stream reports. */
  readonly atStart: number
  /** Whether the key sent the same body less than a second before, and got no answer. */
  readonly isResent: boolean
  /** The bill of other counts, or by bent terms. */
  billOf(counts: Counts, bends?: Bends): Bill
}

export function making(
  terms: PriceTerms,
  metered: Metered,
  more: Pick<Making, 'deposit' | 'whole' | 'atStart' | 'isResent'>,
): Making {
  return {
    ...more,
    terms,
    metered,
    bill: billFor(terms, metered),
    // A fault counts tokens twice, or not at all. The prompt is as long as it is.
    billOf: (counts, bends) =>
      billFor(terms, { ...metered, counts }, { tierCounts: metered.counts, ...bends }),
  }
}

export function honestCharge({ metered, bill }: Making): Charge {
  const { counts } = metered
  const isRefused = metered.outcome === 'refused' || metered.outcome === 'broken'
  return {
    stated: bill.cost,
    rows: isRefused && bill.cost === nothing ? [] : [{ cost: bill.cost, counts, bill }],
    postings: bill.cost.numerator === 0n ? [] : [bill.cost],
    shown: counts,
  }
}

/** The charge with another cost in some places. */
export function costing(charge: Charge, bill: Bill, where: readonly Place[]): Charge {
  const first = charge.rows[0]
  const row = { counts: first?.counts ?? charge.shown, bill, cost: bill.cost }
  return {
    ...charge,
    ...(where.includes('stated') ? { stated: bill.cost } : {}),
    ...(where.includes('logged') ? { rows: [row, ...charge.rows.slice(1)] } : {}),
    ...(where.includes('balance') ? { postings: [bill.cost, ...charge.postings.slice(1)] } : {}),
  }
}
