import type { Behaviour } from '../behaviour.ts'
import type { Call } from '../call.ts'
import { firstToken, wordAsked } from '../honest/first-token.ts'
import { tierShare } from '../honest/generation.ts'
import { hashText, normal, seededRandom } from '../random.ts'
import type { GenerationRequest } from '../request/generation-request.ts'
import { piecesOf } from '../tokens.ts'
import { editChat } from './completion.ts'
import { type Fault, fault, strongFault } from './fault.ts'

/** Counts, and charges, another number of prompt tokens. */
const counting = (
  honest: Behaviour,
  prompt: (tokens: number) => number,
): Pick<Behaviour, 'promptTokens'> => ({
  promptTokens: (call, request) => prompt(honest.promptTokens(call, request)),
})

/** Prompts of fewer letters are left as they are. */
const longLetters = 20_000

/** The request whose long messages lack their first part. */
const shortened = (request: GenerationRequest, share: number): GenerationRequest => ({
  ...request,
  messages: request.messages.map((message) =>
    message.text.length < longLetters
      ? message
      : { ...message, text: message.text.slice(Math.floor(message.text.length * share)) },
  ),
})

/** Makes an answer to another request than that of the call. */
function withRequest<T>(call: Call, request: GenerationRequest, make: () => T): T {
  const own = call.request
  call.request = request
  try {
    return make()
  } finally {
    call.request = own
  }
}

/** The answer of a model that has nothing in common with the one that was asked for. */
const answeredByOther = (honest: Behaviour, call: Call) =>
  withRequest(call, { ...call.request!, model: `not ${call.request!.model}` }, () =>
    honest.answer(call),
  )

type Arguments = Readonly<Record<string, unknown>>

/** Changes the arguments of tool calls. */
const withArguments = (
  honest: Behaviour,
  change: (given: Arguments) => Arguments,
): Pick<Behaviour, 'answer'> => ({
  answer(call) {
    const answer = honest.answer(call)
    const choices = answer.choices.map((choice) => {
      if (choice.tool === undefined || choice.finish === 'length') return choice
      const given = JSON.parse(choice.pieces.join('')) as Arguments
      return { ...choice, pieces: piecesOf(JSON.stringify(change(given))) }
    })
    return { ...answer, choices }
  },
})

/** Reports tokens of hidden reasoning beside those of the text. */
export const reportingReasoning = (
  honest: Behaviour,
  hiddenOf: (call: Call, written: number) => number,
): Pick<Behaviour, 'completion' | 'events'> =>
  editChat(honest, (part, call) => {
    if (!('usage' in part) || part.usage == null) return part
    const { prompt_tokens, completion_tokens } = part.usage
    const hidden = hiddenOf(call, completion_tokens)
    return {
      ...part,
      usage: {
        prompt_tokens,
        completion_tokens: completion_tokens + hidden,
        total_tokens: prompt_tokens + completion_tokens + hidden,
        completion_tokens_details: { reasoning_tokens: hidden },
      },
    }
  })

export const reportingCached = (
  honest: Behaviour,
  cachedOf: (call: Call, prompt: number) => number,
): Pick<Behaviour, 'completion' | 'events'> =>
  editChat(honest, (part, call) => {
    if (!('usage' in part) || part.usage == null) return part
    const cached_tokens = cachedOf(call, part.usage.prompt_tokens)
    return { ...part, usage: { ...part.usage, prompt_tokens_details: { cached_tokens } } }
  })

/** The longest text without a letter in its middle. */
function rewritten(given: Arguments): Arguments {
  const [longest] = Object.entries(given)
    .flatMap(([name, value]) => (typeof value === 'string' ? [{ name, value }] : []))
    .toSorted((a, b) => b.value.length - a.value.length)
  if (longest === undefined) return given
  const { name, value } = longest
  const middle = value.length >> 1
  return { ...given, [name]: value.slice(0, middle) + value.slice(middle + 1) }
}

