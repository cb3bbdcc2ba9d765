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

const port = parentPort!
type Take = Parameters<Evidence['store']['doubleBatches']>[2]
const waiting = new Map<number, PromiseWithResolvers<unknown> & { readonly take?: Take }>()
port.on('message', async (reply: RateWorkerReply) => {
  const query = waiting.get(reply.number)
  if (query === undefined) return
  if ('batch' in reply) {
    try {
      await query.take!(reply.batch)
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

let asked = 0

function ask<Result>(
  kind: RateWorkerQuery['kind'],
  sql: string,
  parameters: RateWorkerQuery['parameters'] = [],
  take?: Take,
): Promise<Result> {
  const number = asked++
  const promise = Promise.withResolvers<unknown>()
  waiting.set(number, take === undefined ? promise : { ...promise, take })
  const query: RateWorkerQuery = { kind, number, sql, parameters }
  port.postMessage(query)
  return promise.promise as Promise<Result>
}

const { ruleIds, storePath, evidence, onDisk } = workerData as RateWorkerOrder
const store: Evidence['store'] = {
  path: storePath,
  rows: (sql, parameters) => ask('rows', sql, parameters),
  doubles: (sql, parameters) => ask('doubles', sql, parameters),
  doubleBatches: (sql, parameters, take) => ask('doubleBatches', sql, parameters, take),
}
const columns = onDisk ? { columns: new ColumnFile(storePath) } : {}
const begin = ({ id }: Rule) => {
  const message: RateWorkerBegun = { kind: 'begun', ruleId: id }
  port.postMessage(message)
}

// The module does not wait for it: V8 ends the process if a thread is terminated just as a module that others import has
// waited to its end.
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
