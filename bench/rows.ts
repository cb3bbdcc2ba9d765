import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Batch, batchRows, Words } from '../src/attempt/batch.ts'
import { type AttemptRow, attemptColumns, columnNames } from '../src/attempt/columns.ts'
import { openStore, type Store } from '../src/store/open.ts'
import { Recorder } from '../src/store/recorder.ts'
import { type BenchOptions, type BenchResult, figure } from './result.ts'

interface Measured {
  readonly rowsPerS: number
  readonly cpuUsPerRow: number
}

/** Rows per second into DuckDB: our recorder beside a bare loop of the appender, same columns. */
export async function rows({ quick }: BenchOptions): Promise<BenchResult> {
  const rounds = quick ? 1 : 5
  const batches = quick ? 100 : 500
  const ours: Measured[] = []
  const bare: Measured[] = []
  for (let round = 0; round < rounds; round++) {
    ours.push(await measure(batches * batchRows, (store) => record(store, batches)))
    bare.push(await measure(20 * batchRows, (store) => appendBare(store, 20)))
  }
  const median = (found: readonly Measured[]) =>
    found.map((each) => each.rowsPerS).sort((a, b) => a - b)[found.length >> 1]!
  return {
    part: 'rows',
    figures: [
      figure(
        'recorder',
        'rows/s',
        ours.map((each) => each.rowsPerS),
        { text: '>= 500,000', meets: (found) => found >= 500_000 },
      ),
      figure(
        'recorder CPU',
        'us/row',
        ours.map((each) => each.cpuUsPerRow),
      ),
      figure(
        'bare appender',
        'rows/s',
        bare.map((each) => each.rowsPerS),
      ),
      figure(
        'bare appender CPU',
        'us/row',
        bare.map((each) => each.cpuUsPerRow),
      ),
    ],
    ratios: { appender: median(ours) / median(bare) },
    notes: [`${columnNames.length} columns, 17 of them text; a flush each second`],
  }
}

async function measure(rows: number, write: (store: Store) => Promise<void>): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  const store = await openStore(join(folder, 'rows.duckdb'))
  try {
    const cpu = process.cpuUsage()
    const began = performance.now()
    await write(store)
    const { user, system } = process.cpuUsage(cpu)
    return {
      rowsPerS: (rows / (performance.now() - began)) * 1000,
      cpuUsPerRow: (user + system) / rows,
    }
  } finally {
    store.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function record(store: Store, batches: number): Promise<void> {
  const recorder = await Recorder.open(store)
  const words = new Words()
  const batch = new Batch()
  for (let at = 0; at < batchRows; at++) batch.push(rowOf(at), words)
  let newWords = words.takeNew()
  let flushedMs = performance.now()
  for (let at = 0; at < batches; at++) {
    recorder.appendBatch(0, { buffer: batch.buffer, rows: batchRows, newWords })
    newWords = []
    if (performance.now() - flushedMs > 1000) {
      recorder.flush()
      flushedMs = performance.now()
    }
  }
  recorder.close()
}

/** The appender's own row interface, a call for each cell. */
async function appendBare(store: Store, batches: number): Promise<void> {
  const appender = await store.createAppender('attempts')
  const rows = Array.from({ length: batchRows }, (_, at) => rowOf(at))
  for (let batch = 0; batch < batches; batch++) {
    for (const row of rows) {
      for (const name of columnNames) {
        const value = row[name]
        if (value === null) appender.appendNull()
        else {
          switch (attemptColumns[name].kind) {
            case 'micros':
            case 'index':
              appender.appendBigInt(BigInt(value as number))
              break
            case 'number':
              appender.appendDouble(value as number)
              break
            case 'count':
              appender.appendInteger(value as number)
              break
            case 'bits':
              appender.appendUInteger(value as number)
              break
            default:
              appender.appendVarchar(value as string)
          }
        }
      }
      appender.endRow()
    }
  }
  appender.closeSync()
}

const wordsOfRow: Readonly<Partial<Record<string, string>>> = {
  runId: '20261120-121304-ab12',
  phase: 'steady',
  part: 'steady',
  step: 'chat-stream',
  keyFp: '0123456789ab',
  account: 'default',
  endpoint: 'chat',
  model: 'svc-k2',
  expects: 'ok',
  outcome: 'ok',
  responseModel: 'svc-k2',
  finishReason: 'stop',
}

/** A success as a run records it. */
function rowOf(at: number): AttemptRow {
  return Object.fromEntries(
    columnNames.map((name) => {
      const { kind, nullable } = attemptColumns[name]
      switch (kind) {
        case 'word':
          return [name, wordsOfRow[name] ?? (nullable ? null : '')]
        case 'text':
          return [name, `chatcmpl-${String(at * 7919).padStart(20, '0')}`]
        case 'micros':
          return [name, 1e6 + at * 100 + name.length]
        default:
          return [name, nullable && /session|turn|retryAfter/.test(name) ? null : at % 500]
      }
    }),
  ) as unknown as AttemptRow
}
