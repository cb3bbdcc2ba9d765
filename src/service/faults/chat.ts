import type { Behaviour, Usage } from '../behaviour.ts'
import type { Call } from '../call.ts'
import { type Answer, prose } from '../generate.ts'
import type { GenerationRequest } from '../request/generation-request.ts'
import type { RequestRules } from '../request/rules.ts'
import { editChat, editChunks } from './completion.ts'
import { type Fault, fault } from './fault.ts'

const chatRules = (honest: Behaviour, bend: (rules: RequestRules) => Partial<RequestRules>) => ({
  rules(call: Call) {
    const rules = honest.rules(call)
    return call.endpoint === 'chat' ? { ...rules, ...bend(rules) } : rules
  },
})

const answerTo = (
  honest: Behaviour,
  bend: (request: GenerationRequest) => Partial<GenerationRequest>,
) => ({
  answer(call: Call): Answer {
    const { request } = call
    call.request = { ...request!, ...bend(request!) }
    const answer = honest.answer(call)
    call.request = request
    return answer
  },
})

const finishes = (honest: Behaviour, reason: string) =>
  editChat(honest, (part) => ({
    ...part,
    choices: part.choices.map((choice) =>
      choice.finish_reason === null ? choice : { ...choice, finish_reason: reason },
    ),
  }))

/** More than the default of max_tokens. */
const longAnswerTokens = 1_500

export const chatFaults: readonly Fault[] = [
  fault('chat-created-ms', 'CHAT-01', 'created is in milliseconds', (honest) =>
    editChat(honest, (part) => ({ ...part, created: part.created * 1000 })),
  ),
  fault('fingerprint-null', 'CHAT-01', 'system_fingerprint is null', (honest) =>
    editChat(honest, (part) => ({ ...part, system_fingerprint: null })),
  ),
  fault('id-per-connection', 'CHAT-02', 'requests of a connection share their id', (honest) => ({
    responseId: (call) =>
      call.endpoint === 'chat'
        ? `chatcmpl-${call.incoming.connection.toString(16).padStart(18, '0')}`
        : honest.responseId(call),
  })),
  fault('model-echoes-default', 'CHAT-03', 'model is always svc-k2', (honest) =>
    editChat(honest, (part) => ({ ...part, model: 'svc-k2' })),
  ),
  fault('n-ignored', 'CHAT-04', 'there is always one choice', (honest) =>
    answerTo(honest, () => ({ n: 1 })),
  ),
  fault('stream-choices-at-0', 'CHAT-04', 'all choices of a stream have index 0', (honest) => ({
    events: editChunks(honest, (chunk) => ({
      ...chunk,
      choices: chunk.choices.map((choice) => ({ ...choice, index: 0 })),
    })),
  })),
  fault('finish-end-turn', 'CHAT-05', 'finish_reason is end_turn', (honest) =>
    finishes(honest, 'end_turn'),
  ),
  fault('finish-empty', 'CHAT-05', 'finish_reason is empty', (honest) => finishes(honest, '')),
  fault('finish-always-stop', 'CHAT-06', 'finish_reason is stop, even at the limit', (honest) => ({
    answer(call) {
      const answer = honest.answer(call)
      return { ...answer, choices: answer.choices.map((each) => ({ ...each, finish: 'stop' })) }
    },
  })),
  fault('max-tokens-ignored', 'CHAT-06', 'answers ignore max_tokens', (honest) =>
    answerTo(honest, () => ({ maxTokens: 8_192 })),
  ),
  fault('max-tokens-ignored-on-streams', 'CHAT-06', 'streams ignore max_tokens', (honest) =>
    answerTo(honest, ({ stream, maxTokens }) => ({ maxTokens: stream ? 8_192 : maxTokens })),
  ),
  fault(
    'stop-kept-sometimes',
    'CHAT-07',
    'every third chat answer that a stop sequence ended contains that sequence',
    (honest) => {
      let stopped = 0
      return {
        answer(call) {
          const answer = honest.answer(call)
          if (call.endpoint !== 'chat') return answer
          const choices = answer.choices.map((each) =>
            each.stopSequence === null || ++stopped % 3 !== 0
              ? each
              : { ...each, pieces: [...each.pieces, each.stopSequence] },
          )
          return { ...answer, choices }
        },
      }
    },
  ),
  fault(
    'stop-ignored',
    'CHAT-07',
    'answers continue past stop sequences, to a length',
    (honest) => ({
      answer(call) {
        const answer = answerTo(honest, () => ({ stop: [] })).answer(call)
        if (call.request?.stop.length === 0) return answer
        return { ...answer, choices: answer.choices.map((each) => ({ ...each, finish: 'length' })) }
      },
    }),
  ),
  fault('total-off-by-one', 'CHAT-08', 'total_tokens is one more than the sum', (honest) => ({
    usage(call, answer) {
      const usage = honest.usage(call, answer)
      return { ...usage, totalTokens: usage.totalTokens + 1 }
    },
  })),
  fault(
    'usage-of-previous-request',
    'CHAT-09',
    'usage is that of the previous request',
    (honest) => {
      let before: Usage | null = null
      return {
        usage(call, answer) {
          const own = honest.usage(call, answer)
          const shown = before ?? own
          before = own
          return shown
        },
      }
    },
  ),
  fault('usage-accumulated', 'CHAT-09', 'usage adds up from request to request', (honest) => {
    let sum = { promptTokens: 0, completionTokens: 0, totalTokens: 0 }
    return {
      usage(call, answer) {
        const own = honest.usage(call, answer)
        sum = {
          promptTokens: sum.promptTokens + own.promptTokens,
          completionTokens: sum.completionTokens + own.completionTokens,
          totalTokens: sum.totalTokens + own.totalTokens,
        }
        return sum
      },
    }
  }),
  fault('missing-fields-defaulted', 'CHAT-10', 'model and messages may be missing', (honest) =>
    chatRules(honest, () => ({ required: [] })),
  ),
  fault('any-role', 'CHAT-11', 'any role is accepted', (honest) =>
    chatRules(honest, () => ({ roles: null })),
  ),
  fault('range-exclusive', 'CHAT-12', 'the ends of ranges are rejected', (honest) =>
    chatRules(honest, () => ({ exclusive: true })),
  ),
  fault('stops-truncated', 'CHAT-12', 'a fifth stop sequence is dropped silently', (honest) =>
    chatRules(honest, () => ({ truncateStops: true })),
  ),
  fault('strings-coerced', 'CHAT-12', '"0.5" is accepted as a number', (honest) =>
    chatRules(honest, () => ({ coerce: true })),
  ),
  fault(
    'default-max-tokens-8192',
    'CHAT-13',
    'without max_tokens answers exceed 1024',
    (honest) => ({
      answer(call) {
        const answer = honest.answer(call)
        if (call.endpoint !== 'chat' || /"max_tokens"/.test(call.body.toString())) return answer
        const pieces = prose(longAnswerTokens, call.incoming.sequence)
        const choices = answer.choices.map((each) => ({ ...each, pieces }))
        return { ...answer, choices, completionTokens: choices.length * longAnswerTokens }
      },
    }),
  ),
  fault('default-stream', 'CHAT-13', 'without stream the answer is a stream', (honest) =>
    chatRules(honest, ({ defaults }) => ({ defaults: { ...defaults, stream: true } })),
  ),
]
