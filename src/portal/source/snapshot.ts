import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { quantities } from '../../measure/usage/quantities.ts'
import type { RequestQuery } from '../../report/usage/engine/clickhouse.ts'
import { quarterCells } from '../../report/usage/engine/quarters-file.ts'
import { billEntries } from '../../store/import/entry-types.ts'
import { literal } from '../../store/literal.ts'
import {
  type AccountScope,
  accountCondition,
  pollKeysSql,
  setAccount,
} from '../../store/session/account.ts'
import type { Store } from '../../store/session/open.ts'
import { inSession, type Session } from '../../store/session/session.ts'
import type { ShownToken } from '../../tokens/kinds.ts'
import { dayUs } from '../../user/durations.ts'
import type { Work } from '../../user/work.ts'
import type { ClosedMonth } from '../settings/account-view.ts'
import {
  columnsOfDays,
  type DayTable,
  type DayZones,
  dayTables,
  heldColumns,
  WideSums,
} from './wide-sums.ts'

/** Where usage is copied from: a store, or ClickHouse. It is open only while it is read. */
export interface Source {
  /** Null while nothing can have changed since the last copy. A changed mark means: look. */
  mark(): string | null
  /**
   * Writes what changed since the last copy as Parquet files into a folder: `events` (one or more, by the start of their
   * names), and, always whole, `sums` of longer intervals, `polls`, `entries`: the result of `entriesSql`,
   * `held`: of `heldRowsSql`, and `arrivals`: of `arrivalsSql`.
   *
   * @throws UserError `store-held` while another process writes
   */
  copyTo(folder: string): Promise<Copied>
  /** Single requests of one account, the newest first; null if it has only sums. */
  requests(scope: AccountScope, query: RequestQuery): Promise<readonly RequestRow[] | null>
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

/** Changes with a file; null while there is none. */
function fileMark(path: string): string | null {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false })
  return file === undefined ? null : `${file.ino}/${file.size}/${file.mtimeNs}`
}

/** The columns of sums that a session sees. */
const shownColumns = Object.keys(quantities)
  .filter((name) => name !== 'account')
  .join(', ')

/** The view of a session that has the rows of a table of days. */
export const dayView = (view: 'my_day_sums' | 'my_use_days', table: DayTable) =>
  table === 'all' ? view : `${view}_${table}`

/** The keys of each account and day in `held`, with their first and last time and the sum of the hashes of their rows. */
export const keyDays = 'held_key_days'

const within = ({ fromUs, toUs }: ClosedMonth) => `first_us >= ${fromUs} AND first_us < ${toUs}`
const isOf = (month: ClosedMonth) => `month = ${literal(month.month)} AND ${within(month)}`

/**
 * SQL for what the sums of closed months are more or less now than they were, by unit, and when the last of it came: as `my_closings` of a
 * session. A difference of requests without an amount is 0 of its unit.
 */
function closingsSql(mine: string, closed: readonly ClosedMonth[]): string {
  const parts = closed.map((month) => {
    const days = `day >= ${Math.floor(month.fromUs / dayUs)} AND day * ${dayUs} < ${month.toUs}`
    return `SELECT ${literal(month.month)} AS month, unit, coalesce(sum(credits), 0)::DECIMAL(38, 18) AS amount, coalesce(sum(requests), 0)::BIGINT AS requests,
        (SELECT max(came_us) FROM held_arrivals WHERE account = getvariable('usage_account') AND ${days}) AS at_us
      FROM (
        SELECT unit, credits, requests FROM held WHERE ${mine} AND ${within(month)}
        UNION ALL
        SELECT unit, -credits, -requests FROM held_closed WHERE ${mine} AND ${isOf(month)})
      GROUP BY unit HAVING coalesce(sum(credits), 0) <> 0 OR coalesce(sum(requests), 0) <> 0`
  })
  const none = `SELECT NULL::VARCHAR AS month, NULL::VARCHAR AS unit, NULL::DECIMAL(38, 18) AS amount, NULL::BIGINT AS requests, NULL::BIGINT AS at_us WHERE false`
  return [none, ...parts].join(' UNION ALL ')
}

/**
 * The sums of all accounts in memory, so that the file is free for those who write it. `mine`, `my_hours`, `my_day_sums`, `my_days`, `my_entries` and `my_held`
 * of a session are one account; no query reads the sums of others. Of a closed month, the first three are as it was closed, `my_use` and `my_use_days` as it
 * is now, and `my_closings` the difference.
 */
export class Snapshot {
  readonly store: Store
  private readonly source: Source
  private versions: ReadonlyMap<string, string> = new Map()
  /** When each version was first seen, Unix milliseconds. */
  private readonly changes = new Map<string, number>()
  private lastMark: string | null = null
  private readonly wide: WideSums
  /** Changes with the files of closed months. */
  closedMark = '[]'
  /** When the source was last seen, Unix milliseconds; null before the first copy. */
  refreshedMs: number | null = null

