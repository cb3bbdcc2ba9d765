import { MessageChannel, Worker } from 'node:worker_threads'
import { isOpen, reserveFile } from '../../store/session/file.ts'
import { openStore, type Store } from '../../store/session/open.ts'
import { threadFile } from '../../user/thread-file.ts'
import type { FromRecorderControl, RecorderControl, RecorderData } from '../crew/messages.ts'

/** A recorder, wherever it runs. */
export interface PlacedRecorder {
  tell(message: RecorderControl): void
  terminate(): Promise<void>
}

export interface RecorderListener {
  onRecorder(message: FromRecorderControl): void
  onFailure(error: Error): void
}

/**
 * Opens the store of a run that this thread records: of a short run, or in a file that it has open. Null for another
 * run, which has a thread for its recorder.
 */
export function storeHere(dbPath: string, isShort: boolean): Promise<Store> | null {
  if (isOpen(dbPath)) return openStore(dbPath)
  return isShort ? openStore(dbPath, { alone: 'a run' }) : null
}

/**
 * Starts the recorder of a run in a thread of its own, which then has the store alone: a flush takes tens of
 * milliseconds. If this thread has the store, the recorder shares it, here.
 *
 * @throws UserError `store-held` if another run records into the file
 */
export function startRecorder(
  data: RecorderData,
  store: Promise<Store> | null,
  listener: RecorderListener,
): PlacedRecorder {
  return store === null ? recordAside(data, listener) : recordHere(data, store, listener)
}

function recordAside(data: RecorderData, listener: RecorderListener): PlacedRecorder {
  const giveBack = reserveFile(data.dbPath, 'a run')
  const worker = new Worker(threadFile('./recorder', import.meta.url), {
    workerData: data,
    transferList: [...data.senders],
  })
  worker.on('message', (message: FromRecorderControl) => {
    if (message.type === 'closed') giveBack()
    listener.onRecorder(message)
  })
  worker.on('error', (error) =>
    listener.onFailure(new Error(`The recorder failed: ${error.stack}`)),
  )
  worker.on('exit', giveBack)
  return {
    tell: (message) => worker.postMessage(message),
    terminate: async () => void (await worker.terminate()),
  }
}

function recordHere(
  data: RecorderData,
  store: Promise<Store>,
  listener: RecorderListener,
): PlacedRecorder {
  const { port1, port2 } = new MessageChannel()
  port1.on('message', (message: FromRecorderControl) => {
    if (message.type === 'closed') port1.close()
    listener.onRecorder(message)
  })
  store
    .then(async (opened) => {
      const { record } = await import('./record.ts')
      await record(opened, data, port2, null, () => {})
    })
    .catch((error: Error) => {
      port1.close()
      listener.onRecorder({ type: 'failed', name: error.name, message: error.message })
    })
  return {
    tell: (message) => port1.postMessage(message),
    async terminate() {
      for (const port of data.senders) port.close()
      port1.close()
    },
  }
}
