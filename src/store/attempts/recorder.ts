import type { DuckDBAppender } from '@duckdb/node-api'
import { Batch, type BatchMessage, batchRows, Dictionary } from '../../attempt/batch.ts'
import { type AttemptRow, sqlName } from '../../attempt/columns.ts'
import type { BodyRow, TaskRow, TemplateRow, WrongAnswerRow } from '../../attempt/evidence.ts'
import { words } from '../../user/words.ts'
import { chunkOf, columnTypesOf, type RowCell } from '../insert-row.ts'
import type { Session } from '../session/session.ts'
import { BatchAppender } from './batch-appender.ts'
import { journalPath } from './journal.ts'
import { hasRoomForBodies, longestInline, PackedBodies } from './packed-bodies.ts'

/** A row of `histograms`: one HDR histogram of an interval. */
export interface HistogramRow {
  readonly runId: string
  readonly phase: string
  readonly part: string
  readonly step: string
  readonly metric: string
  readonly intervalUs: number
  readonly intervalLengthUs: number
  readonly samples: number
  readonly hdr: Uint8Array
}

/** A row of `health`: one second of one thread of the client. */
export interface HealthRow {
  readonly runId: string
  /** Sending thread; -1 is the recorder. */
  readonly shard: number
  readonly atUs: number
  readonly loopDelayP99Us: number
  /** The longest time for which the event loop did not run, and its end. */
  readonly loopGapUs: number
  readonly loopGapEndUs: number | null
  readonly utilisation: number
  readonly lagP99Us: number | null
  readonly inFlight: number
  readonly queuedBatches: number
}

/** A body in its row, or its place in the file next to the store. */
interface StoredBody extends Omit<BodyRow, 'body'> {
  readonly body: string | null
  readonly packedAt: number | null
}

interface EvidenceTables {
  readonly templates: TemplateRow
  readonly bodies: StoredBody
  readonly wrong_answers: WrongAnswerRow
  readonly tasks: TaskRow
  readonly histograms: HistogramRow
  readonly health: HealthRow
}

/** Columns of the evidence tables, in the order of the schema. */
const evidenceColumns = {
  templates: words('runId template step method path headers body maxTokens n promptHash'),
  bodies: ['runId', 'slot', 'retry', 'headers', 'body', 'truncated', 'packedAt'],
  tasks: words('runId session task phase part intendedUs endedUs outcome requests skipped waitUs'),
  wrong_answers: ['runId', 'slot', 'retry', 'why', 'answer'],
  histograms: words('runId phase part step metric intervalUs intervalLengthUs samples hdr'),
  health: [
    ...words(
      'runId shard atUs loopDelayP99Us loopGapUs loopGapEndUs utilisation lagP99Us inFlight',
    ),
    ...words('queuedBatches'),
  ],
} as const satisfies { [Table in keyof EvidenceTables]: readonly (keyof EvidenceTables[Table])[] }

/** DuckDB receives text in chunks of this size, even if they have few rows. */
const chunkCharacters = 1 << 20
const flushCharacters = 4 << 20

/**
 * Appends rows to an open store, in columns.
 *
 * Every call blocks its thread (a flush of a second's rows takes tens of milliseconds), so a run has a thread for it.
 * Rows are safe from a kill once `flush` has returned.
 */
export class Recorder {
  private readonly attempts: BatchAppender
  private readonly appenders = new Map<keyof EvidenceTables, DuckDBAppender>()
  private readonly session: Session
  private packedBodies: PackedBodies | null = null
  private roomForBodies = true
  private rows = 0
  /** Bodies that were dropped because the disk was full. */
  bodiesGivenUp = 0

  private constructor(session: Session, attempts: BatchAppender) {
    this.session = session
    this.attempts = attempts
  }

  /**
   * @param memoryMiB memory limit of DuckDB, for a store that is only written to: without a limit every written block
   * stays in memory while there is room
   * @throws UserError when the tables of attempts do not match the row type
   */
  static async open(session: Session, memoryMiB: number | null = null): Promise<Recorder> {
    if (memoryMiB !== null) await session.execute(`SET memory_limit = '${memoryMiB}MiB'`)
    // A checkpoint stalls the recorder, so it is rare, but early enough that evidence does not fill the memory. One
    // thread: it must not take a second core from the sending threads.
    await session.execute(`SET checkpoint_threshold = '32MiB'`)
    await session.execute('SET threads = 1')
    // Nearly all cells are whole numbers. Trying other compressions costs more than they would save.
    await session.execute(`SET force_compression = 'bitpacking'`)
    const journal = session.path === ':memory:' ? null : journalPath(session.path)
    const recorder = new Recorder(session, await BatchAppender.open(session, journal))
    for (const table of Object.keys(evidenceColumns) as (keyof EvidenceTables)[]) {
      recorder.appenders.set(table, await session.createAppender(table))
    }
    return recorder
  }

