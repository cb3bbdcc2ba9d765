import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Contract } from '../../contract/contract.ts'
import { endSql } from '../../measure/usage/ends.ts'
import {
  type RequestQuery,
  requestColumns,
  requestOrderSql,
  typesSql,
} from '../../report/usage/engine/request-query.ts'
import { heldRowsSql } from '../../report/usage/imported-lots.ts'
import { enterPrices } from '../../report/usage/prepare.ts'
import { lastFoursSql } from '../../store/import/last-fours.ts'
import { literal, textList } from '../../store/literal.ts'
import { cellsSql, quartersSql, shownBucketsSql } from '../../store/quarters/quarters.ts'
import { tagSql } from '../../store/quarters/tags.ts'
import { type AccountScope, limitTo, mainOf } from '../../store/session/account.ts'
import { openExistingStore, type Store } from '../../store/session/open.ts'
import { openSoon } from '../../store/session/open-soon.ts'
import { inSession, type Session } from '../../store/session/session.ts'
import { dayUs } from '../../user/durations.ts'
import type { Work } from '../../user/work.ts'
import { arrivalsSql, entriesSql, type RequestRow, type Source } from './source.ts'

/** A customer does not wait long for a writer. */
const waitMs = 2000

/** Rows without an account are kept under this name. */
const noAccount = { account: '' }

interface Day {
  readonly day: number
  readonly mark: string
  /** The mark of those of its lines that the last copy had. If it is still that of the last copy, the day has only new lines. */
  readonly markOfKnown: string
  readonly newest: number
}

/** Changes with the lines of a day: new ones, corrected ones, and those that got another price, or became a refund. */
const markSql = (filter: string) =>
  `concat_ws('/', count(*) ${filter}, sum(import_no) ${filter}, bit_xor(hash(source, id, type, credits, unit, priced_by)) ${filter})`

/**
 * A store that is open, or the file of one. DuckDB's lock excludes a reader while another process writes, and a writer while
 * one reads, so a file is open for short times only. Of a day that only grew, what is new is summed; a day that changed is
 * summed again.
 */
export function storeSource(place: Store | string, contract: Contract): Source {
  const path = typeof place === 'string' ? place : place.path
  const opened = async <T>(work: (store: Store) => Promise<T>): Promise<T> => {
    if (typeof place !== 'string') return work(place)
    const store = await openSoon(() => openExistingStore(place), waitMs)
    try {
      return await work(store)
    } finally {
      store.close()
    }
  }
  let days: ReadonlyMap<number, string> = new Map()
  /** The last import that was copied. */
  let newest = 0
  const ofAccount = <T>(
    scope: AccountScope,
    given: Pick<Work, 'signal'>,
    work: (session: Session) => Promise<T>,
  ) =>
    opened((store) =>
      inSession(store, given, async (session) => {
        await limitTo(session, scope)
        await enterPrices(session, contract)
        return work(session)
      }),
    )
  const fileOf = (name: string) => statSync(name, { bigint: true, throwIfNoEntry: false })
  return {
    mark() {
      if (path === ':memory:') return null
      const marks = [path, `${path}.wal`].map((name) => {
        const file = fileOf(name)
        return file === undefined ? '-' : `${file.ino}/${file.size}/${file.mtimeNs}`
      })
      return marks.join(' ')
    },
    copyTo(folder) {
      return opened(async (store) => {
        const found = await store.rows<Day>(
          `SELECT at_us // ${dayUs} AS day, ${markSql('')} AS mark, max(import_no) AS newest,
             ${markSql(`FILTER (WHERE import_no <= ${newest})`)} AS "markOfKnown"
           FROM usage_events WHERE account IS NOT NULL GROUP BY day`,
        )
        const marks = new Map(found.map(({ day, mark }) => [day, mark]))
        const changed = found.filter(({ day, mark }) => days.get(day) !== mark)
        const grown = changed.filter(({ day, markOfKnown }) => days.get(day) === markOfKnown)
        const replaced = [
          ...changed.filter((each) => !grown.includes(each)).map(({ day }) => day),
          ...[...days.keys()].filter((day) => !marks.has(day)),
        ]
        const before = newest
        await inSession(store, {}, async (session) => {
          await copyEvents(session, replaced, join(folder, 'events'))
          if (grown.length === 0) return
          await session.execute(`CREATE OR REPLACE TEMP VIEW usage_events AS
            FROM ${await mainOf(session)}.usage_events WHERE import_no > ${before}`)
          const grownDays = grown.map(({ day }) => day)
          await copyEvents(session, grownDays, join(folder, 'events-new'))
        })
        await copySums(store, contract, folder)
        const arrivals = arrivalsSql([
          ['usage_events', 'at_us'],
          ['usage_statements', 'start_us'],
        ])
        await copy(store, 'FROM usage_polls', join(folder, 'polls'))
        await copy(store, lastFoursSql(), join(folder, 'keys'))
        await copy(store, entriesSql('usage_events'), join(folder, 'entries'))
        await copy(store, heldRowsSql('usage_events'), join(folder, 'held'))
        await copy(store, arrivals, join(folder, 'arrivals'))
        return {
          replaced,
          done: () => {
            days = marks
            newest = found.reduce((most, each) => Math.max(most, each.newest), 0)
          },
        }
      })
    },
    requests: (scope, query, given) =>
      ofAccount(scope, given, async (session) => {
        const rows = await session.rows<RequestRow>(requestsSql(query))
        return rows.length > 0 || (await hasUsage(session)) ? rows : null
      }),
    timed: true,
    writeRequests: (scope, query, file, given) =>
      ofAccount(scope, given, async (session) => {
        await copy(session, requestsSql(query), file)
        return hasUsage(session)
      }),
    close: async () => {},
  }
}

