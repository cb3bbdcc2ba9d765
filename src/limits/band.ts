import type { Band, Contract, Window } from '../contract/contract.ts'
import { windows } from '../contract/contract.ts'
import type { Bracket } from './balance.ts'

/** A cell of the rate-limit table: the band and the window that a limit value belongs to. */
export interface Cell {
  readonly band: Band
  readonly window: Window
}

interface Named {
  readonly cells: readonly Cell[]
  readonly bands: readonly Band[]
}

const namedBy = new WeakMap<Contract, Map<number, Named>>()
const nothing: Named = { cells: [], bands: [] }

/** The table read from its values to its rows, once for each contract. */
function named(contract: Contract, limit: number): Named {
  let table = namedBy.get(contract)
  if (table === undefined) {
    const all = contract.bands.flatMap((band) => windows.map((window) => ({ band, window })))
    const byLimit = Map.groupBy(all, ({ band, window }) => band.requests[window])
    table = new Map(
      [...byLimit].map(([value, cells]) => [
        value,
        { cells, bands: cells.map(({ band }) => band) },
      ]),
    )
    namedBy.set(contract, table)
  }
  return table.get(limit) ?? nothing
}

/** Cells whose value this is: one at most where all values differ, none for a foreign value. */
export function cellsNamed(contract: Contract, limit: number): readonly Cell[] {
  return named(contract, limit).cells
}

/** The bands of those cells; the same list for the same value. */
export function bandsNamed(contract: Contract, limit: number): readonly Band[] {
  return named(contract, limit).bands
}

/** Bands whose rows a balance inside the bracket may meet; both at a shared edge. */
export function bandsWithin(contract: Contract, bracket: Bracket): readonly Band[] {
  return contract.bands.filter((band) => touches(band, bracket))
}

/** Whether a balance inside the bracket may meet the band's row. */
export function touches(band: Band, bracket: Bracket): boolean {
  return bracket.high >= band.minBalance && (band.maxBalance ?? Infinity) >= bracket.low
}

/** The shared edges of neighbouring bands, lowest first: the balance at which the upper begins. */
export function edgesOf(
  contract: Contract,
): readonly { readonly lower: Band; readonly upper: Band }[] {
  const rising = [...contract.bands].sort((a, b) => a.minBalance - b.minBalance)
  return rising.slice(1).map((upper, index) => ({ lower: rising[index]!, upper }))
}
