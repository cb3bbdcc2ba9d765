import { parentPort, workerData } from 'node:worker_threads'
import type {
  FromRecorderControl,
  RecorderControl,
  RecorderData,
  ToRecorder,
} from '../src/run/crew/messages.ts'

/** Stands in for the recorder and throws rows away: see without-recorder.ts. */
const { senders } = workerData as RecorderData
const say = (message: FromRecorderControl) => parentPort!.postMessage(message)
let rows = 0
let open = senders.length
let closing = false

/** As the recorder does: the word to close may come before a sender's last batch. */
function finishWhenDone(): void {
  if (open > 0 || !closing) return
  say({ type: 'closed', rows, bodiesGivenUp: 0 })
  parentPort!.close()
}

for (const port of senders) {
  port.on('message', ({ batch, last }: ToRecorder) => {
    if (batch !== null) {
      rows += batch.rows
      port.postMessage(batch.buffer, [batch.buffer])
    }
    if (!last) return
    port.close()
    open--
    finishWhenDone()
  })
}
parentPort!.on('message', (message: RecorderControl) => {
  if (message.type !== 'close') return
  closing = true
  finishWhenDone()
})
say({ type: 'open' })
