import { fstatSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { type UserError, userError } from '../../user/user-error.ts'
import { diskFailure } from './errors.ts'
import { memoryLimit, removeLeftSpill, spillElsewhere } from './memory.ts'
import { keepByteOrderMarks } from './whole-texts.ts'

keepByteOrderMarks()

/** What an operation that writes attempts is: any, or a run. */
export type Writer = 'attempts' | 'run'

/** The open files of this thread, and those that its other threads have. */
const openFiles = new Set<StoreFile>()
const reserved = new Map<string, string>()

export interface Opening {
  /** Who wants the file alone, for errors: "a run". Absent: all holders share it. */
  readonly alone?: string | undefined
  /** Whether its holder only reads: a small file then gets one thread of DuckDB. */
  readonly isRead?: boolean
}

/** A query of such a file takes less than to hand its parts to other threads. */
const smallFileBytes = 16 << 20

/**
 * @throws UserError `store-held` if another process, thread or library has the file, or a holder in this one is to be alone
 */
export async function openFile(path: string, opening: Opening = {}): Promise<StoreFile> {
  if (path === ':memory:') return StoreFile.open(path, null, opening)
  const place = placeOf(path)
  const known = [...openFiles].find((file) => file.isAt(place))
  const by = reserved.get(place) ?? known?.alone
  if (by !== undefined) throw held(path, by)
  if (known === undefined) return StoreFile.open(path, place, opening)
  if (opening.alone !== undefined) throw held(path, 'an open store')
  known.hold()
  try {
    await known.opened
  } catch (error) {
    known.release()
    throw error
  }
  return known
}

/** Whether this thread has the file open. */
export function isOpen(path: string): boolean {
  const place = placeOf(path)
  return [...openFiles].some((file) => file.isAt(place))
}

/**
 * Keeps a file for something that opens it by itself, such as a thread.
 *
 * @param by who has it, for errors: "a run"
 * @returns what gives the file back
 * @throws UserError `store-held` if this process has it open
 */
export function reserveFile(path: string, by: string): () => void {
  const place = placeOf(path)
  const before = reserved.get(place)
  if (before !== undefined) throw held(path, before)
  if (isOpen(path)) throw held(path, 'an open store')
  reserved.set(place, by)
  return () => reserved.delete(place)
}

/**
 * A DuckDB file that this process has open. DuckDB's lock excludes other processes, not a second instance in the same
 * process, and two instances on one file destroy it. So one file is one instance, which all holders share.
 */
export class StoreFile {
  readonly opened: Promise<void>
  instance!: DuckDBInstance
  private readonly place: string | null
  /** Where DuckDB writes what does not fit in memory; null for its own place beside the file. */
  private spill: string | null = null
  private identity: string | null = null
  /** Who has the file alone, for errors. */
  readonly alone: string | undefined
  private holders = 1
  private preparing: Promise<void> | null = null
  private writing: Promise<void> = Promise.resolve()
  private hasRun = false

  private constructor(path: string, place: string | null, { alone, isRead = false }: Opening) {
    this.place = place
    this.alone = alone
    this.opened = this.create(path, isRead)
  }

  static async open(path: string, place: string | null, opening: Opening): Promise<StoreFile> {
    const file = new StoreFile(path, place, opening)
    if (place !== null) openFiles.add(file)
    try {
      await file.opened
    } catch (error) {
      file.release()
      throw error
    }
    return file
  }

  private async create(path: string, isRead: boolean): Promise<void> {
    const there = this.place === null ? undefined : statSync(path, { throwIfNoEntry: false })
    // DuckDB waits for the other end of a pipe, for ever.
    if (there?.isFile() === false) {
      throw userError.store(
        `${path} is no file but a folder, a pipe or a device. Use another --db.`,
      )
    }
    if (this.place !== null && isOpenElsewhere(this.place)) throw held(path, 'another thread')
    if (this.place !== null) this.identity = identityOf(this.place)
    const isSmall = there !== undefined && there.size < smallFileBytes
    if (this.place !== null) this.spill = spillElsewhere(path)
    this.instance = await DuckDBInstance.create(path, {
      ...(isRead && isSmall ? { threads: '1' } : {}),
      ...(this.place === null ? {} : { memory_limit: `${memoryLimit()}B` }),
      ...(this.spill === null ? {} : { temp_directory: this.spill }),
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
    }).catch((error: unknown) => {
      throw diskFailure(path, error) ?? openFailure(path, String(error))
    })
    if (this.place === null) return
    this.identity = identityOf(this.place)
    removeLeftSpill(path)
  }

  /** A file that was removed and made again is another one. A new one has no identity until it is there. */
  isAt(place: string): boolean {
    return this.identity === null ? this.place === place : this.identity === identityOf(place)
  }

  /** Runs `prepare` for the first holder; the others wait for it. */
  prepared(prepare: () => Promise<void>): Promise<void> {
    this.preparing ??= prepare()
    return this.preparing
  }

  hold(): void {
    this.holders++
  }

  /** The last release closes the instance. */
  release(): void {
    this.holders--
    if (this.holders > 0) return
    openFiles.delete(this)
    this.instance?.closeSync()
    if (this.spill !== null) rmSync(this.spill, { recursive: true, force: true })
  }

  /**
   * Waits until no other operation writes attempts. They number rows by what is in the store, and share its journal.
   *
   * @returns what ends the turn
   * @throws UserError `store-held` for a run, which cannot wait, if another run has its turn
   */
  async turnToWrite(writer: Writer): Promise<() => void> {
    if (writer === 'run' && this.hasRun) throw held(this.place ?? ':memory:', 'another run')
    this.hasRun ||= writer === 'run'
    const before = this.writing
    const turn = Promise.withResolvers<void>()
    this.writing = turn.promise
    await before
    return () => {
      if (writer === 'run') this.hasRun = false
      turn.resolve()
    }
  }
}

/** Whether two paths lead to one file. */
export function isSameFile(a: string, b: string): boolean {
  const [left, right] = [placeOf(a), placeOf(b)]
  const identity = identityOf(left)
  return left === right || (identity !== null && identity === identityOf(right))
}

/** One name for all spellings of a path, also through links. */
function placeOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // The file is to be made.
  }
  try {
    return join(realpathSync(dirname(path)), basename(path))
  } catch {
    return resolve(path)
  }
}