  private constructor(store: Store, source: Source) {
    this.store = store
    this.source = source
    this.wide = new WideSums(store)
  }

  static async of(store: Store, source: Source): Promise<Snapshot> {
    await store.execute(`
      CREATE TABLE held (${heldColumns}, day BIGINT);
      ${WideSums.tables};
      CREATE TABLE held_entries (account VARCHAR, at_us BIGINT, type VARCHAR, unit VARCHAR, amount DECIMAL(38, 18), entries BIGINT);
      CREATE TABLE held_rows (account VARCHAR, source VARCHAR, id VARCHAR, at_us BIGINT, type VARCHAR, credits DECIMAL(38, 18), unit VARCHAR, terms VARCHAR);
      CREATE TABLE held_arrivals (account VARCHAR, day BIGINT, came_us BIGINT);
      CREATE TABLE held_closed (${heldColumns}, month VARCHAR);
      CREATE TABLE ${keyDays} (day BIGINT, account VARCHAR, key_fp VARCHAR, first_us BIGINT, last_us BIGINT, width_us BIGINT, mark HUGEINT)`)
    return new Snapshot(store, source)
  }

  /** From the next copy on, the days of accounts are those of these zones. */
  useZones(zones: DayZones): void {
    this.wide.useZones(zones)
  }

  /**
   * Copies what is new.
   *
   * @returns the accounts whose usage changed
   * @throws UserError as the source does
   */
  async refresh(nowMs: number): Promise<readonly string[]> {
    const mark = this.source.mark()
    if (mark !== null && mark === this.lastMark) {
      this.refreshedMs = nowMs
      return []
    }
    await this.copy()
    const rows = await this.store.rows<{ account: string; version: string }>(`
      SELECT account, string_agg(part, ',' ORDER BY part) AS version FROM (
        SELECT account, sum(mark)::VARCHAR AS part FROM ${keyDays} GROUP BY account
        UNION ALL
        SELECT account, 'entries ' || sum(hash(one)::HUGEINT) FROM held_entries AS one GROUP BY account
        UNION ALL
        SELECT account, 'held ' || sum(hash(one)::HUGEINT) FROM held_rows AS one GROUP BY account
        UNION ALL
        SELECT account, 'polls ' || sum(hash(polls)::HUGEINT) FROM usage_polls AS polls
        JOIN (SELECT key_fp, min(account) AS account FROM ${keyDays} GROUP BY key_fp HAVING min(account) = max(account))
          USING (key_fp) GROUP BY account)
      WHERE account IS NOT NULL GROUP BY account`)
    const before = this.versions
    this.versions = new Map(
      rows.map(({ account, version }) => [
        account,
        createHash('sha256').update(version).digest('hex').slice(0, 16),
      ]),
    )
    this.lastMark = mark
    this.refreshedMs = nowMs
    const names = new Set([...before.keys(), ...this.versions.keys()])
    const changed = [...names].filter((each) => before.get(each) !== this.versions.get(each))
    for (const account of changed) this.changes.set(account, nowMs)
    return changed
  }

