import { existsSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { canWrite } from './can-write.ts'

const gib = 2 ** 30
/** What a thread of DuckDB needs to sort and group any number of rows in parts. */
const ofThread = gib
/** With less, queries of many attempts end with an error instead of working on disk. */
const least = 2 * gib
/** DuckDB's own limit: this share of the machine's memory. */
const shareOfMachine = 0.8

/**
 * How much memory DuckDB may use for a file. What does not fit goes to the spill folder.
 *
 * @param threads of DuckDB; as many as the machine has cores if absent
 * @param memory bytes of the machine, or of the container
 * @returns bytes
 */
export const memoryLimit = (threads = availableParallelism(), memory = machineMemory()): number =>
  Math.floor(Math.min(Math.max(least, threads * ofThread), memory * shareOfMachine))

/** A container may have less than its machine. */
function machineMemory(): number {
  const constrained = process.constrainedMemory()
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem()
}

/** Sets the limit again that a store opened with. In `:memory:`, the rows themselves are in this memory. */
export const usualMemorySql = (path: string): string =>
  path === ':memory:' ? 'RESET memory_limit' : `SET memory_limit = '${memoryLimit()}B'`

/** Where DuckDB writes what does not fit in memory: it makes this folder beside a file, and removes it at the end. */
const spillBeside = (path: string) => `${path}.tmp`

/**
 * A spill folder elsewhere, for a file in a folder that only can be read; null if it is beside the file, or if there is no
 * place for it: a query that needs it then says so.
 */
export function spillElsewhere(path: string, elsewhere = tmpdir()): string | null {
  if (canWrite(dirname(path))) return null
  return canWrite(elsewhere) ? mkdtempSync(join(elsewhere, 'assay-')) : null
}

/** Removes the spill folder that a killed process left. Only the holder of the file may call this. */
export function removeLeftSpill(path: string): void {
  const folder = spillBeside(path)
  if (!existsSync(folder)) return
  try {
    for (const name of readdirSync(folder)) {
      if (name.startsWith('duckdb_temp_')) rmSync(join(folder, name))
    }
    // Not if others keep files in it.
    rmdirSync(folder)
  } catch {
    // It harms nobody.
  }
}
