/** What a request to the service may have done to the balance. */
export const effects = { charge: 0, ambiguous: 1, failure: 2, read: 3 } as const

/** How a client left a request that it did not see the end of. */
export const abandonments = { no: 0, aborted: 1, timeout: 2 } as const

/**
 * One account's traffic in one run, in the order of calls, as columns: what a million attempts
 * fit in. Times are microseconds of the run's clock.
 */
export interface History {
  readonly runId: string
  readonly account: string
  readonly size: number
  /** Runs of the first rows, which are attempts that earlier runs left on the account; mostly none. */
  readonly earlierRunIds?: readonly string[]
  readonly slot: Float64Array
  readonly retry: Float64Array
  /** When the socket began to carry the request: no effect is earlier. */
  readonly callUs: Float64Array
  /** When the response head was complete, and with it the value decided; NaN for none. */
  readonly readUs: Float64Array
  /** When the response was over for the client. */
  readonly endUs: Float64Array
  /** One of `effects`. */
  readonly effect: Float64Array
  /** Price of the request, were it charged. */
  readonly costCredits: Float64Array
  /** X-Credits-Remaining, or the balance that the credits endpoint told; NaN for none. */
  readonly value: Float64Array
  /** 1 where a stream was asked for. */
  readonly streamed: Float64Array
  /** Index of the model in the contract, -1 for none. */
  readonly model: Float64Array
  /** Number of the API key among those of the account. */
  readonly key: Float64Array
  /** HTTP status; NaN for none. */
  readonly status: Float64Array
  /** 1 where the service refused it for insufficient credits, by its own words. */
  readonly insufficient: Float64Array
  /** Number of the step among those of the run: requests that are alike. */
  readonly step: Float64Array
  /** How many events with text the client saw. */
  readonly contentEvents: Float64Array
  /** One of `abandonments`. */
  readonly abandonment: Float64Array
  /**
   * Until when an ambiguous request may still be charged: its end where its answer is complete, the service's
   * own deadline where its client left it or it broke.
   */
  readonly settlesByUs: Float64Array
  /** How long after its call the service's deadline is. */
  readonly lifetimeUs: number
  /** Credits that reads had cost by then, by which values were raised; left out where reads are free. */
  readonly spentOnReads?: Float64Array
}

/** Whether a row shows the balance and, as far as the contract says, took nothing from it. */
export function showsBalance({ effect, value }: History, row: number): boolean {
  return (
    (effect[row] === effects.read || effect[row] === effects.failure) && !Number.isNaN(value[row]!)
  )
}

/** The columns of a history, in the order in which the store gives them. */
const columnNames = [
  ...(['slot', 'retry', 'callUs', 'readUs', 'endUs', 'effect', 'costCredits', 'value'] as const),
  ...(['streamed', 'model', 'key', 'status', 'step', 'contentEvents', 'abandonment'] as const),
  ...(['insufficient', 'settlesByUs'] as const),
]
type ColumnName = (typeof columnNames)[number]

export function columnsOf(
  make: (name: ColumnName, at: number) => Float64Array,
): Pick<History, ColumnName> {
  return Object.fromEntries(columnNames.map((name, at) => [name, make(name, at)])) as Pick<
    History,
    ColumnName
  >
}

/** Rows of a history that `keep`, in their order. */
export function filterHistory(
  { spentOnReads: _, ...history }: History,
  keep: (row: number) => boolean,
): History {
  const rows: number[] = []
  for (let row = 0; row < history.size; row++) if (keep(row)) rows.push(row)
  return {
    ...history,
    size: rows.length,
    earlierRunIds: rows.flatMap((row) => history.earlierRunIds?.[row] ?? []),
    ...columnsOf((name) => Float64Array.from(rows, (row) => history[name][row]!)),
  }
}
