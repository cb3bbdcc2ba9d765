import { platform, setPriority } from 'node:os'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { openStore } from '../store/open.ts'
import { Recorder } from '../store/recorder.ts'
import { startRun } from '../store/runs.ts'
import { monotonicNs } from './clock.ts'
import { histogramBytes } from './histogram-bytes.ts'
import type { FromRecorderControl, RecorderControl, RecorderData, ToRecorder } from './messages.ts'

/**
 * The recorder's thread: the only one that holds the store during a run. It appends what senders
 * hand over, which is safe from a kill at once, and commits evidence, health and histograms each second.
 */
const flushEveryMs = 1000

/** A run of any length gets by with this: two row groups, and what DuckDB writes at a time. */
const memoryMiB = 128

const control = parentPort!
const data = workerData as RecorderData
/**
 * Where threads share a core, those that send go first: a flush takes tens of milliseconds, which
 * would be somebody's lag. Not by more than this: the rows of a sender that takes its whole core need
 * a tenth of it, and a higher number would not get that. On Linux niceness belongs to the thread;
 * elsewhere to the process.
 */
if (platform() === 'linux') setPriority(0, 5)

const say = (message: FromRecorderControl) => control.postMessage(message)

try {
  await record()
} catch (error) {
  const { name, message } = error as Error
  say({ type: 'failed', name, message })
  process.exit(1)
}

async function record(): Promise<void> {
  const store = await openStore(data.dbPath)
  await startRun(store, data.run)
  const recorder = await Recorder.open(store, memoryMiB)
  let rows = 0
  let open = data.senders.length
  let closing = false
  const templates = new Set<number>()
  let busyMs = 0
  let worstMs = 0

  const fail = (error: unknown): never => {
    say({ type: 'failed', name: 'StoreError', message: `cannot write: ${String(error)}` })
    process.exit(1)
  }

  const guard = (work: () => void) => {
    const began = performance.now()
    try {
      work()
    } catch (error) {
      fail(error)
    }
    const tookMs = performance.now() - began
    busyMs += tookMs
    worstMs = Math.max(worstMs, tookMs)
  }

  const take = (sender: number, port: MessagePort, message: ToRecorder) =>
    guard(() => {
      if (message.batch !== null) {
        rows += recorder.appendBatch(sender, message.batch)
        port.postMessage(message.batch.buffer, [message.batch.buffer])
      }
      // Every thread tells what it sends first; the same request is kept once.
      const fresh = message.templates.filter((row) => !templates.has(row.template))
      for (const row of fresh) templates.add(row.template)
      if (fresh.length > 0) recorder.appendTemplates(fresh)
      if (message.bodies.length > 0) recorder.appendBodies(message.bodies)
      if (message.last) {
        port.close()
        open--
        if (open === 0 && closing) void finish()
      }
    })

  const timer = setInterval(() => guard(flush), flushEveryMs)
  let lastBusyMs = 0
  function flush(): void {
    recorder.flush()
    recorder.appendHealth([
      {
        runId: data.run.runId,
        shard: -1,
        atUs: Math.round(Number(monotonicNs() - data.zeroNs) / 1000),
        loopDelayP99Us: worstMs * 1000,
        utilisation: Math.min(1, (busyMs - lastBusyMs) / flushEveryMs),
        lagP99Us: null,
        inFlight: 0,
        queuedBatches: 0,
      },
    ])
    lastBusyMs = busyMs
    worstMs = 0
  }

  async function finish(): Promise<void> {
    clearInterval(timer)
    try {
      await recorder.close()
      store.close()
    } catch (error) {
      fail(error)
    }
    say({ type: 'closed', rows })
    control.close()
  }

  for (const [sender, port] of data.senders.entries()) {
    port.on('message', (message: ToRecorder) => take(sender, port, message))
  }
  control.on('message', (message: RecorderControl) =>
    guard(() => {
      if (message.type === 'evidence') {
        if (message.health.length > 0) recorder.appendHealth(message.health)
        recorder.appendHistograms(
          message.histograms.map(({ slice, ...row }) => ({
            ...row,
            samples: slice.samples,
            hdr: histogramBytes(slice),
          })),
        )
        return
      }
      closing = true
      if (open === 0) void finish()
    }),
  )
  say({ type: 'open' })
}
