import { Worker } from 'node:worker_threads'

/** A null server in a thread of its own. */
export interface NullServer {
  readonly baseUrl: string
  close(): void
}

/** @param events events of each stream */
export async function startNullServer(events: number): Promise<NullServer> {
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const worker = new Worker(new URL(`./null-server.worker.${ending}`, import.meta.url), {
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
