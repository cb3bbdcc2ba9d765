import { prose } from '../generate.ts'
import { type Fault, fault } from './fault.ts'

const tooLongTokens = 20_000
const cutAfterUs = 60e6

export const tokenFaults: readonly Fault[] = [
  fault(
    'context-truncated',
    'LIM-01',
    'input beyond the window is truncated and charged',
    (honest, { contract }) => ({
      fits(call) {
        const refusal = honest.fits(call)
        if (refusal?.kind !== 'context') return refusal
        call.promptTokens = Math.min(call.promptTokens, contract.limits.maxInputTokens / 2)
        return null
      },
    }),
  ),
  fault(
    'output-20000',
    'LIM-02',
    'a large max_tokens gives 20,000 tokens',
    (honest, { contract }) => ({
      answer(call) {
        const answer = honest.answer(call)
        if ((call.request?.maxTokens ?? 0) <= contract.limits.maxOutputTokens) return answer
        const pieces = prose(tooLongTokens, call.incoming.sequence)
        const choices = answer.choices.map((each) => ({ ...each, pieces }))
        return { ...answer, choices, completionTokens: choices.length * tooLongTokens }
      },
    }),
  ),
  fault(
    'total-not-checked',
    'LIM-03',
    'input and output together may exceed the total',
    (honest, { contract }) => ({
      fits: (call) =>
        call.promptTokens <= contract.limits.maxInputTokens ? null : honest.fits(call),
    }),
  ),
  fault('stream-cut-60s', 'LIM-04', 'a stream is cut after 60 s', (honest, { clock }) => ({
    generate(call, sink) {
      const stop = honest.generate(call, sink)
      if (call.request?.stream !== true) return stop
      const failure = { kind: 'internal', message: 'the stream took too long' } as const
      const cancel = clock.at(clock.nowUs() + cutAfterUs, () => {
        stop()
        sink.fail(failure)
      })
      return () => {
        cancel()
        stop()
      }
    },
  })),
]
