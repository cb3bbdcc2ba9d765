import type { Credits } from '../../contract/contract.ts'

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
  /** One of `lefts`. */
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

/** One row of a history, for histories made by hand. */
export interface HistoryRow {
  readonly slot: number
  readonly callUs: number
  readonly readUs?: number
  readonly endUs: number
  readonly effect: keyof typeof effects
  readonly costCredits: Credits
  readonly value?: number
  readonly streamed?: boolean
  readonly model?: number
  readonly key?: number
  readonly status?: number
  readonly insufficient?: boolean
  readonly step?: number
  readonly contentEvents?: number
  readonly abandonment?: keyof typeof abandonments
  /** Whether an ambiguous one was answered whole, so that it is charged by its end. */
  readonly isComplete?: boolean
}

/** @param lifetimeUs Infinity unless a deadline of the service bounds it */
export function historyOf(
  rows: readonly HistoryRow[],
  { runId = 'run', account = 'main', lifetimeUs = Infinity } = {},
): History {
  const sorted = [...rows].sort((a, b) => a.callUs - b.callUs)
  const column = (of: (row: HistoryRow) => number) => Float64Array.from(sorted, of)
  return {
    runId,
    account,
    size: sorted.length,
    slot: column((row) => row.slot),
    retry: column(() => 0),
    callUs: column((row) => row.callUs),
    readUs: column((row) => row.readUs ?? (row.value === undefined ? Number.NaN : row.endUs)),
    endUs: column((row) => row.endUs),
    effect: column((row) => effects[row.effect]),
    costCredits: column((row) => row.costCredits),
    value: column((row) => row.value ?? Number.NaN),
    streamed: column((row) => (row.streamed ? 1 : 0)),
    model: column((row) => row.model ?? 0),
    key: column((row) => row.key ?? 1),
    status: column((row) => row.status ?? (row.effect === 'failure' ? 500 : 200)),
    insufficient: column((row) => (row.insufficient ? 1 : 0)),
    step: column((row) => row.step ?? 0),
    contentEvents: column((row) => row.contentEvents ?? 0),
    abandonment: column((row) => abandonments[row.abandonment ?? 'no']),
    settlesByUs: column(({ callUs, endUs, isComplete }) =>
      isComplete === true ? endUs : callUs + lifetimeUs,
    ),
    lifetimeUs,
  }
}

/** Rows of a history that `keep`, in their order. */
export function filterHistory(history: History, keep: (row: number) => boolean): History {
  const rows: number[] = []
  for (let row = 0; row < history.size; row++) if (keep(row)) rows.push(row)
  const take = (column: Float64Array) => Float64Array.from(rows, (row) => column[row]!)
  return {
    runId: history.runId,
    account: history.account,
    size: rows.length,
    earlierRunIds: rows.flatMap((row) => history.earlierRunIds?.[row] ?? []),
    slot: take(history.slot),
    retry: take(history.retry),
    callUs: take(history.callUs),
    readUs: take(history.readUs),
    endUs: take(history.endUs),
    effect: take(history.effect),
    costCredits: take(history.costCredits),
    value: take(history.value),
    streamed: take(history.streamed),
    model: take(history.model),
    key: take(history.key),
    status: take(history.status),
    insufficient: take(history.insufficient),
    step: take(history.step),
    contentEvents: take(history.contentEvents),
    abandonment: take(history.abandonment),
    settlesByUs: take(history.settlesByUs),
    lifetimeUs: history.lifetimeUs,
  }
}
