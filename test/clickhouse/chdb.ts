import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ClickHouse, openClickhouse } from '../../src/store/clickhouse/clickhouse.ts'
import { tablesSql } from '../../src/store/clickhouse/tables.ts'

/** Where `.ci/run` installs chdb, the engine of ClickHouse as a library: 548 MB that `npm ci` leaves alone. */
const folder = process.env.ASSAY_CHDB ?? join(homedir(), '.cache/assay-chdb')
export const withoutChdb = existsSync(join(folder, 'node_modules/chdb'))
  ? null
  : `chdb is not installed in ${folder}`

export interface Door {
  /** Address of a database of the engine, with the user and the password. */
  readonly address: (database: string) => string
  readonly pid: number | undefined
  close(): void
}

/** The real engine in a process of its own, for the real client. */
export async function openDoor(): Promise<Door> {
  const data = mkdtempSync(join(tmpdir(), 'assay-chdb-'))
  const door = spawn(
    process.execPath,
    [join(import.meta.dirname, 'door.ts'), folder, join(data, 'data')],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const port = await new Promise<string>((resolve, reject) => {
    door.stdout.once('data', (text) => resolve(String(text).trim()))
    door.once('exit', (code) => reject(new Error(`the door ended with ${code}`)))
  })
  return {
    address: (database) => `clickhouse://assay:s3cret%2Bpass@127.0.0.1:${port}/${database}`,
    pid: door.pid,
    close() {
      door.kill('SIGKILL')
      rmSync(data, { recursive: true, force: true })
    },
  }
}

/** The engine with the tables of usage, and how to end both. */
export async function openTables(): Promise<{
  readonly door: Door
  readonly clickhouse: ClickHouse
  close(): Promise<void>
}> {
  const door = await openDoor()
  const clickhouse = await openClickhouse(door.address('default'))
  for (const statement of tablesSql(null)) await clickhouse.command(statement)
  return {
    ...{ door, clickhouse },
    async close() {
      await clickhouse.close()
      door.close()
    },
  }
}
