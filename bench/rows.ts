import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Batch, batchRows, Dictionary } from '../src/attempt/batch.ts'
import { attemptColumns, columnNames } from '../src/attempt/columns.ts'
import { Recorder } from '../src/store/attempts/recorder.ts'
import { openStore, type Store } from '../test/store/opened.ts'
import { benchRow } from './bench-row.ts'
import { answerOf, clientCore, module, serve, serverCore } from './processes.ts'
import { type BenchOptions, type BenchResult, figure } from './result.ts'

interface Measured {
  readonly rowsPerS: number
  readonly cpuUsPerRow: number
  readonly bytesPerRow: number
}

/**
 * What recording costs: rows per second and CPU time per row, from a batch to the closed file, beside
 * a bare loop of the appender over one table with the same columns; and the CPU time of a run beside
 * the same run with its rows thrown away.
 */
export async function rows({ quick }: BenchOptions): Promise<BenchResult> {
  const rounds = quick ? 1 : 5
  const batches = quick ? 120 : 480
  const ours: Measured[] = []
  const bare: Measured[] = []
  const shares: number[] = []
  const server = await serve(serverCore, module('./null-server.ts'))
  try {
    for (let round = 0; round < rounds; round++) {
      ours.push(await measure(batches * batchRows, (store) => record(store, batches)))
      bare.push(await measure(20 * batchRows, (store) => appendBare(store, 20)))
      const without = await cpuPerRequest(server.port, quick, ['--import', withoutRecorder])
      const recorded = await cpuPerRequest(server.port, quick, [])
      shares.push((100 * (recorded - without)) / without)
    }
  } finally {
    server.stop()
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
      figure('file', 'bytes/row', [...ours.map((each) => each.bytesPerRow)]),
      figure("recording, of the run's CPU without it", '%', shares, {
        text: '<= 25',
        meets: (found) => found <= 25,
      }),
    ],
    ratios: { appender: median(ours) / median(bare) },
    notes: [
      `${columnNames.length} columns, 17 of them text; a flush each second; the closing of the file is in`,
    ],
  }
}

const withoutRecorder = new URL('./without-recorder.ts', import.meta.url).href

/** CPU time for a request of a run flat out, in microseconds. */
async function cpuPerRequest(
  port: number,
  quick: boolean,
  options: readonly string[],
): Promise<number> {
  const requests = quick ? 100_000 : 400_000
  const [node, ...client] = module('./recording-client.ts', port, 64, requests)
  const { cpuUs } = await answerOf<{ cpuUs: number }>(clientCore, [node!, ...options, ...client])
  return cpuUs
}

async function measure(rows: number, write: (store: Store) => Promise<void>): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  const path = join(folder, 'rows.duckdb')
  const store = await openStore(path)
  try {
    const cpu = process.cpuUsage()
    const began = performance.now()
    await write(store)
    store.close()
    const { user, system } = process.cpuUsage(cpu)
    return {
      rowsPerS: (rows / (performance.now() - began)) * 1000,
      cpuUsPerRow: (user + system) / rows,
      bytesPerRow: statSync(path).size / rows,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Filled once: what is measured begins with a batch. */
const words = new Dictionary()
const filled = Array.from({ length: 8 }, (_, nth) => {
  const batch = new Batch()
  for (let at = 0; at < batchRows; at++) batch.push(benchRow(nth * batchRows + at), words)
  return batch
})
const allWords = words.takeNew()

async function record(store: Store, batches: number): Promise<void> {
  const recorder = await Recorder.open(store, 128)
  let newWords = allWords
  let flushedMs = performance.now()
  for (let at = 0; at < batches; at++) {
    recorder.appendBatch(0, { buffer: filled[at % 8]!.buffer, rows: batchRows, newWords })
    newWords = []
    if (performance.now() - flushedMs > 1000) {
      recorder.flush()
      flushedMs = performance.now()
    }
  }
  await recorder.close()
}

/** The appender's own row interface, a call for each cell. */
async function appendBare(store: Store, batches: number): Promise<void> {
  await store.execute('CREATE TABLE bare AS FROM attempts')
  const appender = await store.createAppender('bare')
  const rows = Array.from({ length: batchRows }, (_, at) => benchRow(at))
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