function identityOf(place: string): string | null {
  const status = statSync(place, { bigint: true, throwIfNoEntry: false })
  return status === undefined ? null : `${status.dev}:${status.ino}`
}

/** Whether a descriptor of this process leads to the file: of another thread, or of another library. */
function isOpenElsewhere(place: string): boolean {
  const identity = identityOf(place)
  if (identity === null) return false
  let descriptors: readonly string[]
  try {
    descriptors = readdirSync('/dev/fd')
  } catch {
    // Windows has none, and refuses the second opening itself.
    return false
  }
  return descriptors.some((descriptor) => {
    try {
      const { dev, ino } = fstatSync(Number(descriptor), { bigint: true })
      return `${dev}:${ino}` === identity
    } catch {
      return false
    }
  })
}

const held = (path: string, by: string) =>
  userError['store-held'](
    `${path} is held by ${by} in this process. Wait until it has ended, or use another file.`,
  )

function openFailure(path: string, error: string): UserError {
  // Not `lock` alone: messages about a damaged block contain it, too.
  if (/\b(?:set|conflicting) lock\b/i.test(error)) {
    return userError['store-held'](
      `${path} is held by another process (a run, an audit or a DuckDB client). Close it, or use another --db.`,
    )
  }
  if (/not a valid DuckDB database/i.test(error)) {
    return userError.store(`${path} is not a DuckDB file. Use another --db.`)
  }
  if (/No such file or directory/i.test(error)) {
    return userError.store(
      `${path} cannot be opened: there is no folder ${dirname(path)}. Make it, or use another --db.`,
    )
  }
  return userError.store(
    `${path} cannot be opened: ${error.split('\n')[0]!.replace(/^Error: /, '')}`,
  )
}
