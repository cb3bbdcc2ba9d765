import { createReadStream, createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { UserError } from '../../user/user-error.ts'

/** Values of the parameters of a query, `{name:Type}` in its text. */
export type Parameters = Readonly<Record<string, string | number | readonly (string | number)[]>>

/** A database of ClickHouse, over HTTP. */
export interface ClickHouse {
  /** Its address without a password. */
  readonly name: string
  command(sql: string, parameters?: Parameters): Promise<void>
  rows<Row>(sql: string, parameters?: Parameters): Promise<readonly Row[]>
  /** Writes the answer of a query to a file. */
  writeParquet(sql: string, parameters: Parameters, file: string): Promise<void>
  insertParquet(table: string, columns: readonly string[], file: string): Promise<void>
  insertRows(table: string, rows: readonly object[]): Promise<void>
  close(): Promise<void>
}

/** What SQL of both engines means the same by. */
const settings = {
  join_use_nulls: 1,
  cast_keep_nullable: 1,
  aggregate_functions_null_for_empty: 1,
  union_default_mode: 'DISTINCT',
  output_format_json_quote_64bit_integers: 0,
  // A file may tell of many days; a partition is one of them, and no id is in two.
  max_partitions_per_insert_block: '0',
  do_not_merge_across_partitions_select_final: 1,
  // Over shards: an insert ends when the rows are there, and sums go to the shard of their hash.
  distributed_foreground_insert: 1,
  parallel_distributed_insert_select: '0',
} as const

/**
 * Opens `clickhouse://user:password@host:port/database` (`clickhouses://` by TLS). The password may also
 * come from CLICKHOUSE_PASSWORD; no error holds it.
 *
 * @throws UserError for another kind of address, and where the client is not installed
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
  const client = (await loadClient()).createClient({
    ...{ url: `http${isSecure ? 's' : ''}://${host}`, username: username || 'default' },
    ...{ password: secret, database, clickhouse_settings: settings },
    request_timeout: 3_600_000,
    // Its own lines on standard error would stand among ours.
    log: { level: 127 },
  })
  const orUserError = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      throw failure(name, secret, error)
    }
  }
  const queryOf = (query: string, query_params: Parameters = {}) => ({ query, query_params })
  return {
    name,
    command: (sql, parameters) =>
      orUserError(async () => void (await client.command(queryOf(sql, parameters)))),
    rows: <Row>(sql: string, parameters?: Parameters) =>
      orUserError(async () => {
        const answer = await client.query({ ...queryOf(sql, parameters), format: 'JSONEachRow' })
        return answer.json<Row>()
      }),
    writeParquet: (sql, parameters, file) =>
      orUserError(async () => {
        const { stream } = await client.exec(queryOf(`${sql}\nFORMAT Parquet`, parameters))
        await pipeline(stream, createWriteStream(file))
      }),
    insertParquet: (table, columns, file) =>
      orUserError(async () => {
        const [first, ...others] = columns
        await client.insert({
          ...{ table, values: createReadStream(file), format: 'Parquet' },
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
  new UserError(
    'usage',
    `--engine: expected clickhouse://user:password@host:port/database, or clickhouses:// for TLS${why}.`,
  )

/** A part of an address; the part itself may be a password, so no error shows it. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw wrongAddress('; in it, % stands before two hex digits, so a % itself is %25')
  }
}

/** It is installed by who has a ClickHouse. @throws UserError where it is not */
async function loadClient() {
  try {
    return await import('@clickhouse/client')
  } catch {
    throw new UserError(
      'usage',
      '--engine: the client of ClickHouse is not installed. Install it next to assay: npm install @clickhouse/client.',
    )
  }
}

function failure(name: string, secret: string, error: unknown): UserError {
  const { code } = error as { code?: string }
  if (code === '60') {
    return new UserError(
      'store',
      `${name} has no tables of Assay: create them with assay usage init.`,
    )
  }
  const says = String(error instanceof Error ? error.message || code : error).split('\n')[0]!
  const masked = secret === '' ? says : says.replaceAll(secret, '[password]')
  return new UserError('store', `${name}: ${masked}`)
}
