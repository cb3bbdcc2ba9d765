import type { MessagePort } from 'node:worker_threads'
import { rowsOfBatch } from '../../attempt/batch-rows.ts'
import { Recorder } from '../../store/attempts/recorder.ts'
import { startRun } from '../../store/runs/runs.ts'
import { cannotWrite } from '../../store/session/errors.ts'
import type { Store } from '../../store/session/open.ts'
import { monotonicNs } from '../clock.ts'
import { histogramBytes } from '../count/histogram-bytes.ts'
import type {
  FromRecorderControl,
  RecorderControl,
  RecorderData,
  ToRecorder,
} from '../crew/messages.ts'
import { charactersOf } from './kept-bodies.ts'

const flushEveryMs = 1000

export type RecorderPort = Pick<MessagePort, 'on' | 'postMessage' | 'close'>

/**
 * Appends the batches of senders, which then survive a kill, and commits evidence, health and histograms each second.
 *
 * @param control the end of a channel whose other end belongs to the coordinator
 * @param memoryMiB limit for a store that nothing else uses; null if others use it
 * @param atEnd is called when every row is in the store
 */
export async function record(
  store: Store,
  data: RecorderData,
  control: RecorderPort,
  memoryMiB: number | null,
  atEnd: () => void,
): Promise<void> {
  const say = (message: FromRecorderControl) => control.postMessage(message)
  const words = data.senders.map((): string[] => [])
  const session = await store.session({ writes: 'run' })
  await startRun(session, data.run)
  const recorder = await Recorder.open(session, memoryMiB)
  let rows = 0
  let open = data.senders.length
  let closing = false
  const templates = new Set<number>()
  let busyMs = 0
  let worstMs = 0

  let broken = false
  /** Tells the coordinator to end the run; rows are still accepted as far as possible. */
  const fail = (error: unknown) => {
    if (broken) return
    broken = true
    say({ type: 'broken', message: cannotWrite(data.dbPath, error).message })
  }

  const attempt = (work: () => void) => {
    try {
      work()
    } catch (error) {
      fail(error)
    }
  }

  const guard = (work: () => void) => {
    const began = performance.now()
    attempt(work)
    const tookMs = performance.now() - began
    busyMs += tookMs
    worstMs = Math.max(worstMs, tookMs)
  }

  const take = (sender: number, port: MessagePort, message: ToRecorder) =>
    guard(() => {
      if (message.batch !== null) {
        const { batch } = message
        if (data.tellsAttempts) {
          for (const each of batch.newWords) words[sender]!.push(each)
          if (batch.rows > 0) {
            say({ type: 'attempts', attempts: rowsOfBatch(batch, words[sender]!) })
          }
        }
        attempt(() => {
          rows += recorder.appendBatch(sender, batch)
        })
        port.postMessage(batch.buffer, [batch.buffer])
      }
      // Several threads may report the same template; it is stored once.
      const fresh = message.templates.filter((row) => !templates.has(row.template))
      for (const row of fresh) templates.add(row.template)
      if (fresh.length > 0) attempt(() => recorder.append('templates', fresh))
      const { wrongAnswers = [], tasks = [] } = message
      if (tasks.length > 0) attempt(() => recorder.append('tasks', tasks))
      if (wrongAnswers.length > 0) attempt(() => recorder.append('wrong_answers', wrongAnswers))
      if (message.bodies.length > 0) {
        if (!broken) attempt(() => recorder.appendBodies(message.bodies))
        port.postMessage(message.bodies.reduce((sum, body) => sum + charactersOf(body), 0))
      }
      if (message.last) {
        port.close()
        open--
        if (open === 0 && closing) void finish()
      }
    })

  const timer = setInterval(() => {
    if (!broken) guard(flush)
  }, flushEveryMs)
  control.on('close', () => clearInterval(timer))
  let lastBusyMs = 0
  function flush(): void {
    recorder.flush()
    recorder.append('health', [
      {
        runId: data.run.runId,
        shard: -1,
        atUs: Math.round(Number(monotonicNs() - data.zeroNs) / 1000),
        loopDelayP99Us: worstMs * 1000,
        loopGapUs: worstMs * 1000,
        loopGapEndUs: null,
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
    } catch (error) {
      fail(error)
    }
    session.close()
    atEnd()
    say({ type: 'closed', rows, bodiesGivenUp: recorder.bodiesGivenUp })
    control.close()
  }

  for (const [sender, port] of data.senders.entries()) {
    port.on('message', (message: ToRecorder) => take(sender, port, message))
  }
  control.on('message', (message: RecorderControl) =>
    guard(() => {
      if (message.type === 'evidence') {
        if (message.health.length > 0) recorder.append('health', message.health)
        recorder.append(
          'histograms',
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
