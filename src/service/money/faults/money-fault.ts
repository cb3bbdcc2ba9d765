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

/** @param letters S, L and B: where it shows */
export function moneyFault(
  ids: string,
  name: string,
  letters: string,
  does: string,
  distort: MoneyFault['distort'],
  probability = 1,
): MoneyFault {
  return { name, ids: ids.split(' '), does, where: placesOf(letters), probability, distort }
}

/** A fault that charges another bill. Null gives no occasion. */
export const billing =
  (bill: (making: Making) => Bill | null): MoneyFault['distort'] =>
  (charge, making, where) => {
    const wrong = bill(making)
    return wrong === null ? null : costing(charge, wrong, where)
  }

/** A fault that charges other counts. */
export const counting = (change: (counts: Counts, making: Making) => Counts | null) =>
  billing((making) => {
    const counts = change(making.metered.counts, making)
    return counts === null ? null : making.billOf(counts)
  })

/** A fault that charges other counts and reports them, too. */
export const misreporting =
  (
    change: (counts: Counts, making: Making) => Counts | null,
    charged = change,
  ): MoneyFault['distort'] =>
  (charge, making, where) => {
    const shown = change(making.metered.counts, making)
    const counts = charged(making.metered.counts, making)
    if (shown === null || counts === null) return null
    return { ...costing(charge, making.billOf(counts), where), shown }
  }

/** A fault that prices by bent terms. */
export const pricing = (bends: (making: Making) => Bends | null) =>
  billing((making) => {
    const bent = bends(making)
    return bent === null ? null : making.billOf(making.metered.counts, bent)
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
