import { parentPort, workerData } from 'node:worker_threads'
import { ColumnFile } from '../store/read/column-file.ts'
import { decideInOrder } from './decide.ts'
import type {
  RateWorkerBegun,
  RateWorkerFindings,
  RateWorkerOrder,
  RateWorkerQuery,
  RateWorkerReply,
  RateWorkerTaken,
} from './rate-worker.ts'
import type { Evidence, Rule } from './rule.ts'
import { selectRules } from './rules/select.ts'

/** The thread of `decideInWorker`: the main thread, which alone can hold the store, answers its queries. */
const port = parentPort!
type OnBatch = Parameters<Evidence['store']['doubleBatches']>[2]
const waiting = new Map<number, PromiseWithResolvers<unknown> & { readonly onBatch?: OnBatch }>()
port.on('message', async (reply: RateWorkerReply) => {
  const query = waiting.get(reply.number)
  if (query === undefined) return
  if ('batch' in reply) {
    try {
      await query.onBatch!(reply.batch)
      const taken: RateWorkerTaken = { kind: 'taken', number: reply.number }
      port.postMessage(taken)
    } catch (error) {
      query.reject(error)
    }
    return
  }
  waiting.delete(reply.number)
  if ('error' in reply) query.reject(reply.error)
  else query.resolve(reply.result)
})

let nextNumber = 0

function ask<Result>(
  kind: RateWorkerQuery['kind'],
  sql: string,
  parameters: RateWorkerQuery['parameters'] = [],
  onBatch?: OnBatch,
): Promise<Result> {
  const number = nextNumber++
  const promise = Promise.withResolvers<unknown>()
  waiting.set(number, onBatch === undefined ? promise : { ...promise, onBatch })
  const query: RateWorkerQuery = { kind, number, sql, parameters }
  port.postMessage(query)
  return promise.promise as Promise<Result>
}

const { ruleIds, storePath, evidence, onDisk } = workerData as RateWorkerOrder
const store: Evidence['store'] = {
  path: storePath,
  rows: (sql, parameters) => ask('rows', sql, parameters),
  doubles: (sql, parameters) => ask('doubles', sql, parameters),
  doubleBatches: (sql, parameters, onBatch) => ask('doubleBatches', sql, parameters, onBatch),
}
const columns = onDisk ? { columns: new ColumnFile(storePath) } : {}
const begin = ({ id }: Rule) => {
  const message: RateWorkerBegun = { kind: 'begun', ruleId: id }
  port.postMessage(message)
}

// Not awaited here: if this thread is terminated just as the module's own wait ends, V8 ends the whole process.
void decideAll()

async function decideAll(): Promise<void> {
  const findings = await decideInOrder(
    selectRules(ruleIds),
    { ...evidence, ...columns, store },
    undefined,
    begin,
  )
  columns.columns?.close()
  const message: RateWorkerFindings = { kind: 'findings', findings }
  port.postMessage(message)
}
