import { Worker } from 'node:worker_threads'
import type { Evidence } from './rule.ts'
import type { Finding } from './verdict.ts'

/** Start data of the thread. The store stays with the main thread. */
export interface RateWorkerOrder {
  readonly ruleIds: readonly string[]
  readonly storePath: string
  readonly evidence: Omit<Evidence, 'store'>
}

/** From the thread: a query to the store. */
export interface RateWorkerQuery {
  readonly kind: 'rows' | 'doubles'
  readonly number: number
  readonly sql: string
  readonly parameters: Parameters<Evidence['store']['rows']>[1]
}

/** To the thread: the result of a query. */
export type RateWorkerReply = { readonly number: number } & (
  | { readonly result: unknown }
  | { readonly error: unknown }
)

/** From the thread, once. */
export interface RateWorkerFindings {
  readonly kind: 'findings'
  readonly findings: readonly Finding[]
}

/**
 * Decides rules in another thread, in parallel with this one. Only one thread can hold the store, so the other one
 * queries it through this one. Columns of doubles are transferred, not copied.
 *
 * @throws any error of a rule
 */
export async function decideInWorker(
  ruleIds: readonly string[],
  { store, ...evidence }: Evidence,
): Promise<readonly Finding[]> {
  const workerData: RateWorkerOrder = { ruleIds, storePath: store.path, evidence }
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const worker = new Worker(new URL(`./rate.worker.${extension}`, import.meta.url), { workerData })
  try {
    return await new Promise((resolve, reject) => {
      worker.on('error', reject)
      worker.on('message', (message: RateWorkerQuery | RateWorkerFindings) => {
        if (message.kind === 'findings') resolve(message.findings)
        else void answer(message)
      })
    })
  } finally {
    await worker.terminate()
  }

  async function answer({ kind, number, sql, parameters }: RateWorkerQuery): Promise<void> {
    try {
      const result = await store[kind](sql, parameters)
      const bytes = kind === 'doubles' ? (result as readonly Float64Array<ArrayBuffer>[]) : []
      const reply: RateWorkerReply = { number, result }
      worker.postMessage(
        reply,
        bytes.map(({ buffer }) => buffer),
      )
    } catch (error) {
      const reply: RateWorkerReply = { number, error }
      worker.postMessage(reply)
    }
  }
}
