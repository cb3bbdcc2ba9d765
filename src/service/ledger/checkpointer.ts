import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** Commits between two checkpoints: a megabyte or so of the log. */
const commitsBetween = 256

/**
 * Brings what was committed from SQLite's log into its file, on a thread of its own: it takes an
 * fsync of both, tens of milliseconds in which no stream could be served.
 */
export class Checkpointer {
  readonly #worker: Worker
  #commits = 0
  #busy = false

  constructor(path: string) {
    const name = import.meta.url.endsWith('.ts')
      ? './checkpoint.worker.ts'
      : './checkpoint.worker.js'
    this.#worker = new Worker(new URL(name, import.meta.url), { workerData: path })
    this.#worker.on('message', () => {
      this.#busy = false
    })
    // Without it the log grows until the service itself brings it in, which is slow and no harm.
    this.#worker.on('error', (error) => process.stderr.write(`--data: ${error.message}\n`))
    // After the listeners, since each of them would hold the process again.
    this.#worker.unref()
  }

  /** After each commit. */
  committed(): void {
    if (++this.#commits < commitsBetween || this.#busy) return
    this.#commits = 0
    this.#busy = true
    this.#worker.postMessage('checkpoint')
  }

  async close(): Promise<void> {
    // Or the process may end before the last checkpoint, where nothing else holds it.
    this.#worker.ref()
    const ended = once(this.#worker, 'exit')
    this.#worker.postMessage('close')
    await ended
  }
}
