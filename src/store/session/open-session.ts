import type { DuckDBConnection, DuckDBResult, DuckDBValue } from '@duckdb/node-api'
import { forms } from '../attempts/layout.ts'
import { readDoubleBatches, readDoubles } from '../read/doubles.ts'
import type { StoreFile } from './file.ts'
import type { Cell, Session, SessionScope } from './session.ts'

const interruptEveryMs = 10

/** Up to this many attempts of a store, a copy costs less than what it saves an audit or a page. */
const fewAttempts = 10_000

const rowsSql = `SELECT ${forms.map(({ table }) => `(SELECT count(*) FROM ${table})`).join(' + ')} AS rows`

/** The view of the scope is dropped, not replaced: a table cannot replace a view. */
const atHandSql = `
  CREATE TEMP TABLE attempts_at_hand AS FROM attempts;
  DROP VIEW IF EXISTS temp.attempts;
  ALTER TABLE attempts_at_hand RENAME TO attempts`

const valuesAtHandSql = `
  CREATE TEMP TABLE values_at_hand AS FROM attempt_values;
  ALTER TABLE values_at_hand RENAME TO attempt_values`

/** Opens a connection to a file. @param onClose is called once it is closed */
export async function openSession(
  path: string,
  file: StoreFile,
  scope: SessionScope = {},
  onClose: () => void = () => {},
): Promise<Session> {
  file.hold()
  let endTurn: () => void = () => {}
  let connection: DuckDBConnection
  try {
    if (scope.writes !== undefined) endTurn = await file.turnToWrite(scope.writes)
    connection = await connect(file, scope)
  } catch (error) {
    endTurn()
    file.release()
    throw error
  }
  const used = new Set([connection])
  const running = new Set<object>()
  let isClosed = false
  let isAtHand = false
  let areValuesAtHand = false

  const disconnect = () => {
    connection.closeSync()
    file.release()
    endTurn()
    onClose()
  }
  /** A connection that closes under its query crashes the process. */
  async function use<T>(work: () => Promise<T>): Promise<T> {
    if (isClosed) throw new Error(`the session on ${path} is closed`)
    const query = {}
    running.add(query)
    try {
      return await work()
    } finally {
      running.delete(query)
      if (isClosed && running.size === 0) disconnect()
    }
  }

  /** DuckDB forgets an interrupt that comes before its query begins, so it is repeated until the query has ended. */
  function interrupt(): void {
    const meant = [...running]
    const again = () => {
      if (!meant.some((query) => running.has(query))) return
      for (const each of used) each.interrupt()
      setTimeout(again, interruptEveryMs)
    }
    again()
  }

  function stream<T>(
    sql: string,
    parameters: readonly DuckDBValue[],
    read: (result: DuckDBResult) => Promise<T>,
  ): Promise<T> {
    return use(async () => {
      // Only this connection has the copy, and its rows are few.
      if (isAtHand) return read(await connection.run(sql, [...parameters]))
      // The next query on a connection ends a result that is still being streamed, so this one has its own.
      const own = await connect(file, scope)
      used.add(own)
      try {
        return await read(await own.stream(sql, [...parameters]))
      } finally {
        used.delete(own)
        own.closeSync()
      }
    })
  }

  return {
    path,
    rows: <Row>(sql: string, parameters: readonly DuckDBValue[] = []) =>
      use(async () => {
        // Given no list, DuckDB's library runs the text in one step. Given one, it extracts, prepares, binds and runs it.
        const bound = parameters.length > 0 ? [[...parameters]] : []
        const reader = await connection.runAndReadAll(sql, ...bound)
        return reader.getRowObjectsJS().map(narrowRow) as unknown as readonly Row[]
      }),
    doubles: (sql, parameters = []) => stream(sql, parameters, readDoubles),
    doubleBatches: (sql, parameters, take) =>
      stream(sql, parameters, (result) => readDoubleBatches(result, take)),
    execute: (sql, parameters = []) =>
      use(async () => {
        if (parameters.length > 0) await connection.run(sql, [...parameters])
        else await connection.run(sql)
      }),
    takeAttemptsAtHand: ({ values = false } = {}) =>
      use(async () => {
        if (!isAtHand) {
          const reader = await connection.runAndReadAll(rowsSql)
          if (Number(reader.getRowObjectsJS()[0]!.rows) > fewAttempts) return false
          await connection.run(atHandSql)
          isAtHand = true
        }
        if (values && !areValuesAtHand) {
          await connection.run(valuesAtHandSql)
          areValuesAtHand = true
        }
        return true
      }),
    createAppender: (table) => use(() => connection.createAppender(table)),
    interrupt,
    close() {
      if (isClosed) return
      isClosed = true
      if (running.size === 0) disconnect()
      else interrupt()
    },
  }
}

async function connect({ instance }: StoreFile, { only }: SessionScope): Promise<DuckDBConnection> {
  const connection = await instance.connect()
  if (only === undefined) return connection
  try {
    // The temporary view hides the view of the same name.
    const reader = await connection.runAndReadAll('SELECT current_database() AS name')
    const database = String(reader.getRowObjectsJS()[0]!.name)
    await connection.run(
      `CREATE TEMP VIEW attempts AS SELECT attempts.*
       FROM "${database.replaceAll('"', '""')}".main.attempts WHERE ${only}`,
    )
    return connection
  } catch (error) {
    connection.closeSync()
    throw error
  }
}

function narrowRow(row: Record<string, unknown>): Record<string, Cell> {
  for (const name in row) row[name] = narrow(row[name])
  return row as Record<string, Cell>
}

/** Turns bigint into number where that is exact. */
function narrow(value: unknown): unknown {
  if (typeof value === 'bigint') {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : value
  }
  return Array.isArray(value) ? value.map(narrow) : value
}
