import * as o200k from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import { flags } from '../../../src/attempt/flags.ts'
import { parseContract } from '../../../src/contract/load.ts'
import { attempt } from '../../report/attempts.ts'
import { verdictOver } from '../verdict-over.ts'
import { textOf } from './texts.ts'

const contract = (more: object) =>
  parseContract({ name: 'sold', models: [{ id: 'svc-k2', ...more }] }, 'c.yaml')

interface Answer {
  readonly text: string
  readonly usage: { readonly completion_tokens: number } & object
  readonly request?: object
  readonly message?: object
  readonly streamed?: number
}

/** The verdict on plain answers, each to a request of its own. */
function verdictOn(rule: string, model: object, answers: readonly Answer[]) {
  return verdictOver(
    rule,
    answers.map(({ usage, streamed = 0 }, at) =>
      attempt(at, {
        ...{ template: at, streamed },
        finishReason: 'length',
        completionTokens: usage.completion_tokens,
      }),
    ),
    {
      contract: contract(model),
      templates: answers.map(({ request = {} }, template) => ({
        ...{ runId: 'a', template, step: 'chat', method: 'POST', path: '/v1/chat/completions' },
        ...{ headers: '{}', maxTokens: 200, n: null, promptHash: null },
        body: JSON.stringify({ model: 'svc-k2', messages: [], ...request }),
      })),
      bodies: answers.map(({ text, usage, message = {} }, slot) => ({
        ...{ runId: 'a', slot, retry: 0, headers: '', truncated: false },
        body: JSON.stringify({
          choices: [{ index: 0, message: { role: 'assistant', content: text, ...message } }],
          usage: { prompt_tokens: 10, ...usage },
        }),
      })),
    },
  )
}

const texts = Array.from({ length: 10 }, (_, seed) => textOf('words', 200, seed))
const counted = (factor: number) =>
  texts.map((text) => ({
    text,
    usage: { completion_tokens: Math.round(o200k.countTokens(text) * factor) },
  }))
const named = { tokenizer: 'o200k' }

test.each([
  [1, 'pass'],
  [1.02, 'pass'],
  [1.03, 'inconclusive'],
  [1.05, 'fail'],
  [1.1, 'fail'],
])('ten answers that are counted %d times: %s', async (factor, verdict) => {
  expect(await verdictOn('SOLD-09', named, counted(factor))).toMatchObject({ verdict })
})

test('the finding says how many tokens the answers have', async () => {
  expect(await verdictOn('SOLD-09', named, counted(1.1))).toMatchObject({
    observed: expect.stringContaining('10 answers of 2,200 counted tokens have 2,000 by o200k.'),
  })
})

test('an excess of streams alone fails as theirs', async () => {
  const streams = counted(1.1).map((answer) => ({ ...answer, streamed: 1 }))
  expect(await verdictOn('SOLD-09', named, [...counted(1), ...streams])).toMatchObject({
    verdict: 'fail',
    observations: 10,
    observed: expect.stringContaining(
      'In streams: 10 answers of 2,200 counted tokens have 2,000 by o200k. If all of them are counted so, that is about',
    ),
  })
})

test('nine answers do not decide', async () => {
  const verdict = await verdictOn('SOLD-09', named, counted(1.5).slice(1))
  expect(verdict).toMatchObject({ verdict: 'inconclusive' })
})

test('a model with reasoning, and an answer that shows some, are left out', {
  tags: 'whole',
}, async () => {
  const thinking = await verdictOn('SOLD-09', { ...named, reasoning: true }, counted(1.5))
  expect(thinking).toMatchObject({ verdict: 'not-observed' })
  const shown = counted(1.5).map((answer) => ({ ...answer, message: { reasoning_content: 'Hm.' } }))
  expect(await verdictOn('SOLD-09', named, shown)).toMatchObject({ verdict: 'not-observed' })
})

const reasoned = (reasoning: number, completion: number, request = {}) => [
  {
    ...{ text: 'Yes.', request },
    usage: {
      completion_tokens: completion,
      completion_tokens_details: { reasoning_tokens: reasoning },
    },
  },
]
const most = { max_reasoning_tokens: 1_000 }

test.each([
  [
    'more than all output',
    reasoned(60, 50),
    '60 tokens of reasoning, which is more than all output',
  ],
  ['more than the contract', reasoned(1_001, 1_010), 'the contract promises at most 1000'],
  [
    'more than asked for',
    reasoned(90, 95, { max_completion_tokens: 80 }),
    'max_completion_tokens 80',
  ],
  ['none was asked for', reasoned(9, 95, { reasoning_effort: 'none' }), 'asks for none'],
])('reasoning is impossible: %s', async (_, answers, said) => {
  const verdict = await verdictOn('SOLD-10', most, answers)
  expect(verdict).toMatchObject({ verdict: 'fail', observed: expect.stringContaining(said) })
})

