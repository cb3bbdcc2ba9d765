import {
  closeSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { cannotWrite } from './errors.ts'

/**
 * Writes a file under the name `FILE.partial` and renames it when it is complete. So a killed command leaves no
 * incomplete result, and the next command overwrites the partial file.
 *
 * @throws UserError with the file, the cause and the remedy
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

interface Output {
  readonly partial: string
  /** Gives the file its final name. */
  finish(): void
  discard(): void
}

function outputAt(path: string): Output {
  try {
    const there = statSync(path, { throwIfNoEntry: false })
    // A pipe or a device cannot be renamed.
    if (there !== undefined && !there.isFile() && !there.isDirectory()) {
      return { partial: path, finish: () => {}, discard: () => {} }
    }
    // A link is followed, not replaced.
    const target = there === undefined ? path : realpathSync(path)
    const partial = `${target}.partial`
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
