import type { AbortPoint } from '../../contract/request.ts'
import type { Asking } from '../asking.ts'
import { notAskable, ofFacets, pricesOf, type Question } from '../question.ts'
import type { Reply } from '../reply.ts'

/** Requests left at each point; an answer is an answer only when all of them agree. */
const repeats = 3

const points: readonly (readonly [name: string, point: AbortPoint])[] = [
  ['after headers', { at: 'after-headers' }],
  ['after the first event', { at: 'first-event' }],
  ['after four events', { at: 'after-events', events: 4 }],
  ['before the end', { at: 'before-done' }],
]

/** G-14: streams left at each point, one phase each, between idle reads of the balance. */
export const abortedStreams: Question = {
  gaps: ['G-14'],
  price: ({ contract }) => ((points.length + 1) * repeats + 1) * pricesOf(contract).least + 20,
  async ask(asking) {
    const found: Record<string, string | { oneOf: readonly string[] }> = {}
    const evidence: string[] = []
    const whole = await asking.chat({ stream: true, maxTokens: 64 }, { step: 'not left' })
    const first = ['before headers', early(whole)] as const
    for (const [name, abort] of [first, ...points]) {
      const outcome = await leave(asking, name, abort, true)
      if (outcome === null) return { 'G-14': notAskable('no balance can be read') }
      found[name] = outcome.charged
      evidence.push(outcome.evidence)
    }
    return { 'G-14': ofFacets(found, ...evidence) }
  },
}

/** G-15: plain requests left before their answer. */
export const abortedPlain: Question = {
  gaps: ['G-15'],
  price: ({ contract }) => (repeats + 1) * pricesOf(contract).least + 6,
  async ask(asking) {
    const whole = await asking.chat({ maxTokens: 64 }, { step: 'not left' })
    const outcome = await leave(asking, 'before headers', early(whole), false)
    if (outcome === null) return { 'G-15': notAskable('no balance can be read') }
    return { 'G-15': ofFacets({ charge: outcome.charged }, outcome.evidence) }
  },
}

/** Left while the service is surely at work: a third of the time that its headers took. */
function early({ columns }: Reply): AbortPoint {
  const us = ((columns.headersUs ?? 0) - (columns.sentUs ?? 0)) / 3
  return { at: 'after-us', us: Math.max(500, us) }
}

async function leave(asking: Asking, name: string, abort: AbortPoint, stream: boolean) {
  const price = pricesOf(asking.contract).least
  const before = await asking.idleBalance()
  let left = 0
  let served = 0
  for (let nth = 0; nth < repeats; nth++) {
    const { columns } = await asking.chat(
      { stream, abort, maxTokens: 64 },
      { step: `left ${name}`, expects: 'any' },
    )
    if (columns.outcome === 'aborted') left++
    else if (columns.outcome === 'ok') served++
  }
  // The service may finish the answer for itself and charge then.
  await asking.options.sleep(300_000)
  const after = await asking.idleBalance()
  if (before === null || after === null) return null
  const fell = before - after - served * price
  const evidence = `${name}: ${left} of ${repeats} left, balance ${before} to ${after}`
  if (left === 0) return { charged: { oneOf: ['charged', 'free'] as const }, evidence }
  if (fell === 0) return { charged: 'free', evidence }
  if (fell === left * price) return { charged: 'charged', evidence }
  // Some were over before they were left, or it depends on more than the point.
  return { charged: { oneOf: ['charged', 'free'] }, evidence }
}