const hasUsage = async (session: Session) =>
  (await session.rows('SELECT 1 AS there FROM usage LIMIT 1')).length > 0

function requestsSql(query: RequestQuery): string {
  const { fromUs, toUs, models, keys, endpoints, tags, outcomes, limit, skip } = query
  const only = (column: string, values: readonly string[]) =>
    values.length === 0 ? '' : `AND list_contains(${textList(values)}, ${column})`
  return `SELECT ${requestColumns}, credits::VARCHAR AS credits, latency_us
    FROM usage WHERE ${typesSql(query)} AND at_us >= ${fromUs}::BIGINT AND at_us < ${toUs}::BIGINT
      ${only('model', models)} ${only('key_fp', keys)} ${only('endpoint', endpoints)} ${only(endSql, outcomes)}
      ${[...tags].map(([name, values]) => only(tagSql(name), values)).join(' ')}
    ORDER BY ${requestOrderSql(query, literal(query.priced.unit))} LIMIT ${limit} OFFSET ${skip}`
}

const copy = (from: Pick<Session, 'execute'>, sql: string, file: string): Promise<void> =>
  from.execute(`COPY (${sql}) TO ${literal(file)} (FORMAT parquet)`)

/** No page of a customer has minutes. */
const quartersOf = (shown: string, buckets: string) =>
  `WITH usage_shown AS (${shown}), usage_shown_buckets AS (${buckets}), usage_cells AS (${cellsSql()}) ${quartersSql('usage_cells', false)}`

/** Sums of single requests of logs: each stands alone, so all accounts are summed at once. */
async function copyEvents(session: Session, days: readonly number[], file: string): Promise<void> {
  const within = `origin = 'import' AND account IS NOT NULL AND at_us // ${dayUs} IN (SELECT unnest([${days.join()}]::BIGINT[]))`
  const sql = quartersOf(`FROM usage WHERE ${within}`, `${shownBucketsSql('')} AND false`)
  await copy(session, sql, file)
}

/** Sums of intervals and of runs depend on what else there is: each account is summed alone. */
async function copySums(store: Store, contract: Contract, folder: string): Promise<void> {
  const named = await store.rows<{ account: string }>(
    `SELECT DISTINCT account FROM (
       SELECT account FROM usage_statements UNION ALL SELECT account FROM request_kinds)
     WHERE account IS NOT NULL ORDER BY account`,
  )
  const sql = quartersOf(`FROM usage WHERE origin = 'run'`, shownBucketsSql(''))
  for (const [at, { account }] of [noAccount, ...named].entries()) {
    await inSession(store, {}, async (session) => {
      await limitTo(session, { account, keys: null })
      await enterPrices(session, contract)
      await copy(session, sql, join(folder, `sums${at}`))
    })
  }
}
