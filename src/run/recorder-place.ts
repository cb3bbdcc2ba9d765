import { MessageChannel, Worker } from 'node:worker_threads'
import { isOpen, reserveFile } from '../store/file.ts'
import { openStore, type Store } from '../store/open.ts'
import type { FromRecorderControl, RecorderControl, RecorderData } from './messages.ts'

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
 * Starts the recorder of a run in a thread of its own, which then has the store alone: a flush takes tens of
 * milliseconds. If this thread has the store open, the recorder shares it, here.
 *
 * @throws UserError `store-held` if another run records into the file
 */
export function startRecorder(
  data: RecorderData,
  given: Store | null,
  listener: RecorderListener,
): PlacedRecorder {
  if (given !== null) return recordHere(data, given, listener)
  return isOpen(data.dbPath) ? recordInFile(data, listener) : recordAside(data, listener)
}

function recordAside(data: RecorderData, listener: RecorderListener): PlacedRecorder {
  const giveBack = reserveFile(data.dbPath, 'a run')
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const worker = new Worker(new URL(`./recorder.worker.${ending}`, import.meta.url), {
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

function recordInFile(data: RecorderData, listener: RecorderListener): PlacedRecorder {
  const opened = openStore(data.dbPath)
  const close = () => void opened.then((store) => store.close()).catch(() => {})
  return recordHere(data, opened, listener, close)
}

function recordHere(
  data: RecorderData,
  store: Store | Promise<Store>,
  listener: RecorderListener,
  atEnd: () => void = () => {},
): PlacedRecorder {
  const { port1, port2 } = new MessageChannel()
  const end = () => {
    atEnd()
    port1.close()
  }
  port1.on('message', (message: FromRecorderControl) => {
    if (message.type === 'closed') end()
    listener.onRecorder(message)
  })
  Promise.resolve(store)
    .then(async (opened) => {
      const { record } = await import('./record.ts')
      await record(opened, data, port2, null, atEnd)
    })
    .catch((error: Error) => {
      end()
      listener.onRecorder({ type: 'failed', name: error.name, message: error.message })
    })
  return {
    tell: (message) => port1.postMessage(message),
    async terminate() {
      for (const port of data.senders) port.close()
      end()
    },
  }
}
