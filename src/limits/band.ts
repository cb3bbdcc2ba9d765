import {
  type Band,
  type Contract,
  type LimitWindow,
  lengthUs,
  limitOf,
  mayBeOfBand,
  windowsOf,
} from '../contract/contract.ts'
import { largest } from '../user/extremes.ts'
import { onceForObject } from '../user/once.ts'
import type { Bracket } from './balance.ts'

/** A cell of the rate-limit table. */
export interface Cell {
  readonly band: Band
  readonly window: LimitWindow
}

interface Named {
  readonly cells: readonly Cell[]
  readonly bands: readonly Band[]
}

const nothing: Named = { cells: [], bands: [] }

/** Cells and bands by their limit. */
const tableOf = onceForObject(({ bands = [] }: Contract): ReadonlyMap<number, Named> => {
  const all = bands.flatMap((band) => windowsOf(band).map((window) => ({ band, window })))
  const byLimit = Map.groupBy(all, ({ band, window }) => limitOf(band, window))
  return new Map(
    [...byLimit].map(([limit, cells]) => [limit, { cells, bands: cells.map(({ band }) => band) }]),
  )
})

const named = (contract: Contract, limit: number): Named => tableOf(contract).get(limit) ?? nothing

/** Cells with this limit: at most one if all limits differ, none for a limit that is not in the table. */
export const cellsNamed = (contract: Contract, limit: number): readonly Cell[] =>
  named(contract, limit).cells

/** The window of which this is a limit; null for a limit that is not in the table, or that is of several windows. */
export function windowNamed(contract: Contract, limit: number): LimitWindow | null {
  const [first, ...others] = cellsNamed(contract, limit)
  return first === undefined || others.some(({ window }) => window !== first.window)
    ? null
    : first.window
}

/** The longest window with this limit, in microseconds; null for a limit that is not in the table. */
export function longestNamedUs(contract: Contract, limit: number): number | null {
  const cells = cellsNamed(contract, limit)
  return cells.length === 0 ? null : largest(cells.map(({ window }) => lengthUs(window)))
}

/** The bands of those cells; the same array for the same limit. */
export const bandsNamed = (contract: Contract, limit: number): readonly Band[] =>
  named(contract, limit).bands

/** Bands that a balance inside the bracket may belong to; both at a shared edge. */
export const bandsWithin = (contract: Contract, bracket: Bracket): readonly Band[] =>
  (contract.bands ?? []).filter((band) => mayBeOfBand(band, bracket))

/** Pairs of neighbouring bands, lowest first. */
export function edgesOf(
  contract: Contract,
): readonly { readonly lower: Band; readonly upper: Band }[] {
  const rising = [...(contract.bands ?? [])].sort((a, b) => a.minBalance - b.minBalance)
  return rising.slice(1).map((upper, index) => ({ lower: rising[index]!, upper }))
}
