import type { RequestQuery } from '../../report/usage/engine/request-query.ts'
import { billEntries } from '../../store/import/entry-types.ts'
import { literal } from '../../store/literal.ts'
import type { AccountScope } from '../../store/session/account.ts'
import type { ShownToken } from '../../tokens/kinds.ts'
import { dayUs } from '../../user/durations.ts'
import type { Work } from '../../user/work.ts'

/** Where usage is copied from: a store, or ClickHouse. It is open only while it is read. */
export interface Source {
  /** Whether single requests have durations. */
  readonly timed: boolean
  /** Null while nothing can have changed since the last copy. A changed mark means: look. */
  mark(): string | null
  /**
   * Writes what changed since the last copy as Parquet files into a folder: `events` (one or more, by the start of their
   * names), and, always whole, `sums` of longer intervals and of runs, `polls`, `keys`: the result of `lastFoursSql`, `entries`: of
   * `entriesSql`, `held`: of `heldRowsSql`, and `arrivals`: of `arrivalsSql`.
   *
   * @throws UserError `store-held` while another process writes
   */
  copyTo(folder: string): Promise<Copied>
  /** Single requests of one account; null if it has only sums. @throws the reason of the signal, once aborted */
  requests(
    scope: AccountScope,
    query: RequestQuery,
    work: Pick<Work, 'signal'>,
  ): Promise<readonly RequestRow[] | null>
  /** Writes them as a Parquet file with the columns of a `RequestRow`. @returns false if it has only sums */
  writeRequests(
    scope: AccountScope,
    query: RequestQuery,
    file: string,
    work: Pick<Work, 'signal'>,
  ): Promise<boolean>
  close(): Promise<void>
}

interface Copied {
  /** UTC days whose events are all in the files; to those of other days they are added. */
  readonly replaced: readonly number[]
  /** To be called once the files are read: the next copy begins here. */
  done(): void
}

export interface RequestRow extends Readonly<Record<ShownToken, number | null>> {
  readonly at_us: number
  readonly source: string
  readonly id: string
  readonly type: string
  readonly requests: number
  readonly model: string | null
  readonly key_fp: string | null
  readonly endpoint: string | null
  /** As `usage` has them. */
  readonly tags: string | null
  readonly outcome: string
  readonly status: number | null
  readonly credits: string | null
  readonly unit: string
  readonly latency_us: number | null
}

/** SQL for the entries of bills beside their use, of each account and moment. */
export const entriesSql = (from: string) =>
  `SELECT account, at_us, type, unit, sum(credits) AS amount, count(*) AS entries
   FROM ${from} WHERE account IS NOT NULL AND type IN (${billEntries.map(literal).join(', ')})
   GROUP BY account, at_us, type, unit`

/** SQL for when the last line of each account and UTC day came. @param parts tables with the time of their rows */
export const arrivalsSql = (parts: readonly (readonly [table: string, time: string])[]) =>
  `SELECT account, day, max(came_us) AS came_us FROM (${parts
    .map(
      ([table, time]) =>
        `SELECT account, CAST(floor(${time} / ${dayUs}) AS BIGINT) AS day, ingested_us AS came_us FROM ${table} WHERE account IS NOT NULL`,
    )
    .join(' UNION ALL ')}) AS parts GROUP BY account, day`
