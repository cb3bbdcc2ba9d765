import type { HeaderMeaning } from './header-meaning.ts'
import { type BalanceHistory, effects } from './history.ts'
import type { Operations } from './operations.ts'

/** The history as operations of tier 3; `placeStreams` if streams' values show the balance at their own charge. */
export function intervalOperations(
  history: BalanceHistory,
  meaning: HeaderMeaning,
  { placeStreams }: { readonly placeStreams: boolean },
): Operations {
  const { size, callUs, readUs, endUs, effect, costCredits, value, streamed, settlesByUs } = history
  const untilUs = new Float64Array(size)
  const costs = new Float64Array(size)
  const after = new Float64Array(size).fill(Number.NaN)
  const certain = new Uint8Array(size)
  for (let row = 0; row < size; row++) {
    const ownCharge = meaning[streamed[row] === 1 ? 'stream' : 'plain']
    untilUs[row] = endUs[row]!
    switch (effect[row]) {
      case effects.charge:
        costs[row] = costCredits[row]!
        certain[row] = 1
        if (Number.isNaN(value[row]!) || (streamed[row] === 1 && !placeStreams)) break
        untilUs[row] = readUs[row]!
        after[row] = ownCharge === 'after' ? value[row]! : value[row]! - costCredits[row]!
        break
      case effects.ambiguous:
        costs[row] = costCredits[row]!
        untilUs[row] = settlesByUs[row]!
        break
      default:
        if (Number.isNaN(value[row]!)) break
        certain[row] = 1
        untilUs[row] = readUs[row]!
        after[row] = value[row]!
    }
  }
  return { size, callUs, untilUs, costCredits: costs, after, certain }
}