test('possible reasoning never passes: nobody can count it from outside', async () => {
  expect(await verdictOn('SOLD-10', most, reasoned(40, 50))).toMatchObject({
    verdict: 'inconclusive',
  })
})

/** Streams of hidden reasoning: tokens of it, of the text, and milliseconds to the first text and to the end. */
type Times = readonly [reasoning: number, visible: number, firstMs: number, endMs: number]
const streamed = (streams: readonly Times[], shown = '') =>
  verdictOver(
    'SOLD-10',
    streams.map(([reasoning, visible, firstMs, endMs], at) => {
      const { sentUs } = attempt(at)
      return attempt(at, {
        ...{
          template: 0,
          streamed: 1,
          flags: flags.sseType,
          completionTokens: reasoning + visible,
        },
        ...{ firstContentUs: sentUs! + firstMs * 1e3, lastContentUs: sentUs! + endMs * 1e3 },
        closedUs: sentUs! + endMs * 1e3,
      })
    }),
    {
      contract: contract(most),
      templates: [
        {
          ...{ runId: 'a', template: 0, step: 'chat', method: 'POST' },
          ...{ path: '/v1/chat/completions', headers: '{}', maxTokens: null, n: null },
          ...{ promptHash: null, body: '{"model":"svc-k2","messages":[],"stream":true}' },
        },
      ],
      bodies: streams.map(([reasoning, visible], slot) => ({
        ...{ runId: 'a', slot, retry: 0, headers: '', truncated: false },
        body: [
          { choices: [{ index: 0, delta: { content: 'Yes.', ...JSON.parse(shown || '{}') } }] },
          {
            choices: [],
            usage: {
              prompt_tokens: 10,
              completion_tokens: reasoning + visible,
              completion_tokens_details: { reasoning_tokens: reasoning },
            },
          },
        ]
          .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
          .join(''),
      })),
    },
  )
/** 101 tokens of text at 100 a second, after a second for each 100 of reasoning. */
const thinking = (count: number, reasoning = 300): readonly Times[] =>
  Array.from({ length: count }, () => [reasoning, 101, 10 * reasoning, 10 * reasoning + 1_000])

test('reasoning that takes its time is possible, and one that takes none is not', {
  tags: 'whole',
}, async () => {
  expect(await streamed(thinking(10))).toMatchObject({ verdict: 'inconclusive' })
  // Twice as fast as its text is possible; in the time of its text alone it is not.
  expect(await streamed([...thinking(9), [300, 101, 1_200, 2_200]])).toMatchObject({
    verdict: 'inconclusive',
  })
  expect(await streamed([...thinking(9), [600, 101, 20, 1_020]])).toMatchObject({
    verdict: 'fail',
    observed:
      'svc-k2: 600 tokens of reasoning beside 101 of text in 1.020 s; twice the highest speed seen gives 204 in all; 1 of 10 answers',
  })
})

test('nine streams, text that arrives at once, and reasoning that is shown tell no speed', {
  tags: 'whole',
}, async () => {
  const quick: Times = [600, 101, 20, 1_020]
  expect(await streamed([...thinking(8), quick])).toMatchObject({ verdict: 'inconclusive' })
  const buffered: Times = [10, 101, 500, 500]
  expect(await streamed([...thinking(9), quick, buffered])).toMatchObject({
    verdict: 'inconclusive',
  })
  const shown = await streamed([...thinking(9), quick], '{"reasoning_content":"Hm."}')
  expect(shown).toMatchObject({ verdict: 'inconclusive' })
})

const official = 'https://official.example'
const questions = Array.from({ length: 20 }, (_, at) => `Question ${at}?`)

/** Answers to questions at the service and at its reference, which think for so many tokens. */
function thoughtAtBoth(
  own: (at: number) => number,
  there: (at: number) => number,
  asked = questions,
  promised: object = most,
) {
  const model = { id: 'svc-k2', ...promised, reference: { base_url: official, model: 'big' } }
  const sides = [
    { runId: 'a', name: 'svc-k2', think: own },
    { runId: 'official', name: 'big', think: there },
  ]
  const answers = sides.flatMap(({ runId, name, think }) =>
    asked.map((content, at) => ({ runId, name, content, at, reasoning: think(at) })),
  )
  return verdictOver(
    'SOLD-10',
    answers.map(({ runId, name, at, reasoning }) =>
      attempt(at, { runId, model: name, template: at, completionTokens: reasoning + 20 }),
    ),
    {
      contract: contract(model),
      elsewhere: { official },
      templates: answers.map(({ runId, name, content, at: template }) => ({
        ...{ runId, template, step: 'chat', method: 'POST', path: '/v1/chat/completions' },
        ...{ headers: '{}', maxTokens: 4_000, n: null, promptHash: null },
        body: JSON.stringify({ model: name, messages: [{ role: 'user', content }] }),
      })),
      bodies: answers.map(({ runId, at: slot, reasoning }) => ({
        ...{ runId, slot, retry: 0, headers: '', truncated: false },
        body: JSON.stringify({
          choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' } }],
          usage: {
            prompt_tokens: 10,
            completion_tokens: reasoning + 20,
            completion_tokens_details: { reasoning_tokens: reasoning },
          },
        }),
      })),
    },
  )
}

