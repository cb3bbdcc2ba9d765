import { z } from 'zod'
import {
  type AbortPoint,
  abortMoments,
  endpoints,
  methods,
  takesPrompt,
  wrongRequests,
} from '../../contract/request.ts'
import {
  counted,
  duration,
  either,
  flag,
  list,
  map,
  oneOf,
  shape,
  text,
  weight,
  whole,
} from '../fields.ts'
import { mostTokens, type Step } from '../steps.ts'
import { expectation, expectationsOf, type moduleCheck } from './expect.ts'
import { noTime, think } from './lengths.ts'
import type { Origin } from './origin.ts'
import { type modulePrompt, promptOf } from './prompt.ts'

const abortPoint = either(
  [
    oneOf(abortMoments),
    shape('', { events: [whole(1), 'Abort after so many events of the stream.'] }),
    shape('', { after: [duration(), 'Abort so long after the send.'] }),
  ],
  'before-headers, after-headers, first-event, before-done, { events: 5 } or { after: 800ms }',
).transform((abort): AbortPoint => {
  if (typeof abort === 'string') return { at: abort }
  return 'events' in abort
    ? { at: 'after-events', events: abort.events }
    : { at: 'after-us', us: abort.after }
})

const session = shape('a session: { turns, think }', {
  turns: [whole(2), 'Number of turns, at least 2.'],
  think: [think.optional(), 'Time between an answer and the next turn. Default none.'],
}).transform(({ turns, think = noTime }) => ({ turns, think }))

const scalar = either([z.string(), z.number(), z.boolean()], 'a text')

export const step = <Prompt extends z.ZodType, Check extends z.ZodType>(
  prompt: Prompt,
  check: Check,
) =>
  shape('a step: endpoint, and what it sends', {
    weight: [weight().default(1), 'Share of the requests, relative to the other steps.'],
    endpoint: [
      oneOf(endpoints),
      'chat, messages, responses, embeddings, models, credits, or other with a path.',
    ],
    path: [
      z
        .string({ error: 'a path that begins with /' })
        .regex(/^\/[!-~]*$/, {
          error: 'a path that begins with /, of printable ASCII without spaces',
        })
        .optional(),
      "Path of the endpoint other, or instead of the endpoint's own.",
    ],
    method: [oneOf(methods).optional(), 'HTTP method. Default: that of the endpoint.'],
    stream: [flag().default(false), 'Ask for a stream of events.'],
    include_usage: [flag().default(false), 'Ask a chat stream for its token counts.'],
    model: [
      text('a model').nullish(),
      'The model; null sends none. The endpoint other does not send it: it names the price of the request.',
    ],
    prompt: [
      prompt.optional(),
      'What the user says: a text, { file: path }, or { synthetic: tokens }.',
    ],
    system: [text('a text').nullish(), 'The system prompt.'],
    max_tokens: [whole(1).nullish(), 'The most tokens of an answer.'],
    output_tokens: [
      either([counted(mostTokens), z.literal('trace')], 'a number of tokens, or trace').optional(),
      'The tokens of each answer, neither more nor fewer; trace: as many as a replay recorded. In place of max_tokens.',
    ],
    enforce_output: [
      flag().default(true),
      'Send min_tokens and ignore_eos, which make servers such as vLLM, SGLang and llama.cpp keep output_tokens.',
    ],
    wrong: [
      oneOf(wrongRequests).optional(),
      'Make the request wrong on purpose; its error is then no failure.',
    ],
    abort: [abortPoint.optional(), 'Abort on purpose at this point of the response.'],
    session: [
      session.optional(),
      'A conversation: each turn carries all turns before it, on one key.',
    ],
    expect: [expectation(check).optional(), 'What a successful answer must hold to be correct.'],
    headers: [
      map(scalar.transform(String), 'headers: a mapping of name to text').default({}),
      'Further headers. They are kept as evidence, so none may carry a key.',
    ],
    body: [
      map(z.unknown(), 'fields of the body: a mapping').default({}),
      'Further fields of the body; they replace those of Assay.',
    ],
    keys: [
      list(text('the name of a key'), 'a list of names of keys').default([]),
      'Names of the keys that the step may use. Default: all.',
    ],
  })

type Written = z.output<ReturnType<typeof step<typeof modulePrompt, typeof moduleCheck>>>

/** @param usualModel the model of the scenario */
export function stepOf(
  name: string,
  written: Written,
  usualModel: string | undefined,
  origin: Origin,
): Step {
  const { include_usage, max_tokens, output_tokens, enforce_output, ...rest } = written
  const { model = usualModel, ...step } = rest
  return {
    ...step,
    name,
    path: step.path ?? null,
    method: step.method ?? null,
    includeUsage: include_usage,
    // The endpoint `other` has a model only if its own step names one: its price is found by it.
    model: takesPrompt(step.endpoint)
      ? (model ?? null)
      : step.endpoint === 'other'
        ? (written.model ?? null)
        : null,
    prompt: promptOf(step.prompt, origin),
    system: step.system ?? null,
    maxTokens: (output_tokens === 'trace' ? null : output_tokens) ?? max_tokens ?? null,
    ...(output_tokens === undefined
      ? {}
      : { output: { tokens: output_tokens, isEnforced: enforce_output } }),
    wrong: step.wrong ?? null,
    abort: step.abort ?? null,
    session: step.session ?? null,
    expect: expectationsOf(step.expect, origin),
  }
}
