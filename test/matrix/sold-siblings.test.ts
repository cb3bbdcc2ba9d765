import { expect, test } from 'vitest'
import type { Behaviour } from '../../src/service/behaviour.ts'
import type { Call } from '../../src/service/call.ts'
import type { Fault } from '../../src/service/faults/fault.ts'
import { reportingCached } from '../../src/service/faults/sold.ts'
import type { GenerationRequest } from '../../src/service/request/generation-request.ts'
import type { ActName } from './acts.ts'
import { verdictsOf } from './verdicts.ts'

/** Conduct that no fault of the service has: which rule tells it, and what it says. */
interface Sibling {
  readonly name: string
  readonly acts: readonly ActName[]
  readonly rule: string
  readonly verdict: 'pass' | 'fail' | 'inconclusive'
  readonly said: RegExp
  readonly breaks: (honest: Behaviour, kit: Parameters<Fault['breaks']>[1]) => Partial<Behaviour>
}

/** The request whose long messages are cut. */
const cutting = (request: GenerationRequest, cut: (text: string) => string): GenerationRequest => ({
  ...request,
  messages: request.messages.map((message) =>
    message.text.length < 20_000 ? message : { ...message, text: cut(message.text) },
  ),
})

/** Answers to another request than that of the call. */
const answering =
  (change: (request: GenerationRequest, call: Call) => GenerationRequest): Sibling['breaks'] =>
  (honest) => ({
    answer(call) {
      const own = call.request!
      call.request = change(own, call)
      try {
        return honest.answer(call)
      } finally {
        call.request = own
      }
    },
  })

const lost = (name: string, cut: (text: string) => string, said: RegExp): Sibling => ({
  ...{ name, acts: ['codes'], rule: 'SOLD-03', verdict: 'fail', said },
  breaks: answering((request) => cutting(request, cut)),
})

const share = (text: string, from: number, to: number) =>
  text.slice(Math.floor(from * text.length), Math.floor(to * text.length))

/** The name of another model, for some of the answers. */
const swapping = (isSwapped: (nth: number, dayHour: number) => boolean): Sibling['breaks'] => {
  return (honest, kit) => {
    let nth = 0
    return answering((request) => {
      const hour = (kit.clock.nowUs() / 3_600e6) % 24
      return isSwapped(nth++, hour) ? { ...request, model: `not ${request.model}` } : request
    })(honest, kit)
  }
}

const siblings: readonly Sibling[] = [
  {
    // The later prompts of the act have too few codes in the middle: the rule says where more decide.
    ...lost(
      'the middle of a long prompt is dropped',
      (text) => share(text, 0, 0.3) + share(text, 0.7, 1),
      /no code between [23]\d % and [67]\d % was found; \d\d of 40 later codes .* Send two more with between: \[0\.[23]\d, 0\.[67]\d\]/,
    ),
    verdict: 'inconclusive',
  },
  lost(
    'the end of a long prompt is dropped',
    (text) => share(text, 0, 0.5),
    /Of .* codes between 5\d % and (?:9\d|100) % of a prompt .* none was found/,
  ),
  lost(
    'all but the last fifth of a long prompt is dropped',
    (text) => share(text, 0.8, 1),
    /Of .* codes between 1?\d % and 7\d % of a prompt .* none was found/,
  ),
  {
    ...{ name: 'a long prompt is cut, and counted so', acts: ['codes'], rule: 'SOLD-03' },
    ...{ verdict: 'fail', said: /Of prompts of 7,\d{3} tokens the service counts [34],\d{3}: / },
    breaks: (honest) => ({
      promptTokens: (call, request) =>
        honest.promptTokens(
          call,
          cutting(request, (text) => share(text, 0, 0.5)),
        ),
    }),
  },
  {
    ...{ name: 'three tokens more for each message', acts: ['short'], rule: 'SOLD-02' },
    ...{ verdict: 'fail', said: /counted 10 tokens more than its text/ },
    breaks: (honest) => ({
      promptTokens: (call, request) =>
        honest.promptTokens(call, request) + 3 * request.messages.length,
    }),
  },
  {
    ...{ name: 'prompts of more than 2,000 tokens are counted 1.1 times', acts: ['texts'] },
    ...{
      rule: 'SOLD-01',
      verdict: 'fail',
      said: /The service counts 1\.1\d\d tokens .* for each token of cl100k/,
    },
    breaks: (honest) => ({
      promptTokens(call, request) {
        const own = honest.promptTokens(call, request)
        return own > 2_000 ? Math.round(1.1 * own) : own
      },
    }),
  },
  {
    ...{ name: 'cache reads are credited and no faster', acts: ['cached'], rule: 'SOLD-04' },
    // Who pays less for the same time is not harmed.
    ...{ verdict: 'pass', said: /repeated prompts are credited/ },
    breaks(honest) {
      const seen = new Set<string>()
      const repeats = new WeakMap<Call, boolean>()
      return reportingCached(honest, (call, prompt) => {
        const asked = JSON.stringify(call.request!.messages)
        if (!repeats.has(call)) repeats.set(call, seen.has(asked))
        seen.add(asked)
        return repeats.get(call) === true ? Math.floor(prompt / 128) * 128 : 0
      })
    },
  },
  {
    ...{ name: 'another model answers half of the requests', acts: ['referenced'] },
    ...{ rule: 'SOLD-06', verdict: 'fail', said: /differ from the reference by 0\.3/ },
    breaks: swapping((nth) => nth % 2 === 0),
  },
  {
    ...{ name: 'another model answers at night', acts: ['watched'], rule: 'SOLD-05' },
    ...{ verdict: 'inconclusive', said: /30 sessions between .* UTC answer otherwise/ },
    breaks: swapping((_, hour) => hour < 6 || hour >= 18),
  },
]

test.each(siblings)('$name: $rule, $verdict', { tags: 'whole' }, async (sibling) => {
  const { name, acts, rule, breaks } = sibling
  const faults: readonly Fault[] = [{ name, rule, does: name, probability: 1, breaks }]
  const { verdict } = (await verdictsOf({ faults, seed: 3 }, acts, [rule])).get(rule)!
  expect(verdict.verdict).toBe(sibling.verdict)
  const said =
    verdict.verdict === 'fail'
      ? verdict.observed
      : verdict.verdict === 'inconclusive'
        ? verdict.why
        : 'note' in verdict
          ? verdict.note
          : undefined
  expect(said).toMatch(sibling.said)
})
