import { createReadStream, createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { installed } from '../../user/installed.ts'
import { reasonOf } from '../../user/reason.ts'
import { Secrets, secrets } from '../../user/secrets/secrets.ts'
import { type UserError, userError } from '../../user/user-error.ts'
import type { Work } from '../../user/work.ts'

/** Values for the query parameters, which the SQL writes as `{name:Type}`. */
export type Parameters = Readonly<Record<string, string | number | readonly (string | number)[]>>

/** A ClickHouse database, over HTTP. */
export interface ClickHouse {
  /** The address without the password. */
  readonly name: string
  command(sql: string, parameters?: Parameters): Promise<void>
  /** The server gives up the query of a signal that is aborted. @throws the reason of the signal */
  rows<Row>(
    sql: string,
    parameters?: Parameters,
    work?: Pick<Work, 'signal'>,
  ): Promise<readonly Row[]>
  /** Writes the result of a query to a file, or gives up as `rows` does. */
  writeParquet(
    sql: string,
    parameters: Parameters,
    file: string,
    work?: Pick<Work, 'signal'>,
  ): Promise<void>
  insertParquet(table: string, columns: readonly string[], file: string): Promise<void>
  insertRows(table: string, rows: readonly object[]): Promise<void>
  close(): Promise<void>
}

/** Settings that give SQL the same meaning as in DuckDB. */
const settings = {
  join_use_nulls: 1,
  cast_keep_nullable: 1,
  aggregate_functions_null_for_empty: 1,
  union_default_mode: 'DISTINCT',
  output_format_json_quote_64bit_integers: 0,
  // A file may cover many days. A partition is one day, and an id is in one partition only.
  max_partitions_per_insert_block: '0',
  do_not_merge_across_partitions_select_final: 1,
  // For clusters: an insert returns once the rows are on their shards, and sums go to the shard of their hash.
  distributed_foreground_insert: 1,
  parallel_distributed_insert_select: '0',
} as const

/**
 * Opens `clickhouse://user:password@host:port/database`, or `clickhouses://` for TLS. CLICKHOUSE_PASSWORD may hold the
 * password instead. No error contains it.
 *
 * @throws UserError for another kind of address, and if the client is not installed
 */
export async function openClickhouse(
  address: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<ClickHouse> {
  const url = URL.canParse(address) ? new URL(address) : null
  if (url === null || !/^clickhouses?:$/.test(url.protocol) || url.hostname === '') {
    throw wrongAddress('')
  }
  const isSecure = url.protocol === 'clickhouses:'
  const [username, password, path] = [url.username, url.password, url.pathname.slice(1)].map(
    decoded,
  )
  const database = path || 'default'
  const host = `${url.hostname}:${url.port || (isSecure ? 8443 : 8123)}`
  const name = `${url.protocol}//${host}/${database}`
  const secret = password || env.CLICKHOUSE_PASSWORD || ''
  secrets.addPassword(secret)
  const client = (await loadClient()).createClient({
    url: `http${isSecure ? 's' : ''}://${host}`,
    username: username || 'default',
    password: secret,
    database,
    clickhouse_settings: settings,
    request_timeout: 3_600_000,
    // The client's log lines would mix with ours on standard error.
    log: { level: 127 },
  })
  const orUserError = async <T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      signal?.throwIfAborted()
      throw failure(name, username || 'default', secret, error)
    }
  }
  const queryOf = (query: string, query_params: Parameters = {}, signal?: AbortSignal) => ({
    ...{ query, query_params },
    ...(signal === undefined
      ? {}
      : {
          abort_signal: signal,
          clickhouse_settings: { cancel_http_readonly_queries_on_client_close: 1 as const },
        }),
  })
  return {
    name,
    command: (sql, parameters) =>
      orUserError(async () => void (await client.command(queryOf(sql, parameters)))),
    rows: <Row>(sql: string, parameters?: Parameters, { signal }: Pick<Work, 'signal'> = {}) =>
      orUserError(async () => {
        const query = queryOf(sql, parameters, signal)
        const answer = await client.query({ ...query, format: 'JSONEachRow' })
        return answer.json<Row>()
      }, signal),
    writeParquet: (sql, parameters, file, { signal } = {}) =>
      orUserError(async () => {
        const query = queryOf(`${sql}\nFORMAT Parquet`, parameters, signal)
        const { stream } = await client.exec(query)
        await pipeline(stream, createWriteStream(file))
      }, signal),
    insertParquet: (table, columns, file) =>
      orUserError(async () => {
        const [first, ...others] = columns
        await client.insert({
          table,
          values: createReadStream(file),
          format: 'Parquet',
          columns: [first!, ...others],
        })
      }),
    insertRows: (table, rows) =>
      orUserError(
        async () => void (await client.insert({ table, values: rows, format: 'JSONEachRow' })),
      ),
    close: () => client.close(),
  }
}

const wrongAddress = (why: string) =>
  userError.usage(
    `--engine: expected clickhouse://user:password@host:port/database, or clickhouses:// for TLS${why}.`,
  )

/** Decodes a part of an address. Errors never show the part, because it may be a password. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw wrongAddress('; in it, % stands before two hex digits, so a % itself is %25')
  }
}

const loadClient = () =>
  installed(() => import('@clickhouse/client'), '--engine: the client of ClickHouse', [
    '@clickhouse/client',
  ])

function failure(name: string, user: string, secret: string, error: unknown): UserError {
  const { code } = error as { code?: string }
  if (code === '60') {
    return userError.store(`${name} has no tables of Assay: create them with assay usage init.`)
  }
  if (code === '16' || code === '47') {
    return userError.store(
      `${name} has tables of another build of Assay: drop them, create them with assay usage init, and import the logs again (${reasonOf(error, new Secrets([secret, `${user}:${secret}`])).slice(0, 200)}).`,
    )
  }
  return userError.store(`${name}: ${reasonOf(error, new Secrets([secret, `${user}:${secret}`]))}`)
}
