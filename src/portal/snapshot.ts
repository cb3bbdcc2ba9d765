import { createHash } from 'node:crypto'
import type { RequestQuery } from '../report/usage/engine/clickhouse.ts'
import { type AccountScope, accountCondition, setAccount } from '../store/account.ts'
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
   * @throws UserError `store-held` while another process writes
   */
  copyInto(into: Store): Promise<void>
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

/** Days and accounts of the table `held`, and its versions. */
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
  /** When the source was last seen, Unix milliseconds; null before the first copy. */
  refreshedMs: number | null = null

  private constructor(store: Store, source: Source) {
    this.store = store
    this.source = source
  }

  static async of(store: Store, source: Source): Promise<Snapshot> {
    await store.execute(`CREATE TABLE held (${heldColumns}, day BIGINT)`)
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
    await this.source.copyInto(this.store)
    const rows = await this.store.rows<{ account: string; version: string }>(`
      SELECT account, string_agg(part, ',' ORDER BY part) AS version FROM (
        SELECT account, sum(hash(held)::HUGEINT)::VARCHAR || '/' || count(*) AS part FROM held
        WHERE account IS NOT NULL GROUP BY account
        UNION ALL
        SELECT account, sum(hash(polls)::HUGEINT)::VARCHAR FROM usage_polls AS polls
        JOIN (SELECT key_fp, min(account) AS account FROM held GROUP BY key_fp HAVING min(account) = max(account))
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
    return [...names].filter((each) => before.get(each) !== this.versions.get(each))
  }

  /** Changes only with the usage of the account. */
  versionOf(account: string): string {
    return this.versions.get(account) ?? 'none'
  }

  requests(scope: AccountScope, query: RequestQuery) {
    return this.source.requests(scope, query)
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