  private async copy(): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), 'assay-portal-'))
    try {
      const { replaced, done } = await this.source.copyTo(folder)
      const read = (name: string) => `read_parquet(${literal(join(folder, name))})`
      const events = `SELECT *, quarter // 96 AS day FROM ${read('events*')}`
      const sums = `SELECT *, NULL::BIGINT AS day FROM ${read('sums*')}`
      const all = `(${events} UNION ALL BY NAME ${sums})`
      const added = await this.wide.addedSql(all)
      const old = `day IS NULL OR day IN (SELECT unnest([${replaced.join()}]::BIGINT[]))`
      await this.store.execute(`
        BEGIN;
        DELETE FROM held WHERE ${old};
        ${this.wide.deletedSql(old)}
        DELETE FROM ${keyDays} WHERE ${old};
        INSERT INTO held BY NAME ${events} ORDER BY account, quarter;
        INSERT INTO held BY NAME ${sums};
        ${added}
        INSERT INTO ${keyDays} SELECT day, account, key_fp, min(first_us), max(last_us), max(width_us), sum(hash(one)::HUGEINT) + count(*)
        FROM ${all} AS one GROUP BY ALL;
        DELETE FROM held_entries;
        INSERT INTO held_entries BY NAME FROM ${read('entries')};
        DELETE FROM held_rows;
        INSERT INTO held_rows BY NAME FROM ${read('held')};
        DELETE FROM held_arrivals;
        INSERT INTO held_arrivals BY NAME FROM ${read('arrivals')};
        DELETE FROM usage_polls;
        INSERT INTO usage_polls BY NAME FROM ${read('polls')};
        COMMIT`)
      done()
      await this.wide.follow()
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

  /**
   * Keeps the sums of closed months, each of a file of quarters, until other files are given.
   *
   * @throws UserError for a file that is none
   */
  async keepClosed(
    files: readonly { readonly month: string; readonly path: string }[],
  ): Promise<void> {
    const marks = files.map(({ month, path }) => [month, path, fileMark(path)])
    const mark = JSON.stringify(marks)
    if (mark === this.closedMark) return
    const parts: string[] = []
    for (const { month, path } of files)
      parts.push(
        `SELECT *, ${literal(month)} AS month FROM (${await quarterCells(this.store, path, `closed: ${month}`)}) WHERE account IS NOT NULL`,
      )
    const columns = [...Object.keys(quantities), 'month'].join(', ')
    const rows = parts.map(
      (part) => `INSERT INTO held_closed BY NAME SELECT ${columns} FROM (${part});`,
    )
    await this.store.execute(`BEGIN; DELETE FROM held_closed; ${rows.join('\n')} COMMIT`)
    this.closedMark = mark
  }

  /** Names of the accounts with usage. */
  accounts(): Iterable<string> {
    return this.versions.keys()
  }

  /** The first and the last usage of all accounts, Unix microseconds: a time, and no figure of anybody. */
  async measured(): Promise<{ readonly firstUs: number | null; readonly lastUs: number | null }> {
    const [row] = await this.store.rows<{ firstUs: number | null; lastUs: number | null }>(
      `SELECT min(first_us) AS "firstUs", max(last_us) AS "lastUs" FROM ${keyDays} WHERE account IS NOT NULL`,
    )
    return row!
  }

  /** Changes only with the usage of the account. */
  versionOf(account: string): string {
    return this.versions.get(account) ?? 'none'
  }

  /** When the usage of the account last changed here, Unix milliseconds; 0 if it never did. */
  changedMsOf(account: string): number {
    return this.changes.get(account) ?? 0
  }

  requests(scope: AccountScope, query: RequestQuery) {
    return this.source.requests(scope, query)
  }

  /** The balance of the last poll of an account; null if there is none, or if only some of its keys are seen. */
  async balanceOf(session: Session, { account, keys }: AccountScope): Promise<number | null> {
    if (account === null || keys !== null) return null
    const [row] = await session.rows<{ remaining: number | null }>(
      `SELECT arg_max(remaining::DOUBLE, (polled_us, -remaining)) AS remaining FROM usage_polls
       WHERE remaining IS NOT NULL AND key_fp IN (${pollKeysSql([keyDays])})`,
    )
    return row!.remaining
  }

  /** The one place that reads the sums: everything else reads `mine`. @param timezone whose days are asked for; without one, `my_day_sums` are no days */
  within<T>(
    scope: AccountScope,
    work: (session: Session) => Promise<T>,
    {
      closed = [],
      timezone = null,
      ...given
    }: Pick<Work, 'signal'> & {
      readonly closed?: readonly ClosedMonth[]
      readonly timezone?: string | null
    } = {},
  ): Promise<T> {
    return inSession(this.store, given, async (session) => {
      await setAccount(session, scope)
      const mine = accountCondition(scope)
      const wide = this.wide.tablesFor(scope.account, timezone)
      const sums = (table: string, columns = shownColumns) =>
        closed.length === 0
          ? `SELECT ${columns} FROM ${table} WHERE ${mine}`
          : `SELECT ${columns} FROM ${table} WHERE ${mine} AND NOT (${closed.map(within).join(' OR ')})
             UNION ALL
             SELECT ${columns} FROM held_closed WHERE ${mine} AND (${closed.map(isOf).join(' OR ')})`
      // Sums of fewer names than keys have no keys to see some of.
      const ofDays = dayTables
        .map((table) => {
          const from = wide.days[scope.keys === null ? table : 'all']
          const columns = columnsOfDays(table)
          return `CREATE TEMP VIEW ${dayView('my_day_sums', table)} AS ${sums(from, columns)};
            CREATE TEMP VIEW ${dayView('my_use_days', table)} AS SELECT ${columns} FROM ${from} WHERE ${mine};`
        })
        .join('\n')
      await session.execute(`
        CREATE TEMP VIEW mine AS ${sums('held')};
        CREATE TEMP VIEW my_hours AS ${sums(wide.hours)};
        CREATE TEMP VIEW my_use AS SELECT ${shownColumns} FROM held WHERE ${mine};
        ${ofDays}
        CREATE TEMP VIEW my_closings AS ${closingsSql(mine, closed)};
        CREATE TEMP VIEW my_entries AS SELECT * EXCLUDE (account) FROM held_entries WHERE ${scope.keys === null ? accountCondition(scope) : 'false'};
        CREATE TEMP VIEW my_held AS SELECT * EXCLUDE (account) FROM held_rows WHERE ${scope.keys === null ? accountCondition(scope) : 'false'};
        CREATE TEMP VIEW my_days AS SELECT * EXCLUDE (account) FROM ${keyDays} WHERE ${accountCondition(scope)}`)
      return work(session)
    })
  }

  async close(): Promise<void> {
    // A forecast that nobody waits for any more may be under way.
    this.store.end()
    await this.source.close()
  }
}
