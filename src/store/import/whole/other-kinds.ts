import { userError } from '../../../user/user-error.ts'
import { firstBytes } from '../first-bytes.ts'

/** A file that is no text, known by bytes at one place. */
interface OtherKind {
  readonly at: number
  readonly bytes: string
  readonly is: string
  readonly todo: string
}

const unpack = 'Unpack it, and import what is in it'
const asText = 'Save it as CSV or JSON Lines'

const otherKinds: readonly OtherKind[] = [
  { at: 0, bytes: 'BZh', is: 'a bzip2 file', todo: unpack },
  { at: 0, bytes: '\xfd7zXZ\0', is: 'an xz file', todo: unpack },
  { at: 0, bytes: '7z\xbc\xaf', is: 'a 7-Zip archive', todo: unpack },
  { at: 257, bytes: 'ustar', is: 'a tar archive', todo: unpack },
  { at: 0, bytes: '%PDF-', is: 'a PDF', todo: asText },
  { at: 0, bytes: 'SQLite format 3\0', is: 'an SQLite database', todo: asText },
  { at: 0, bytes: '\xd0\xcf\x11\xe0', is: 'an old Excel workbook', todo: asText },
  { at: 0, bytes: '\xff\xfe\0\0', is: 'UTF-32 text', todo: 'Save it as UTF-8' },
  { at: 0, bytes: '\0\0\xfe\xff', is: 'UTF-32 text', todo: 'Save it as UTF-8' },
  { at: 0, bytes: 'PAR1', is: 'Parquet', todo: 'Import it with --format parquet' },
]

/** A workbook is an archive too. */
const workbook = /\.(xlsx|xlsm|ods)(\.gz|\.zst)?$/i

/**
 * Refuses a file that is no text, by its content: its lines would mean nothing.
 *
 * @param path the file itself, or what was unpacked from it
 * @throws UserError with what the file is, and what to do
 */
export function mustBeText(file: string, path: string): void {
  // Each byte as a character.
  const kind = kindOf(file, firstBytes(path, 512).toString('latin1'))
  if (kind === null) return
  throw userError.import(`${file} is ${kind.is}. ${kind.todo}. Nothing was imported.`)
}

function kindOf(file: string, text: string): Pick<OtherKind, 'is' | 'todo'> | null {
  if (text.startsWith('PK\x03\x04')) {
    return workbook.test(file)
      ? { is: 'a workbook', todo: asText }
      : { is: 'a zip archive', todo: unpack }
  }
  if (/^\s*<(!doctype html|html|\?xml)/i.test(text)) {
    return { is: 'a page, not a log', todo: 'Look at what it says: a login may be missing' }
  }
  return otherKinds.find(({ at, bytes }) => text.startsWith(bytes, at)) ?? null
}
