import { shuffled } from '../../user/random.ts'
import { percentileOf } from '../percentile.ts'

/** Fewest values of a history: with fewer, a step cannot be told from chance. */
export const fewestOfHistory = 12
/** Fewest values on each side of a step. */
const fewestOfSide = 3
const permutations = 999
/** Each new build looks again, so the chance of a false alarm is low. */
const alarmChance = 0.01

/** A place in a history at which a figure changed. */
export interface HistoryStep {
  /** Place of the first value after it. */
  readonly at: number
  /** Medians of the values before it and from it on, up to the next steps. */
  readonly before: number
  readonly after: number
  /** Share of shuffled histories with as large a step, at least 0.001. */
  readonly chance: number
}

/**
 * The places at which a series of figures, one of each build, steps: Pettitt's rank statistic (1979) divided by
 * sqrt(k (n - k)), its chance by permutations, and the same again on both sides of each step. Outliers count as ranks only.
 *
 * @param values in the order of the builds
 * @param random uniform in [0, 1), seeded by the caller
 */
export function stepsOf(values: readonly number[], random: () => number): readonly HistoryStep[] {
  const places = judgedAgain(values, segmented(values, 0, random), random)
  return places.map(({ at, chance }, nth) => ({
    at,
    chance,
    before: medianOf(values.slice(places[nth - 1]?.at ?? 0, at)),
    after: medianOf(values.slice(at, places[nth + 1]?.at)),
  }))
}

interface Place {
  readonly at: number
  readonly chance: number
}

function segmented(
  values: readonly number[],
  from: number,
  random: () => number,
): readonly Place[] {
  if (values.length < fewestOfHistory) return []
  const { after, chance } = clearestStep(values, random)
  if (chance > alarmChance) return []
  return [
    ...segmented(values.slice(0, after), from, random),
    { at: from + after, chance },
    ...segmented(values.slice(after), from + after, random),
  ]
}

/** The most likely step of a series, and its chance by permutations. */
function clearestStep(values: readonly number[], random: () => number) {
  const { size, after } = largestStep(values)
  let order = values
  let asLarge = 1
  for (let nth = 0; nth < permutations; nth++) {
    order = shuffled(order, random)
    if (largestStep(order).size >= size) asLarge++
  }
  return { after, chance: asLarge / (permutations + 1) }
}

/**
 * Judges each step once more, between its neighbours. The first place of a series with several steps may lie between two
 * of them, where nothing changed; once they are found, it is no step of the level that it is in.
 */
function judgedAgain(
  values: readonly number[],
  places: readonly Place[],
  random: () => number,
): readonly Place[] {
  if (places.length < 2) return places
  let moved = places
  for (const [nth, { at }] of places.entries()) {
    const from = moved[nth - 1]?.at ?? 0
    const between = values.slice(from, moved[nth + 1]?.at)
    const again = between.length < fewestOfHistory ? null : clearestStep(between, random)
    if (again === null || again.chance > alarmChance)
      return judgedAgain(values, moved.toSpliced(nth, 1), random)
    if (from + again.after === at) continue
    moved = moved.with(nth, { at: from + again.after, chance: again.chance })
  }
  return moved
}

function largestStep(values: readonly number[]): { readonly size: number; readonly after: number } {
  const n = values.length
  // Twice the middle rank of each value, so that ties stay whole numbers.
  const sorted = values.toSorted((one, other) => one - other)
  const rankOf = new Map<number, number>()
  for (let from = 0; from < n; ) {
    let until = from
    while (until < n && sorted[until] === sorted[from]) until++
    rankOf.set(sorted[from]!, from + until + 1)
    from = until
  }
  let [sum, best] = [0, { size: 0, after: fewestOfSide }]
  for (let k = 1; k <= n - fewestOfSide; k++) {
    sum += rankOf.get(values[k - 1]!)! - (n + 1)
    if (k < fewestOfSide) continue
    const size = Math.abs(sum) / Math.sqrt(k * (n - k))
    if (size > best.size) best = { size, after: k }
  }
  return best
}

const medianOf = (values: readonly number[]) => percentileOf(Float64Array.from(values).sort(), 0.5)!