  /**
   * Appends a batch. Its buffer is free for the next fill when this returns.
   *
   * @param sender the thread that filled it, whose list the word codes refer to
   * @returns the number of rows
   */
  appendBatch(sender: number, message: BatchMessage): number {
    const rows = this.attempts.append(sender, message)
    this.rows += rows
    return rows
  }

  /** Keeps bodies while the disk has room. Rows have priority. */
  appendBodies(rows: readonly BodyRow[]): void {
    const kept: StoredBody[] = []
    for (const row of rows) {
      try {
        if (this.roomForBodies) kept.push(this.storedBody(row))
        else this.bodiesGivenUp++
      } catch {
        this.roomForBodies = false
        this.bodiesGivenUp++
      }
    }
    this.append('bodies', kept)
  }

  private storedBody(row: BodyRow): StoredBody {
    const { path } = this.session
    if (row.body.length <= longestInline || path === ':memory:') return { ...row, packedAt: null }
    this.packedBodies ??= new PackedBodies(path)
    return { ...row, body: null, packedAt: this.packedBodies.append(row.body) }
  }

  /** Makes the appended rows safe. */
  flush(): void {
    this.attempts.flush()
    for (const appender of this.appenders.values()) appender.flushSync()
    this.roomForBodies = hasRoomForBodies(this.session.path)
  }

  /** Commits and closes the appenders; the store stays open. */
  async close(): Promise<void> {
    // Writes the last rows directly into the file, without DuckDB's log. Each table then ends with a checkpoint, which few
    // rows are not worth: the file's closing makes one.
    if (this.rows > batchRows) await this.session.execute(`SET checkpoint_threshold = '1KiB'`)
    this.attempts.close()
    for (const appender of this.appenders.values()) appender.closeSync()
    this.appenders.clear()
    this.packedBodies?.close()
    await this.session.execute('RESET checkpoint_threshold')
  }

  /** Appends rows of evidence; bodies have `appendBodies`. */
  append<Table extends keyof EvidenceTables>(
    table: Table,
    rows: readonly EvidenceTables[Table][],
  ): void {
    const appender = this.appenders.get(table)
    if (appender === undefined) throw new Error(`recorder of ${this.session.path} is closed`)
    const names: readonly string[] = evidenceColumns[table]
    const types = columnTypesOf(appender)
    let waiting = 0
    for (let from = 0; from < rows.length; ) {
      let [to, characters] = [from, 0]
      while (to < rows.length && to - from < batchRows && characters < chunkCharacters) {
        characters += charactersOf(rows[to]!)
        to++
      }
      const piece = rows.slice(from, to)
      from = to
      const cells = piece.map((row) => names.map((name) => Reflect.get(row, name) as RowCell))
      appender.appendDataChunk(chunkOf(types, cells))
      waiting += characters
      if (waiting < flushCharacters) continue
      appender.flushSync()
      waiting = 0
    }
  }
}

function charactersOf(row: object): number {
  return Object.values(row).reduce(
    (sum: number, cell: unknown) => sum + (typeof cell === 'string' ? cell.length : 0),
    0,
  )
}

/** Writes and commits rows given as objects, for probes, imports and tests. */
export async function appendAttempts(session: Session, rows: readonly AttemptRow[]): Promise<void> {
  const appender = await BatchAppender.open(session, null)
  const words = new Dictionary()
  const batch = new Batch()
  const hand = () => {
    appender.append(0, { buffer: batch.buffer, rows: batch.rows, newWords: words.takeNew() })
    batch.reset()
  }
  for (const row of rows) {
    batch.push(row, words)
    if (batch.full) hand()
  }
  hand()
  appender.close()
}

/** SQL column names of an evidence table. A test compares them with the schema. */
export const evidenceColumnsOf = (table: keyof EvidenceTables): readonly string[] =>
  evidenceColumns[table].map((name) => sqlName(name as never))
