import type { Band, Contract, Window } from '../contract/contract.ts'
import { windows } from '../contract/contract.ts'
import type { Bracket } from './balance.ts'

/** A cell of the rate-limit table: the band and the window that a limit value belongs to. */
export interface Cell {
  readonly band: Band
  readonly window: Window
}

const cells = new WeakMap<Contract, Map<number, readonly Cell[]>>()

/** Cells whose value this is: one at most where all values differ, none for a foreign value. */
export function cellsNamed(contract: Contract, limit: number): readonly Cell[] {
  let named = cells.get(contract)
  if (named === undefined) {
    const all = contract.bands.flatMap((band) => windows.map((window) => ({ band, window })))
    named = Map.groupBy(all, ({ band, window }) => band.requests[window])
    cells.set(contract, named)
  }
  return named.get(limit) ?? []
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
