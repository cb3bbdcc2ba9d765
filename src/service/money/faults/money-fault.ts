import { lookup } from '../../../user/lookup.ts'
import { userError } from '../../../user/user-error.ts'
import { type NamedFault, readFault, strikesOf } from '../../faults/named-fault.ts'
import type { Bends, Bill } from '../bill.ts'
import { type Charge, costing, type Making, type Place, places } from '../charge.ts'
import { type Counts, movedTo } from '../metered.ts'

/** How a service refuses requests by money, and what it holds back. An honest one checks and holds. */
export type Enforcement = 'honest' | 'overdraft' | 'counter-doubled' | 'budget-ignored'

/** A fault of billing in money that somebody reported in public. */
export interface MoneyFault extends NamedFault {
  /** Rows of the list of public faults, F01 to F54, or reports beside it. */
  readonly ids: readonly string[]
  /** Where it shows unless it is told otherwise. */
  readonly where: readonly Place[]
  /** Null if the request gives no occasion. */
  distort(charge: Charge, making: Making, where: readonly Place[]): Charge | null
  readonly enforcement?: Enforcement
  /** Whether it strikes after a complete answer, once its client closes the connection. */
  readonly isLate?: boolean
}

type Where = 'S' | 'L' | 'B'
const placeOf: Readonly<Record<string, Place>> = lookup({ S: 'stated', L: 'logged', B: 'balance' })
const placesOf = (letters: string): readonly Place[] =>
  [...letters].map((letter) => placeOf[letter as Where]!)

export const isAborted = ({ metered }: Making) => metered.outcome === 'abort'

/** Begins a fault. @param letters S, L and B: where it shows */
export const moneyFault = (ids: string, name: string, letters: string, probability = 1) => ({
  does(does: string) {
    const fault = { name, ids: ids.split(' '), does, where: placesOf(letters), probability }
    const distorts = (distort: Distort): MoneyFault => ({ ...fault, distort })
    return {
      distorts,
      /** Charges another bill. */
      bills: (bill: (making: Making) => Bill | null) => distorts(billing(bill)),
      /** Charges other counts. */
      counts: (change: Recount) => distorts(counting(change)),
      /** Charges other counts, and reports them too. */
      misreports: (change: Recount) =>
        distorts((charge, making, where) => {
          const shown = change(making.metered.counts, making)
          return shown && { ...costing(charge, making.billOf(shown), where), shown }
        }),
      /** Prices by bent terms. */
      prices: (bends: (making: Making) => Bends | null) => distorts(pricing(bends)),
      /** Refuses otherwise; its charges are right. */
      enforces: (enforcement: Enforcement): MoneyFault => ({
        ...distorts((charge) => charge),
        enforcement,
      }),
    }
  },
})

type Distort = MoneyFault['distort']
type Recount = (counts: Counts, making: Making) => Counts | null

const billing =
  (bill: (making: Making) => Bill | null): Distort =>
  (charge, making, where) => {
    const wrong = bill(making)
    return wrong && costing(charge, wrong, where)
  }

const counting = (change: Recount) =>
  billing((making) => {
    const counts = change(making.metered.counts, making)
    return counts && making.billOf(counts)
  })

export const pricing = (bends: (making: Making) => Bends | null) =>
  billing((making) => {
    const bent = bends(making)
    return bent && making.billOf(making.metered.counts, bent)
  })

export const free = (making: Making): Bill => making.billOf({}, { price: () => ({}) })

export const readsOf = (counts: Counts) => counts.cache_read ?? 0

/** Cached tokens as plain input; null if there are none. */
export const cachedAsInput = (counts: Counts) =>
  readsOf(counts) === 0 ? null : movedTo(counts, 'cache_read', 'input_uncached')

/** A second row, and a second posting. */
export function another(
  charge: Charge,
  row: Charge['rows'][number],
  where: readonly string[],
): Charge {
  return {
    ...charge,
    ...(where.includes('logged') ? { rows: [...charge.rows, row] } : {}),
    ...(where.includes('balance') ? { postings: [...charge.postings, row.cost] } : {}),
  }
}

/** A fault that is switched on. */
export interface ActiveMoneyFault {
  readonly fault: MoneyFault
  readonly where: readonly Place[]
  readonly strikes: ReturnType<typeof strikesOf>
}

/** Reads a fault by name, which may say where it shows: `stream-free@stated+balance=0.02`. @throws UserError */
export function parseMoneyFault(text: string, faults: readonly MoneyFault[]): ActiveMoneyFault {
  const { fault, marked, befalls } = readFault(text, faults, '@', ' of money')
  const where = marked === undefined ? fault.where : marked.split('+').map(placeNamed)
  return { fault, where, strikes: strikesOf(befalls) }
}

function placeNamed(name: string): Place {
  const place = places.find((each) => each === name)
  if (place !== undefined) return place
  throw userError.service(
    `--fault …@: expected ${places.join(', ')}, or several with +; got "${name}"`,
  )
}
