import { createReadStream, createWriteStream, rmSync } from 'node:fs'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createGunzip, createZstdDecompress } from 'node:zlib'
import { userError } from '../../../user/user-error.ts'
import { firstBytes } from '../first-bytes.ts'
import { mustBeText } from './other-kinds.ts'
import { zstdFrames } from './zstd-frames.ts'

/** A log as plain UTF-8 text without a byte order mark. */
export interface DecodedFile {
  /** The file itself, or a copy. */
  readonly path: string
  /** Whether a compressed file ends early. The copy then has what could be unpacked. */
  readonly isCut: boolean
}

type Packing = 'gzip' | 'zstd' | null
type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be'

/**
 * Reads a text file to its end: unpacked (by its first bytes, not its name), and decoded if it is UTF-16. Most
 * files are plain already and are not copied.
 *
 * @param copy where a copy goes; only its owner can read it
 * @throws UserError for a damaged compressed file, one with a line that is too long, or one that is no text
 */
export async function decodedFile(
  file: string,
  copy: string,
  signal?: AbortSignal,
): Promise<DecodedFile> {
  const first = firstBytes(file, 4)
  const packing = packingOf(first)
  if (packing === null) {
    const named = /\.(gz|zst)$/i.exec(file)?.[1]
    if (named !== undefined) throw damaged(file, `it does not begin as a .${named} file does`)
    mustBeText(file, file)
    const { encoding, mark } = encodingOf(first)
    if (encoding === 'utf-8' && mark === 0) return { path: file, isCut: false }
  }
  const write = async (isWhole: boolean) => {
    const chunks = Readable.from(chunksOf(partsOf(file, packing, isWhole)))
    await pipeline(
      chunks,
      decoded(),
      boundedLines(file),
      createWriteStream(copy, { mode: 0o600 }),
      { signal },
    )
  }
  rmSync(copy, { force: true })
  try {
    await write(true)
    mustBeText(file, copy)
    return { path: copy, isCut: false }
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code === 'Z_BUF_ERROR') {
      await write(false)
      mustBeText(file, copy)
      return { path: copy, isCut: true }
    }
    if (code?.startsWith('Z_') || code?.startsWith('ZSTD_')) throw damaged(file, message)
    throw error
  }
}

const damaged = (file: string, why: string) =>
  userError.import(`${file} is damaged: ${why}. Nothing was imported.`)

function packingOf(bytes: Buffer): Packing {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return 'gzip'
  const magic = bytes.length < 4 ? 0 : bytes.readUInt32LE()
  return magic === 0xfd2fb528 || (magic >= 0x184d2a50 && magic <= 0x184d2a5f) ? 'zstd' : null
}

/** `mark` is the length of the byte order mark. Without one, UTF-16 is known by its zeros: a log begins with ASCII. */
function encodingOf(bytes: Buffer): { readonly encoding: Encoding; readonly mark: number } {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { encoding: 'utf-16le', mark: 2 }
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { encoding: 'utf-16be', mark: 2 }
  const zeros = Array.from(bytes.subarray(0, 4), (byte) => (byte === 0 ? '0' : 'x')).join('')
  if (zeros === 'x0x0') return { encoding: 'utf-16le', mark: 0 }
  if (zeros === '0x0x') return { encoding: 'utf-16be', mark: 0 }
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return { encoding: 'utf-8', mark: isMarked ? 3 : 0 }
}

type Part = () => AsyncIterable<Buffer>

/**
 * The parts of a file, one after the other. gzip members need no parts: Node reads them as one.
 *
 * @param isWhole false accepts an end in the middle
 */
function partsOf(file: string, packing: Packing, isWhole: boolean): readonly Part[] {
  const { Z_FINISH, Z_SYNC_FLUSH, ZSTD_e_end, ZSTD_e_flush } = constants
  if (packing === null) return [() => createReadStream(file)]
  if (packing === 'gzip') {
    const finishFlush = isWhole ? Z_FINISH : Z_SYNC_FLUSH
    return [() => through(createReadStream(file), createGunzip({ finishFlush }))]
  }
  const finishFlush = isWhole ? ZSTD_e_end : ZSTD_e_flush
  let start = 0
  return zstdFrames(file).map((length) => {
    const range = { start, ...(length === null ? {} : { end: start + length - 1 }) }
    start += length ?? 0
    return () => through(createReadStream(file, range), createZstdDecompress({ finishFlush }))
  })
}

function through(from: Readable, transform: Transform): AsyncIterable<Buffer> {
  from.on('error', (error) => transform.destroy(error))
  return from.pipe(transform)
}

async function* chunksOf(parts: readonly Part[]): AsyncGenerator<Buffer> {
  for (const part of parts) yield* part()
}

/** Removes the byte order mark, and turns UTF-16 into UTF-8. */
function decoded(): Transform {
  let decoder: InstanceType<typeof TextDecoder> | null = null
  let first: Buffer | null = Buffer.alloc(0)
  const begin = (bytes: Buffer) => {
    const { encoding, mark } = encodingOf(bytes)
    if (encoding !== 'utf-8') decoder = new TextDecoder(encoding)
    first = null
    return bytes.subarray(mark)
  }
  const text = (bytes: Buffer, more: boolean) =>
    decoder === null ? bytes : Buffer.from(decoder.decode(bytes, { stream: more }))
  return new Transform({
    transform(chunk: Buffer, _, done) {
      if (first === null) return done(null, text(chunk, true))
      first = Buffer.concat([first, chunk])
      done(null, first.length < 4 ? undefined : text(begin(first), true))
    },
    flush(done) {
      const rest = first === null ? Buffer.alloc(0) : begin(first)
      done(null, text(rest, false))
    },
  })
}

/** Far more than the longest line that an import reads. */
const longestLineBytes = 64 << 20

/** Refuses a line without end: a small compressed file can hold gigabytes of it. A list may be one line. */
function boundedLines(file: string): Transform {
  let [lineBytes, bytes] = [0, 0]
  let isList: boolean | null = null
  return new Transform({
    transform(chunk: Buffer, _, done) {
      isList ??= /^\s*\[/.test(chunk.toString('latin1', 0, 64))
      const end = chunk.lastIndexOf(lineFeed)
      lineBytes = end < 0 ? lineBytes + chunk.length : chunk.length - end - 1
      bytes += chunk.length
      if (lineBytes <= longestLineBytes || isList) return done(null, chunk)
      const from = (bytes - lineBytes).toLocaleString('en-US')
      done(
        userError.import(
          `${file}: expected lines of at most 64 MB; the one that begins at byte ${from} of its text has more. Nothing was imported.`,
        ),
      )
    },
  })
}

const lineFeed = 0x0a
