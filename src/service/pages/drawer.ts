import { Worker } from 'node:worker_threads'
import type { ChartRow, ChartSpec } from '../../chart/spec.ts'
import type { DrawOptions } from '../../chart/svg.ts'
import { threadFile } from '../../user/thread-file.ts'

export interface DrawJob {
  readonly number: number
  readonly chart: ChartSpec
  readonly rows: readonly ChartRow[]
  readonly options: DrawOptions
}

export type DrawnChart = { readonly number: number } & (
  | { readonly svg: string; readonly error: null }
  | { readonly svg: null; readonly error: string }
)

/** Number of drawings that are kept for requests of the same figures. */
const mostKept = 64

/**
 * Draws charts on a thread of its own, so that a person who watches the usage does not slow the
 * requests. The thread starts with the first drawing, serves all services of the process, and does
 * not keep the process alive.
 */
class Drawer {
  #worker: Worker | null = null
  #number = 0
  readonly #waiting = new Map<
    number,
    { readonly done: (svg: string) => void; readonly failed: (error: Error) => void }
  >()
  readonly #kept = new Map<string, Promise<string>>()

  draw(chart: ChartSpec, rows: readonly ChartRow[], options: DrawOptions): Promise<string> {
    const name = JSON.stringify([chart, rows, options])
    const kept = this.#kept.get(name)
    if (kept !== undefined) return kept
    const drawing = this.#send(chart, rows, options)
    this.#kept.set(name, drawing)
    drawing.catch(() => this.#kept.delete(name))
    if (this.#kept.size > mostKept) this.#kept.delete(this.#kept.keys().next().value ?? '')
    return drawing
  }

  #send(chart: ChartSpec, rows: readonly ChartRow[], options: DrawOptions): Promise<string> {
    this.#worker ??= this.#start()
    const number = ++this.#number
    const job: DrawJob = { number, chart, rows, options }
    const worker = this.#worker
    return new Promise((done, failed) => {
      this.#waiting.set(number, { done, failed })
      worker.postMessage(job)
    })
  }

  #start(): Worker {
    const worker = new Worker(threadFile('./draw', import.meta.url))
    worker.on('message', ({ number, svg, error }: DrawnChart) => {
      const waiting = this.#waiting.get(number)
      this.#waiting.delete(number)
      if (svg === null) waiting?.failed(new Error(error))
      else waiting?.done(svg)
    })
    const ended = (error: Error) => {
      if (this.#worker === worker) this.#worker = null
      for (const { failed } of this.#waiting.values()) failed(error)
      this.#waiting.clear()
    }
    worker.on('error', ended)
    worker.on('exit', () => ended(new Error('the drawing thread ended')))
    // After the listeners, because each listener would keep the process alive again.
    worker.unref()
    return worker
  }
}

export type { Drawer }
export const drawer = new Drawer()
