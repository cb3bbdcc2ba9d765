import { createHash } from 'node:crypto'
import type { RequestQuery } from '../report/usage/engine/clickhouse.ts'
import { type AccountScope, accountCondition, pollKeysSql, setAccount } from '../store/account.ts'
import type { Store } from '../store/open.ts'
import { quarterColumns } from '../store/quarters/quarters.ts'
import { inSession, type Session } from '../store/session.ts'

/** Where usage is copied from: a store, or ClickHouse. It is open only while it is read. */
export interface Source {
  /** Null while nothing can have changed since the last copy. A changed mark means: look. */
  mark(): string | null
  /**
   * Copies what changed since the last call into the tables `held` and `usage_polls` of the snapshot.
   *
   * @returns the UTC days of `held` that were read again; rows without a day always are
   * @throws UserError `store-held` while another process writes
   */
  copyInto(into: Store): Promise<readonly number[]>
  /** Single requests of one account, the newest first; null if it has only sums. */
  requests(scope: AccountScope, query: RequestQuery): Promise<readonly RequestRow[] | null>
  close(): Promise<void>
}

export interface RequestRow {
  readonly at_us: number
  readonly model: string | null
  readonly key_fp: string | null
  readonly endpoint: string | null
  readonly outcome: string
  readonly status: number | null
  readonly input: number | null
  readonly cached: number | null
  readonly output: number | null
  readonly credits: string | null
  readonly unit: string
  readonly latency_us: number | null
}

/** The keys of each account and day in `held`, with the sum of the hashes of their rows. */
export const keyDays = 'held_key_days'

/** Columns of the table `held` but its day. */
export const heldColumns = Object.entries(quarterColumns)
  .map(([name, { type }]) => `${name} ${type}`)
  .join(', ')

/**
 * The sums of all accounts in memory, so that the file is free for those who write it. `mine` of a session is one
 * account; no query reads `held` itself.
 */
export class Snapshot {
  readonly store: Store
  private readonly source: Source
  private versions: ReadonlyMap<string, string> = new Map()
  private lastMark: string | null = null
  /** Days that were copied and are not in the versions yet. */
  private readonly unread = new Set<number>()
  /** When the source was last seen, Unix milliseconds; null before the first copy. */
  refreshedMs: number | null = null

  private constructor(store: Store, source: Source) {
    this.store = store
    this.source = source
  }

  static async of(store: Store, source: Source): Promise<Snapshot> {
    await store.execute(`
      CREATE TABLE held (${heldColumns}, day BIGINT);
      CREATE TABLE ${keyDays} (day BIGINT, account VARCHAR, key_fp VARCHAR, mark HUGEINT)`)
    return new Snapshot(store, source)
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
    for (const day of await this.source.copyInto(this.store)) this.unread.add(day)
    const stale = `(day IS NULL OR day IN (SELECT unnest([${[...this.unread].join()}]::BIGINT[])))`
    await this.store.execute(`
      DELETE FROM ${keyDays} WHERE ${stale};
      INSERT INTO ${keyDays} SELECT day, account, key_fp, sum(hash(held)::HUGEINT) + count(*) FROM held WHERE ${stale} GROUP BY ALL`)
    const rows = await this.store.rows<{ account: string; version: string }>(`
      SELECT account, string_agg(part, ',' ORDER BY part) AS version FROM (
        SELECT account, sum(mark)::VARCHAR AS part FROM ${keyDays} GROUP BY account
        UNION ALL
        SELECT account, 'polls ' || sum(hash(polls)::HUGEINT) FROM usage_polls AS polls
        JOIN (SELECT key_fp, min(account) AS account FROM ${keyDays} GROUP BY key_fp HAVING min(account) = max(account))
          USING (key_fp) GROUP BY account)
      WHERE account IS NOT NULL GROUP BY account`)
    this.unread.clear()
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
    return [...names].filter((each) => before.get(each) !== this.versions.get(each))
  }

  /** Changes only with the usage of the account. */
  versionOf(account: string): string {
    return this.versions.get(account) ?? 'none'
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

  /** The one place that reads the sums: everything else reads `mine`. */
  within<T>(scope: AccountScope, work: (session: Session) => Promise<T>): Promise<T> {
    return inSession(this.store, {}, async (session) => {
      await setAccount(session, scope)
      await session.execute(
        `CREATE TEMP VIEW mine AS SELECT * EXCLUDE (account, day) FROM held WHERE ${accountCondition(scope)}`,
      )
      return work(session)
    })
  }

  async close(): Promise<void> {
    this.store.close()
    await this.source.close()
  }
}
