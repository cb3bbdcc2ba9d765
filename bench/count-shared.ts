/**
 * Preloaded (`node --import`) into a run: each thread counts its atomic operations and its messages, and writes
 * the counts as a line of JSON when it ends.
 */
import { MessagePort } from 'node:worker_threads'

const counts = { atomics: 0, messages: 0, transferredBytes: 0 }
for (const name of ['add', 'sub', 'load', 'store'] as const) {
  const original = Atomics[name] as (...given: unknown[]) => number
  Object.assign(Atomics, {
    [name](...given: unknown[]) {
      counts.atomics++
      return original(...given)
    },
  })
}
const { postMessage } = MessagePort.prototype
MessagePort.prototype.postMessage = function (
  this: MessagePort,
  message: unknown,
  ...rest: unknown[]
) {
  counts.messages++
  const [moved] = rest
  for (const each of Array.isArray(moved) ? moved : []) {
    if (each instanceof ArrayBuffer) counts.transferredBytes += each.byteLength
  }
  return Reflect.apply(postMessage, this, [message, ...rest])
}
process.on('exit', () => process.stderr.write(`\ncounts ${JSON.stringify(counts)}\n`))
