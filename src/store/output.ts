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
 * Files that others read are written under another name first, `FILE.partial`, and renamed when they
 * are whole: what a killed command leaves looks like no result, and the next one writes over it.
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

/** The same for a file that DuckDB writes, by the name that it is given. */
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
  /** Gives it its own name. */
  finish(): void
  discard(): void
}

function outputAt(path: string): Output {
  try {
    const there = statSync(path, { throwIfNoEntry: false })
    // A pipe or a device has no other name.
    if (there !== undefined && !there.isFile() && !there.isDirectory()) {
      return { partial: path, finish: () => {}, discard: () => {} }
    }
    // Behind a link lies what is meant.
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
