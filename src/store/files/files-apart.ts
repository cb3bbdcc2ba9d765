import { lstatSync, readlinkSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { userError } from '../../user/user-error.ts'

/** What a command does with a file. `pictures` is a folder that gets PNG files; an `older` input may be replaced. */
export type FileRole = 'input' | 'older' | 'output' | 'store' | 'pictures'

export interface NamedFile {
  /** How the user named it, such as `--out`. */
  readonly name: string
  readonly path: string
  readonly role: FileRole
}

/** Files next to a store that Assay or DuckDB writes. */
const sideFiles = [
  ...['.wal', '.journal', '.journal.damaged', '.bodies'],
  ...['.import', '.import.wal', '.import.jsonl'],
]

/** An output is written under this name, then renamed. */
export const partialOf = (path: string) => `${path}.partial`

/**
 * Checks, before anything is done, that no output is the store, a file next to it, an input, or another output. A file
 * is recognised whatever the spelling of its path, also through links. Pipes and devices are never the same.
 *
 * @throws UserError that names both files
 */
export function mustStandApart(files: readonly NamedFile[]): void {
  const places = files.flatMap(placesOf)
  for (const [at, one] of places.entries()) {
    for (const other of places.slice(at + 1)) {
      if (one.file === other.file || !mayClash(one, other) || !isSame(one, other)) continue
      const [output, taken] = one.file.role === 'output' ? [one, other] : [other, one]
      throw userError.usage(
        `${output.file.name}: expected a file of its own; got ${output.file.path}, ${wordsOf(output, taken)}. Name another file. Nothing was done.`,
      )
    }
  }
}

/** A path that a command reads or writes, because of a file that the user named. */
interface Place {
  readonly file: NamedFile
  readonly path: string
  readonly isWritten: boolean
  /** The path is what the user named, not one beside it. */
  readonly isItself: boolean
  /** Null for a pipe or a device. */
  readonly identity: string | null
}

function placesOf(file: NamedFile): readonly Place[] {
  const { path, role } = file
  const itself = placeOf(file, path, role !== 'input' && role !== 'older')
  if (role === 'store') return [itself, ...sideFiles.map((end) => placeOf(file, path + end, true))]
  // A pipe or a device gets its content at once.
  if (role !== 'output' || itself.identity === null) return [itself]
  return [itself, placeOf(file, partialOf(path), true)]
}

function placeOf(file: NamedFile, path: string, isWritten: boolean): Place {
  return { file, path, isWritten, isItself: path === file.path, identity: identityOf(path) }
}

function mayClash(one: Place, other: Place): boolean {
  if (!one.isWritten && !other.isWritten) return false
  const roles = [one.file.role, other.file.role]
  // Two options may name one store.
  const isAllowed = roles.every((role) => role === 'store') || roles.includes('older')
  return !isAllowed || !one.isItself || !other.isItself
}

function isSame(one: Place, other: Place): boolean {
  for (const [folder, place] of [
    [one, other],
    [other, one],
  ] as const) {
    if (folder.file.role === 'pictures' && /\.png$/i.test(place.path)) {
      return folder.identity !== null && folder.identity === identityOf(dirname(place.path))
    }
  }
  return one.identity !== null && one.identity === other.identity
}

function wordsOf(output: Place, taken: Place): string {
  const what = takenWords(taken)
  return output.isItself ? `which is ${what}` : `which is first written to ${output.path}, ${what}`
}

function takenWords({ file, isItself }: Place): string {
  if (file.role === 'store') {
    return isItself ? `the store of ${file.name}` : `a file of the store of ${file.name}`
  }
  return file.role === 'pictures' ? `in the folder of ${file.name}` : `also ${file.name}`
}

/** The same text for every path of one file, whether it exists or not; null for a pipe or a device. */
export function identityOf(path: string, links = 40): string | null {
  const full = resolve(path)
  const there = statSync(full, { throwIfNoEntry: false, bigint: true })
  if (there !== undefined) {
    return there.isFile() || there.isDirectory() ? `${there.dev}:${there.ino}` : null
  }
  const link = lstatSync(full, { throwIfNoEntry: false })
  if (link?.isSymbolicLink() && links > 0) {
    return identityOf(resolve(dirname(full), readlinkSync(full)), links - 1)
  }
  return `${identityOf(dirname(full), links)}/${basename(full)}`
}
