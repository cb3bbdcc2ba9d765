import { largest, smallest } from '../../../user/extremes.ts'
import type { Settled } from './abandoned/by-totals.ts'
import { sum } from './charge-intervals.ts'
import type { HeaderMeaning } from './header-meaning.ts'
import { type BalanceHistory, effects } from './history.ts'
import { likeliestFirst, neighbours, type Place, timesAlong } from './place.ts'
import { RunningSum } from './running-sum.ts'

/**
 * Where unexplained credits went within a stretch, if held credits of abandoned requests make the values inconsistent.
 *
 * The held credits are known except around the call and the abort. With them added, values in order should fall by
 * their own costs and by what the policy charges for abandoned requests. Any further fall is zero before the wrong
 * charge and its price after it, except for a few values when credits were held or returned. The likeliest place is
 * the step that fits most values.
 *
 *     requests, by their values           a     b     c     d     e
 *     the balance by their own costs      98    97    96    95    94
 *     their values, with what is held     98    97    94    93    92
 *     beyond: the further fall            0     0     2     2     2
 *                                                 ^ a step of 2: the place of the wrong charge
 */
export function placesOfStep(
  history: BalanceHistory,
  meaning: HeaderMeaning,
  { from, to, credits, charged }: Settled,
): readonly Place[] {
  const { callUs, readUs, endUs, effect, costCredits, value, streamed } = history
  const [rows, hidden, holding]: number[][] = [[], [], []]
  for (let row = from + 1; row < to; row++) {
    if (effect[row] === effects.charge && !Number.isNaN(value[row]!)) rows!.push(row)
    else if (effect[row] === effects.charge || charged.has(row)) hidden!.push(row)
    else if (effect[row] === effects.ambiguous) holding!.push(row)
  }
  const cost = (row: number) => costCredits[row]!
  const costBy = (of: readonly number[], timeUs: Float64Array) =>
    new RunningSum(Int32Array.from(of), (row) => timeUs[row]!, cost)
  const [held, given] = [costBy(holding!, callUs), costBy(holding!, endUs)]
  const after = (row: number) =>
    meaning[streamed[row] === 1 ? 'stream' : 'plain'] === 'after'
      ? value[row]!
      : value[row]! - cost(row)
  // Whether charges are taken about their calls or their ends shows in which runs along with the balance.
  const byValue = [...rows!].sort((a, b) => after(b) - after(a))
  const times = timesAlong(byValue, [callUs, readUs], sum)
  const gone = costBy(hidden!, times === callUs ? callUs : endUs)
  const owned = new Map(
    byValue.map((row) => [
      row,
      after(row) + held.upTo(times[row]!) - given.upTo(times[row]!) + gone.upTo(times[row]!),
    ]),
  )
  const order = [...rows!].sort((a, b) => owned.get(b)! - owned.get(a)! || times[a]! - times[b]!)
  const start = effect[from] === effects.charge ? after(from) : value[from]!
  let fallen = 0
  const beyond = order.map((row) => {
    fallen += cost(row)
    return start - owned.get(row)! - fallen
  })
  // What a step at each place costs: how far the values before are from zero, and those after from it.
  // That of the first place is left out of all: only differences count.
  let misfit = 0
  const misfits = [misfit]
  for (const each of beyond) {
    misfit += Math.abs(each) - Math.abs(each - credits)
    misfits.push(misfit)
  }
  const least = misfits.reduce((some, each) => Math.min(some, each), Infinity)
  const weights = misfits.map((each) => Math.exp((least - each) / credits))
  return likeliestFirst(
    misfits.map((_, at) => placeAt(at)),
    weights,
  ).slice(0, 64)

  function placeAt(at: number) {
    const [above, below] = [order[at - 1] ?? from, order[at] ?? to]
    const around = order
      .slice(Math.max(0, at - neighbours), at + neighbours)
      .map((row) => times[row]!)
    const fromUs = around.length === 0 ? callUs[from]! : smallest(around)
    const toUs = around.length === 0 ? callUs[to]! : largest(around)
    return { balanceGap: { above, below, credits, fromUs, toUs }, fromUs, toUs }
  }
}
