import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { quantities } from '../../measure/usage/quantities.ts'
import { quarterCells } from '../../report/usage/engine/quarters-file.ts'
import { literal, parquetsSql } from '../../store/literal.ts'
import { type AccountScope, pollKeysSql, setAccount } from '../../store/session/account.ts'
import type { Store } from '../../store/session/open.ts'
import { inSession, type Session } from '../../store/session/session.ts'
import type { Work } from '../../user/work.ts'
import type { ClosedMonth } from '../settings/account-view.ts'
import { accountViewsSql, keyDays } from './account-views.ts'
import type { Source } from './source.ts'
import { type DayZones, heldColumns, WideSums } from './wide-sums.ts'

/** Changes with a file; null while there is none. */
function fileMark(path: string): string | null {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false })
  return file === undefined ? null : `${file.ino}/${file.size}/${file.mtimeNs}`
}

/**
 * The sums of all accounts in memory, so that the file is free for those who write it. `mine`, `my_hours`, `my_day_sums`, `my_days`, `my_keys`, `my_entries` and `my_held`
 * of a session are one account; no query reads the sums of others. Of a closed month, the first three are as it was closed, `my_use` and `my_use_days` as it
 * is now, and `my_closings` the difference.
 */
export class Snapshot {
  readonly store: Store
  readonly source: Source
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
        SELECT account, 'keys ' || sum(hash(one)::HUGEINT) FROM usage_keys AS one
        WHERE account IN (SELECT account FROM ${keyDays}) GROUP BY account
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
      const read = (name: string) => parquetsSql(folder, name)
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
        INSERT INTO ${keyDays} BY NAME
        SELECT day, account, key_fp, min(one.first_us) AS first_us, max(one.last_us) AS last_us, max(one.width_us) AS width_us,
          sum(hash(one)::HUGEINT) + count(*) AS mark
        FROM ${all} AS one GROUP BY ALL;
        DELETE FROM held_entries;
        INSERT INTO held_entries BY NAME FROM ${read('entries')};
        DELETE FROM held_rows;
        INSERT INTO held_rows BY NAME FROM ${read('held')};
        DELETE FROM held_arrivals;
        INSERT INTO held_arrivals BY NAME FROM ${read('arrivals')};
        DELETE FROM usage_polls;
        INSERT INTO usage_polls BY NAME FROM ${read('polls')};
        DELETE FROM usage_keys;
        INSERT INTO usage_keys BY NAME FROM ${read('keys')};
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
      await session.execute(
        accountViewsSql(scope, this.wide.tablesFor(scope.account, timezone), closed),
      )
      return work(session)
    })
  }

  async close(): Promise<void> {
    // A forecast that nobody waits for any more may be under way.
    this.store.end()
    await this.source.close()
  }
}
