import { Worker } from 'node:worker_threads'
import { threadFile } from '../user/thread-file.ts'
import type { Work } from '../user/work.ts'
import type { Evidence } from './rule.ts'
import type { Finding } from './verdict.ts'

/** Start data of the thread. The store stays with the main thread. */
export interface RateWorkerOrder {
  readonly ruleIds: readonly string[]
  readonly storePath: string
  readonly evidence: Omit<Evidence, 'store' | 'columns'>
  /** Whether histories do not fit in memory. The thread keeps them in a file of its own. */
  readonly onDisk: boolean
}

export interface RateWorkerQuery {
  readonly kind: 'rows' | 'doubles' | 'doubleBatches'
  readonly number: number
  readonly sql: string
  readonly parameters: Parameters<Evidence['store']['rows']>[1]
}

/** From the thread: it has taken a batch, and wants the next one. */
export interface RateWorkerTaken {
  readonly kind: 'taken'
  readonly number: number
}

/** To the thread: the result of a query, after its batches if it has such. */
export type RateWorkerReply = { readonly number: number } & (
  | { readonly batch: readonly Float64Array<ArrayBuffer>[] }
  | { readonly result: unknown }
  | { readonly error: unknown }
)

export interface RateWorkerBegun {
  readonly kind: 'begun'
  readonly ruleId: string
}

export interface RateWorkerFindings {
  readonly kind: 'findings'
  readonly findings: readonly Finding[]
}

type FromRateWorker = RateWorkerQuery | RateWorkerTaken | RateWorkerBegun | RateWorkerFindings

/**
 * Decides rules in another thread, in parallel with this one, which holds the store and answers its queries. Columns of doubles
 * are transferred.
 *
 * @throws any error of a rule or of `begin`, and the signal's reason once it is aborted: no rule ends first
 */
export async function decideInWorker(
  ruleIds: readonly string[],
  { store, columns, ...evidence }: Evidence,
  { signal }: Pick<Work, 'signal'> = {},
  begin: (ruleId: string) => void = () => {},
): Promise<readonly Finding[]> {
  const onDisk = columns !== undefined
  const workerData: RateWorkerOrder = { ruleIds, storePath: store.path, evidence, onDisk }
  const taken = new Map<number, () => void>()
  let isOver = false
  let abort = () => {}
  const worker = new Worker(threadFile('./rate', import.meta.url), { workerData })
  try {
    return await new Promise((resolve, reject) => {
      abort = () => reject(signal?.reason)
      signal?.addEventListener('abort', abort)
      worker.on('error', reject)
      worker.on('message', (message: FromRateWorker) => {
        if (message.kind === 'findings') resolve(message.findings)
        else if (message.kind === 'begun') {
          try {
            begin(message.ruleId)
          } catch (error) {
            reject(error)
          }
        } else if (message.kind === 'taken') taken.get(message.number)!()
        else void answer(message)
      })
    })
  } finally {
    isOver = true
    signal?.removeEventListener('abort', abort)
    for (const release of taken.values()) release()
    await worker.terminate()
  }

  async function answer({ kind, number, sql, parameters }: RateWorkerQuery): Promise<void> {
    const say = (reply: RateWorkerReply, moved: readonly Float64Array<ArrayBuffer>[] = []): void =>
      worker.postMessage(
        reply,
        moved.map(({ buffer }) => buffer),
      )
    try {
      if (kind === 'rows') say({ number, result: await store.rows(sql, parameters) })
      else if (kind === 'doubles') {
        const result = await store.doubles(sql, parameters)
        say({ number, result }, result as readonly Float64Array<ArrayBuffer>[])
      } else {
        await store.doubleBatches(sql, parameters ?? [], (batch) => {
          if (isOver) throw new Error('the thread has ended')
          const { promise, resolve } = Promise.withResolvers<void>()
          taken.set(number, resolve)
          say({ number, batch }, batch)
          return promise
        })
        say({ number, result: null })
      }
    } catch (error) {
      say({ number, error })
    }
  }
}
