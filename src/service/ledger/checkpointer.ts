import { Worker } from 'node:worker_threads'
import { threadFile } from '../../user/thread-file.ts'

/** Commits between two checkpoints: about a megabyte of the log. */
const commitsBetween = 256

/**
 * Writes what is committed from SQLite's log into its file, on a thread of its own. A checkpoint
 * takes an fsync of both, tens of milliseconds in which no stream could be served.
 */
export class Checkpointer {
  readonly #worker: Worker
  readonly #ended: Promise<unknown>
  #commits = 0
  #busy = false

  constructor(path: string) {
    this.#worker = new Worker(threadFile('./checkpoint', import.meta.url), { workerData: path })
    this.#ended = new Promise((resolve) => this.#worker.once('exit', resolve))
    this.#worker.on('message', () => {
      this.#busy = false
    })
    // Its thread has ended then: `#busy` may stay true, and `#ended` resolves. The log grows until the service writes it itself: slow,
    // but harmless.
    this.#worker.on('error', (error) => process.stderr.write(`--data: ${error.message}\n`))
    // After the listeners, because each listener would keep the process alive again.
    this.#worker.unref()
  }

  /** Call it after each commit. */
  committed(): void {
    if (++this.#commits < commitsBetween || this.#busy) return
    this.#commits = 0
    this.#busy = true
    this.#worker.postMessage('checkpoint')
  }

  async close(): Promise<void> {
    // Keeps the process alive until the last checkpoint is done.
    this.#worker.ref()
    this.#worker.postMessage('close')
    await this.#ended
  }
}