test.each([
  ['as many', 1, 'pass', /^svc-k2: for 20 questions, 1\.\d\d times the reasoning of the reference/],
  [
    'five times as many',
    5,
    'fail',
    /^svc-k2: For 20 questions, 4\.9\d times the reasoning of the reference \(p 0\.001\)\. If all answers report so, that is about [\d,]+ tokens too many in 20 requests\.$/,
  ],
  ['a quarter more, which is allowed', 1.25, 'inconclusive', /1\.25 times is allowed/],
] as const)(
  'reasoning tokens of a service beside its reference: %s',
  async (_, longer, verdict, said) => {
    const found = await thoughtAtBoth(
      (at) => Math.round(longer * (20 + 7 * at) * (at % 2 === 0 ? 1.1 : 1)),
      (at) => Math.round((20 + 7 * at) * (at % 2 === 1 ? 1.1 : 1)),
    )
    expect(found).toMatchObject({ verdict })
    expect(JSON.stringify(found)).toMatch(
      new RegExp(said.source.replace('^', '"').replace('$', '"')),
    )
  },
)

test('nineteen questions at both do not decide, and questions at one place alone are no pairs', async () => {
  const verdict = await thoughtAtBoth(
    () => 500,
    () => 10,
    questions.slice(1),
  )
  expect(verdict).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining('20 questions at both decide'),
  })
})

test('a reference alone promises comparable reasoning, without the most tokens of it', async () => {
  const verdict = await thoughtAtBoth(
    () => 500,
    () => 10,
    questions,
    {},
  )
  expect(verdict).toMatchObject({ verdict: 'fail' })
})

test('answers without reasoning tokens are not observed', async () => {
  const verdict = await verdictOn('SOLD-10', most, [
    { text: 'Yes.', usage: { completion_tokens: 50 } },
  ])
  expect(verdict).toMatchObject({ verdict: 'not-observed' })
})

const tool = (parameters: object) => ({
  tools: [{ type: 'function', function: { name: 'book', parameters } }],
  tool_choice: 'required',
})
const calls = (args: string, parameters: object) =>
  Array.from({ length: 20 }, () => ({
    text: '',
    usage: { completion_tokens: 5 },
    request: tool(parameters),
    message: {
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'book', arguments: args } }],
    },
  }))

test.each([
  ['a required argument that every object has', '{}', { required: ['toString'] }],
  ['an argument that the schema has not', '{"constructor":1}', { additionalProperties: false }],
])('%s by its prototype alone is a misfit of the schema', async (_, args, parameters) => {
  const verdict = await verdictOn('SOLD-07', { tools: { schema: '97%' } }, calls(args, parameters))
  expect(verdict).toMatchObject({ verdict: 'fail', observations: 20 })
  expect(verdict).toHaveProperty(
    'observed',
    expect.stringContaining('20 of 20 calls have arguments that do not fit'),
  )
})

test('answers that report reasoning tokens are left out of output tokens, also by a model that is not sold with reasoning', async () => {
  const answers = counted(1.5).map(({ text, usage }) => ({
    text,
    usage: { ...usage, completion_tokens_details: { reasoning_tokens: 100 } },
  }))
  expect(await verdictOn('SOLD-09', named, answers)).toMatchObject({ verdict: 'not-observed' })
})

/** Calls of a tool, asked for with a package to install word by word. */
const installs = (count: number, args: string) =>
  calls(args, { type: 'object' })
    .slice(0, count)
    .map((call) => ({
      ...call,
      request: {
        ...call.request,
        messages: [
          {
            role: 'user',
            content: 'Call it with exactly these arguments: {"command":"pip install requests"}',
          },
        ],
      },
    }))

test.each([
  ['that came as asked for', 20, '{"command":"pip install requests"}', 'pass'],
  ['of nine calls alone', 9, '{"command":"pip install requests"}', 'inconclusive'],
  ['that are no JSON', 20, '{"command":', 'not-observed'],
  ['that are missing', 20, '{}', 'not-observed'],
] as const)('arguments are intact: those %s', async (_, count, args, verdict) => {
  const found = await verdictOn('SOLD-07', { tools: { intact: true } }, installs(count, args))
  expect(found).toMatchObject({ verdict })
})

test('a pass of the schema says that nothing was asked for word by word', async () => {
  const sold = { tools: { schema: '97%', intact: true } }
  expect(await verdictOn('SOLD-07', sold, calls('{}', {}))).toMatchObject({
    verdict: 'pass',
    note: expect.stringContaining('svc-k2 not observed: requests for "exactly these arguments'),
  })
})
