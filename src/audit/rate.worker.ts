import { parentPort, workerData } from 'node:worker_threads'
import { decideInOrder } from './decide.ts'
import type {
  RateWorkerFindings,
  RateWorkerOrder,
  RateWorkerQuery,
  RateWorkerReply,
} from './rate-worker.ts'
import type { Evidence } from './rule.ts'
import { selectRules } from './rules/select.ts'

const port = parentPort!
const waiting = new Map<number, PromiseWithResolvers<unknown>>()
port.on('message', (reply: RateWorkerReply) => {
  const promise = waiting.get(reply.number)
  waiting.delete(reply.number)
  if ('error' in reply) promise?.reject(reply.error)
  else promise?.resolve(reply.result)
})

function ask<Result>(
  kind: RateWorkerQuery['kind'],
  sql: string,
  parameters: RateWorkerQuery['parameters'] = [],
): Promise<Result> {
  const number = waiting.size === 0 ? 0 : Math.max(...waiting.keys()) + 1
  const promise = Promise.withResolvers<unknown>()
  waiting.set(number, promise)
  const query: RateWorkerQuery = { kind, number, sql, parameters }
  port.postMessage(query)
  return promise.promise as Promise<Result>
}

const { ruleIds, storePath, evidence } = workerData as RateWorkerOrder
const store: Evidence['store'] = {
  path: storePath,
  rows: (sql, parameters) => ask('rows', sql, parameters),
  doubles: (sql, parameters) => ask('doubles', sql, parameters),
}
const findings = await decideInOrder(selectRules(ruleIds), { ...evidence, store })
const message: RateWorkerFindings = { kind: 'findings', findings }
port.postMessage(message)
