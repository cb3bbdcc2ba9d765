import {
  closeSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { cannotWrite } from '../session/errors.ts'
import { mustStandApart, type NamedFile, partialOf } from './files-apart.ts'

/**
 * Writes a file under the name `FILE.partial` and renames it when it is complete. So a killed command leaves no
 * incomplete result, and the next command overwrites the partial file.
 *
 * @throws UserError for a file of a store that is open, and with the file, the cause and the remedy
 */
export function writeOutput(path: string, content: string | Uint8Array): void {
  const output = outputAt(path)
  try {
    writeFileSync(output.partial, content)
    output.finish()
  } catch (error) {
    output.discard()
    throw cannotWrite(path, error)
  }
}

/** The same for a file that DuckDB writes, to the path that `write` receives. */
export async function writeOutputBy<T>(
  path: string,
  write: (partial: string) => Promise<T>,
): Promise<T> {
  const output = outputAt(path)
  try {
    const result = await write(output.partial)
    output.finish()
    return result
  } catch (error) {
    output.discard()
    throw error instanceof Error && error.message.includes(output.partial)
      ? cannotWrite(path, error)
      : error
  }
}

/** The stores that this process has open. */
const openStores = new Set<NamedFile>()

/** Protects a store and the files next to it from outputs. @returns how to end that */
export function protectStore(path: string): () => void {
  const store: NamedFile = { name: '--db', path, role: 'store' }
  openStores.add(store)
  return () => void openStores.delete(store)
}

interface Output {
  readonly partial: string
  /** Gives the file its final name. */
  finish(): void
  discard(): void
}

function outputAt(path: string): Output {
  mustStandApart([{ name: 'the output', path, role: 'output' }, ...openStores])
  try {
    const there = statSync(path, { throwIfNoEntry: false })
    // A pipe or a device cannot be renamed.
    if (there !== undefined && !there.isFile() && !there.isDirectory()) {
      return { partial: path, finish: () => {}, discard: () => {} }
    }
    // A link is followed, not replaced.
    const target = there === undefined ? path : realpathSync(path)
    const partial = partialOf(target)
    closeSync(openSync(there?.isDirectory() ? target : partial, 'w'))
    return {
      partial,
      finish: () => renameSync(partial, target),
      discard: () => rmSync(partial, { force: true }),
    }
  } catch (error) {
    throw cannotWrite(path, error)
  }
}
