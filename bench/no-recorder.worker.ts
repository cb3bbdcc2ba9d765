import { parentPort, workerData } from 'node:worker_threads'
import type {
  FromRecorderControl,
  RecorderControl,
  RecorderData,
  ToRecorder,
} from '../src/run/messages.ts'

/** Stands in for the recorder and throws rows away: see without-recorder.ts. */
const { senders } = workerData as RecorderData
const say = (message: FromRecorderControl) => parentPort!.postMessage(message)
let rows = 0
for (const port of senders) {
  port.on('message', ({ batch, last }: ToRecorder) => {
    if (batch !== null) {
      rows += batch.rows
      port.postMessage(batch.buffer, [batch.buffer])
    }
    if (last) port.close()
  })
}
parentPort!.on('message', (message: RecorderControl) => {
  if (message.type !== 'close') return
  say({ type: 'closed', rows })
  parentPort!.close()
})
say({ type: 'open' })
