/** What each part of the benchmark exports: `(options: BenchOptions) => Promise<BenchResult>`. */
export interface BenchOptions {
  /** Fewer rounds and shorter ones: a check that it runs, not a figure to quote. */
  readonly quick: boolean
  /** Instead of a part's own number: a whole part takes minutes, and a machine is seldom so long quiet. */
  readonly rounds?: number
}

/** One measured figure over the rounds of a run. */
export interface Figure {
  readonly name: string
  readonly unit: string
  readonly median: number
  readonly min: number
  readonly max: number
  /** What the issue or the plan asks for, as text; empty for none. */
  readonly goal: string
  /** Null where there is no goal. */
  readonly met: boolean | null
}

/** One part (`chat`, `streams`, `lag`, `rows`, `truth`, `start`): a table, and ratios against peers. */
export interface BenchResult {
  readonly part: string
  readonly figures: readonly Figure[]
  /** Ours divided by the peer's in the same round, medians: `{ wrk: 0.9, autocannon: 2.1 }`. */
  readonly ratios: Readonly<Record<string, number>>
  /** What could not be measured here and how it could: a peer that is not installed. */
  readonly notes: readonly string[]
}

export function figure(
  name: string,
  unit: string,
  samples: readonly number[],
  goal: { readonly text: string; readonly meets: (median: number) => boolean } | null = null,
): Figure {
  const sorted = [...samples].sort((a, b) => a - b)
  const median = sorted[sorted.length >> 1] ?? Number.NaN
  return {
    name,
    unit,
    median,
    min: sorted[0] ?? Number.NaN,
    max: sorted.at(-1) ?? Number.NaN,
    goal: goal?.text ?? '',
    met: goal === null ? null : goal.meets(median),
  }
}
