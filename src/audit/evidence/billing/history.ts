import { type ColumnFile, fieldsOf, type KeptColumn } from '../../../store/read/column-file.ts'

/** The possible effect of a request on the balance. */
export const effects = { charge: 0, ambiguous: 1, failure: 2, read: 3 } as const

/** How a client gave up a request. */
export const abandonments = { no: 0, aborted: 1, timeout: 2 } as const
/** SQL for it, of an attempt. */
export const abandonmentSql = `CASE outcome WHEN 'aborted' THEN ${abandonments.aborted} WHEN 'timeout' THEN ${abandonments.timeout}
      ELSE ${abandonments.no} END`

/** The deadlines of a client. */
export const timeouts = { none: 0, connect: 1, 'first-byte': 2, idle: 3, total: 4 } as const
/** SQL for the one that an attempt passed. */
export const timeoutSql = `CASE WHEN outcome = 'timeout' THEN CASE reason ${Object.entries(timeouts)
  .map(([reason, number]) => `WHEN '${reason}' THEN ${number}`)
  .join(' ')} END ELSE ${timeouts.none} END`

/** One account's requests in one run by call, as columns: a million must fit in memory. Times are microseconds of the run's clock. */
export interface BalanceHistory {
  readonly runId: string
  readonly account: string
  readonly size: number
  /** Run ids of the first rows, if these are attempts that earlier runs abandoned on the account. */
  readonly earlierRunIds?: readonly string[]
  readonly slot: Float64Array
  readonly retry: Float64Array
  /** When the socket began to carry the request; no effect is earlier. */
  readonly callUs: Float64Array
  /** When the response head was complete, which fixes the value; NaN without one. */
  readonly readUs: Float64Array
  /** When the response ended for the client. */
  readonly endUs: Float64Array
  readonly effect: Float64Array
  /** Price of the request if it is charged. */
  readonly costCredits: Float64Array
  /** X-Credits-Remaining, or the balance from the credits endpoint; NaN without one. */
  readonly value: Float64Array
  /** 1 if a stream was requested. */
  readonly streamed: Float64Array
  /** Index of the model in the contract; -1 if unknown. */
  readonly model: Float64Array
  /** Number of the API key in the account. */
  readonly key: Float64Array
  /** HTTP status; NaN without one. */
  readonly status: Float64Array
  /** 1 if the service's error named insufficient credits. */
  readonly insufficient: Float64Array
  /** Number of the step in the run. Requests of one step are alike. */
  readonly step: Float64Array
  /** Number of events with text that the client received. */
  readonly contentEvents: Float64Array
  readonly abandonment: Float64Array
  /** The deadline that a request passed, by number. */
  readonly timeout: Float64Array
  /** Until when an ambiguous request may be charged: the end of a complete response, else the service's own deadline. */
  readonly settlesByUs: Float64Array
  /** The service's deadline after a call, microseconds. */
  readonly lifetimeUs: number
  /** Credits that reads had cost so far, which were added to the values; absent if reads are free. */
  readonly spentOnReads?: Float64Array
  /** Rows whose value is from the body of the credits endpoint, as they had no header; absent without any. */
  readonly pages?: readonly number[]
  /** Where its columns are, if they are read from disk on demand: hold none of them longer than one account is looked at. */
  readonly columnFile?: ColumnFile
}

/** Whether a row shows the balance and, by the contract, took nothing from it. */
export function showsBalance({ effect, value }: BalanceHistory, row: number): boolean {
  return (
    (effect[row] === effects.read || effect[row] === effects.failure) && !Number.isNaN(value[row]!)
  )
}

/** The columns of a history. */
const columnNames = [
  ...['slot', 'retry', 'callUs', 'readUs', 'endUs', 'effect', 'costCredits', 'value'],
  ...['streamed', 'model', 'key', 'status', 'step', 'contentEvents', 'abandonment', 'timeout'],
  ...['insufficient', 'settlesByUs'],
] as const
type ColumnName = (typeof columnNames)[number]

type Columns = Pick<BalanceHistory, ColumnName>

export const columnsOf = (make: (name: ColumnName) => Float64Array): Columns =>
  Object.fromEntries(columnNames.map((name) => [name, make(name)])) as unknown as Columns

/** SQL for the columns of a history. @param of SQL for each of them */
export const columnsSql = (of: Readonly<Record<ColumnName, string>>): string =>
  columnNames.map((name) => `(${of[name]})::DOUBLE`).join(',\n    ')

/** The columns that `columnsSql` selected. */
export const selectedColumns = (columns: readonly Float64Array[]): Columns =>
  columnsOf((name) => columns[columnNames.indexOf(name)]!)

type ChangedColumns = Partial<Pick<BalanceHistory, ColumnName | 'spentOnReads'>>

/** The history with some columns changed, which are kept where the others are. */
export function withColumns(
  history: BalanceHistory,
  changed: ChangedColumns,
  rest: Pick<BalanceHistory, 'pages'> = {},
): BalanceHistory {
  const { columnFile } = history
  if (columnFile === undefined) return { ...history, ...changed, ...rest }
  const kept = Object.fromEntries(
    Object.entries(changed).map(([name, values]) => [name, columnFile.keep(values)]),
  ) as Record<string, KeptColumn>
  // A spread would read all columns.
  return Object.defineProperties({} as BalanceHistory, {
    ...Object.getOwnPropertyDescriptors(history),
    ...Object.getOwnPropertyDescriptors(fieldsOf(kept)),
    ...Object.getOwnPropertyDescriptors(rest),
  })
}

export function onDisk(history: BalanceHistory, columnFile: ColumnFile): BalanceHistory {
  return withColumns(
    { ...history, columnFile },
    columnsOf((name) => history[name]),
  )
}

const placeIn = (rows: readonly number[], row: number) => {
  const at = rows.indexOf(row)
  return at < 0 ? [] : [at]
}

export function filterHistory(
  { spentOnReads: _, pages, ...history }: BalanceHistory,
  keep: (row: number) => boolean,
): BalanceHistory {
  const rows: number[] = []
  for (let row = 0; row < history.size; row++) if (keep(row)) rows.push(row)
  return {
    ...history,
    size: rows.length,
    ...(pages === undefined ? {} : { pages: pages.flatMap((row) => placeIn(rows, row)) }),
    earlierRunIds: rows.flatMap((row) => history.earlierRunIds?.[row] ?? []),
    ...columnsOf((name) => Float64Array.from(rows, (row) => history[name][row]!)),
  }
}