export const soldFaults: readonly Fault[] = [
  strongFault(
    'token-inflation',
    'SOLD-01',
    'each prompt is counted 1.1 times',
    1.1,
    (honest, _kit, factor) => counting(honest, (tokens) => Math.round(tokens * factor)),
  ),
  strongFault(
    'stream-inflation',
    'SOLD-01',
    'prompts of streams alone are counted 1.1 times',
    1.1,
    (honest, _kit, factor) => ({
      promptTokens(call, request) {
        const tokens = honest.promptTokens(call, request)
        return request.stream ? Math.round(tokens * factor) : tokens
      },
    }),
  ),
  strongFault(
    'token-rounding',
    'SOLD-01',
    'prompt tokens are rounded up to multiples of 64',
    64,
    (honest, _kit, step) => counting(honest, (tokens) => Math.ceil(tokens / step) * step),
  ),
  strongFault(
    'hidden-prompt',
    'SOLD-02',
    'a prompt of 30 tokens is put before each, and counted',
    30,
    (honest, _kit, tokens) => counting(honest, (own) => own + tokens),
  ),
  strongFault(
    'context-lost',
    'SOLD-03',
    'the first half of a long prompt is dropped, and all of it counted; `context-lost:0.25` drops a quarter',
    0.5,
    (honest, _kit, share) => ({
      answer: (call) =>
        withRequest(call, shortened(call.request!, share), () => honest.answer(call)),
    }),
  ),
  fault(
    'cached-not-told',
    'SOLD-04',
    'repeated prompts begin sooner, and are counted as not cached',
    (honest) => {
      const seen = new Set<string>()
      return {
        timing(call, answer) {
          const timing = honest.timing(call, answer)
          const prompt = JSON.stringify(call.request?.messages)
          if (!seen.has(prompt)) {
            seen.add(prompt)
            return timing
          }
          return { ...timing, toFirstUs: timing.toFirstUs / 4 }
        },
      }
    },
  ),
  fault(
    'cached-too-many',
    'SOLD-04',
    'nine tenths of each prompt are counted as cached',
    (honest) => reportingCached(honest, (_, prompt) => Math.floor(prompt * 0.9)),
  ),
  strongFault(
    'model-swap-after',
    'SOLD-05',
    'another model answers under the same name after 1,600 answers; `model-swap-after:300` after fewer',
    1_600,
    (honest, _kit, after) => {
      let answers = 0
      return {
        answer: (call) => (++answers > after ? answeredByOther(honest, call) : honest.answer(call)),
      }
    },
  ),
  strongFault(
    'other-model-under-load',
    'SOLD-11',
    'another model answers once there were more than 8 answers within the second before; `other-model-under-load:20` above 20',
    8,
    (honest, { clock }, most) => {
      const recentUs: number[] = []
      return {
        answer(call) {
          const nowUs = clock.nowUs()
          while (recentUs.length > 0 && recentUs[0]! <= nowUs - 1e6) recentUs.shift()
          recentUs.push(nowUs)
          return recentUs.length > most ? answeredByOther(honest, call) : honest.answer(call)
        },
      }
    },
  ),
  fault('other-model', 'SOLD-06', 'another model answers under the same name', (honest) => ({
    answer: (call) => answeredByOther(honest, call),
  })),
  strongFault(
    'quantized',
    'SOLD-06',
    'the log-odds of first tokens are moved by 1, up or down; `quantized:0.5` by half of it',
    1,
    (honest, { random }, by) => ({
      answer(call) {
        const answer = honest.answer(call)
        const word = wordAsked(call.request!)
        if (word === null) return answer
        const { model } = call.request!
        const moved = by * normal(seededRandom(hashText(`${model} quantized`, hashText(word))))
        const choices = answer.choices.map((choice) => ({
          ...choice,
          pieces: [firstToken(model, word, random, moved)],
        }))
        return { ...answer, choices }
      },
    }),
  ),
  fault(
    'tool-rewritten',
    'SOLD-07',
    'a text in the arguments of a tool call loses a letter; strikes a tenth of the requests',
    (honest) => withArguments(honest, (given) => rewritten(given)),
    0.1,
  ),
  fault(
    'tool-broken',
    'SOLD-07',
    'the arguments of a tool call lack a field; strikes a fifth of the requests',
    (honest) =>
      withArguments(honest, (given) => Object.fromEntries(Object.entries(given).slice(1))),
    0.2,
  ),
  fault('tier-ignored', 'SOLD-08', 'the paid tier is no faster than the default', (honest) => ({
    timing(call, answer) {
      const timing = honest.timing(call, answer)
      return { ...timing, toFirstUs: timing.toFirstUs / tierShare(call) }
    },
  })),
  strongFault(
    'output-inflation',
    'SOLD-09',
    'answers are cut, and counted 1.1 times',
    1.1,
    (honest, _kit, factor) => ({
      answer(call) {
        const answer = honest.answer(call)
        const choices = answer.choices.map((choice) => ({
          ...choice,
          pieces: choice.pieces.slice(0, Math.ceil(choice.pieces.length / factor)),
        }))
        return { ...answer, choices }
      },
    }),
  ),
  strongFault(
    'reasoning-inflation',
    'SOLD-10',
    'each answer reports 5 tokens of hidden reasoning for each of its own',
    5,
    (honest, _kit, factor) =>
      reportingReasoning(honest, (_, written) => Math.round(written * factor)),
  ),
]
