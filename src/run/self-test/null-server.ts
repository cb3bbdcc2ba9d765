import { Worker } from 'node:worker_threads'
import { threadFile } from '../../user/thread-file.ts'

export interface NullServer {
  readonly baseUrl: string
  close(): void
}

/** @param events number of events in each stream */
export async function startNullServer(events: number): Promise<NullServer> {
  const worker = new Worker(threadFile('./null-server', import.meta.url), {
    workerData: { events },
  })
  const port = await new Promise<number>((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    close: () => worker.postMessage('close'),
  }
}
