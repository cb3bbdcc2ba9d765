import { expect, test } from 'vitest'
import { audited, chat, contractOf, left, row, type Sent } from './paid.ts'

/** Requests whose charge is not read from a usage of their own chat: other endpoints, repeats by key, aborted streams. */

const transcription = (seconds: string): Sent => ({
  ...{ endpoint: 'other', path: '/v1/audio/transcriptions', model: 'whisper', body: 'a form' },
  answer: `{"text": "Hello", "usage": {"type": "duration", "seconds": ${seconds}}}`,
})

test('a transcription that a step of another endpoint asks for has the price of its seconds', {
  tags: 'whole',
}, async () => {
  const right = await audited([transcription('1.9'), transcription('10')], ['0', '0.00238'])
  expect(right['PRICE-06']).toMatchObject({ verdict: 'pass' })
  const wrong = await audited([transcription('1.9'), transcription('10')], ['0', '0.00242'])
  expect(wrong['PRICE-06']).toMatchObject({
    verdict: 'fail',
    expected: '0.00238 USD',
    observed: expect.stringContaining('0.00242 USD between two readings'),
  })
})

test('a least count that is not the promised one is told, and not as a multiple of the cost', async () => {
  const heard = (seconds: string, cost: string): Sent => ({
    ...transcription(seconds),
    answer: `{"cost": ${cost}, "usage": {"type": "duration", "seconds": ${seconds}}}`,
  })
  const contract = contractOf({
    models: [{ id: 'whisper', price: { second: { price: 0.0001, minimum: 10 } } }],
    evidence: { cost: [{ body: 'cost' }] },
  })
  const sends = [heard('3.5', '0.003'), heard('7.25', '0.003'), heard('61.25', '0.006125')]
  expect((await audited(sends, null, { contract }))['PRICE-03']).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining('second counted as 30 at least'),
  })
})

test('a paid request without a known price explains a charge, and makes it inconclusive', {
  tags: 'whole',
}, async () => {
  const unknown = await audited([{ ...transcription('1.9'), model: null }], ['0', '0.00038'])
  expect(unknown['PRICE-06']).toMatchObject({ verdict: 'inconclusive' })
  // Its path may have a price, too. Without any request, nothing explains a charge.
  const models = [
    { id: 'audio', aliases: ['/v1/audio/transcriptions'], price: { second: '0.0002' } },
  ]
  const named = await audited([{ ...transcription('1.9'), model: null }], ['0', '0.00038'], {
    contract: contractOf({ models }),
  })
  expect(named['PRICE-06']).toMatchObject({ verdict: 'pass' })
  expect((await audited([], ['0', '0.00038']))['PRICE-06']).toMatchObject({ verdict: 'fail' })
})

test.each(['embeddings', 'other'])(
  'embeddings whose usage counts an output of 0, as LiteLLM writes it, are no empty answers (%s)',
  { tags: 'whole' },
  async (endpoint) => {
    const embedding = (input: number): Sent => ({
      ...{
        endpoint,
        path: '/v1/embeddings',
        model: 'embed',
        body: `{"input":"${'a'.repeat(input)}"}`,
      },
      answer: `{"object":"list","data":[{"embedding":[0.5]}],"usage":{"prompt_tokens":${input},"completion_tokens":0,"total_tokens":${input}}}`,
    })
    for (const price of [{ input: 0.5 }, { input: 0.5, output: 0 }]) {
      const contract = contractOf({
        charged: { success: 'full', empty: 'none' },
        models: [{ id: 'embed', price }],
      })
      const found = await audited([embedding(1000), embedding(3000)], ['0', '0.002'], { contract })
      expect(found['PRICE-06']).toMatchObject({ verdict: 'pass' })
      const free = await audited([embedding(1000), embedding(3000)], ['0', '0'], { contract })
      expect(free['PRICE-06']).toMatchObject({ verdict: 'fail' })
    }
  },
)

test('a log that was read by the ids of answers misses no row of an answer without an id', {
  tags: 'whole',
}, async () => {
  const embedding: Sent = {
    ...{ endpoint: 'embeddings', path: '/v1/embeddings', model: 'embed' },
    answer: '{"data":[{"embedding":[0.1]}],"usage":{"prompt_tokens":35,"total_tokens":35}}',
  }
  const [sends, log] = [
    [chat('a'), embedding, chat('b')],
    [row('a', 0.00014, 1), row('b', 0.00014, 3)],
  ]
  const spends = ['0', '0.00042'] as const
  const byId = await audited(sends, spends, { log, isById: true })
  expect(byId['PRICE-05']!.verdict).toBe('pass')
  const whole = await audited(sends, spends, { log })
  expect(whole['PRICE-05']).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining('no row in the log'),
  })
  // Of an answer with an id, a row is missing.
  const missed = await audited([...sends, chat('c')], ['0', '0.00056'], { log, isById: true })
  expect(missed['PRICE-05']!.verdict).toBe('fail')
})

test('a row of an attempt that failed inside the gateway, beside that of the answer, may be free and not charged', {
  tags: 'whole',
}, async () => {
  const attempt = (spend: number) => row('a', spend, 1, 10, 0)
  const audit = (spend: number) =>
    audited([chat('a'), chat('b')], null, {
      log: [attempt(spend), row('a', 0.00014, 1), row('b', 0.00014, 2)],
    })
  expect((await audit(0))['PRICE-05']).toMatchObject({ verdict: 'pass' })
  expect((await audit(0.00004))['PRICE-05']).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining(
      '0.00004 USD for an attempt without output, beside the row of the answer',
    ),
  })
  // Two rows with output are two charges.
  const twice = [row('a', 0.00014, 1), row('a', 0, 1), row('b', 0.00014, 2)]
  expect((await audited([chat('a'), chat('b')], null, { log: twice }))['PRICE-05']).toMatchObject({
    verdict: 'fail',
  })
})

test('an answer in several passes that was not stored leaves its cost open, with the name of the field', {
  tags: 'whole',
}, async () => {
  const usage = { input_tokens: 23_000, output_tokens: 1000 }
  const sent = (answer: string | null): Sent => ({
    ...{ endpoint: 'messages', path: '/v1/messages', id: 'a', isPassed: true },
    ...(answer === null ? { isStored: false } : {}),
    answer: answer ?? '',
  })
  const iterations = [
    { type: 'compaction', input_tokens: 180_000, output_tokens: 3500 },
    { type: 'message', ...usage },
  ]
  // 203,000 tokens of input at 4, and 4,500 of output at 20.
  const log = [{ ...row('a', 0.902, 1, 23_000, 1000) }]
  const stored = JSON.stringify({ id: 'a', usage: { ...usage, iterations } })
  const told = await audited([sent(stored)], ['0', '0.902'], { log })
  expect(told['PRICE-04']).toMatchObject({ verdict: 'pass' })
  const untold = await audited([sent(null)], ['0', '0.902'], { log })
  expect(untold['PRICE-04']).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining('usage.iterations'),
  })
})

test('the same answer again, for the key of a repeated request, may be free or not, with or without the log', {
  tags: 'whole',
}, async () => {
  const sends = [chat('a'), chat('a'), chat('a')]
  for (const log of [undefined, [row('a', 0.00014, 1)]]) {
    const options = log === undefined ? {} : { log }
    for (const spend of ['0.00014', '0.00042']) {
      const found = await audited(sends, ['0', spend], options)
      expect([log, spend, found['PRICE-06']!.verdict]).not.toContain('fail')
    }
    expect((await audited(sends, ['0', '0.00056'], options))['PRICE-06']!.verdict).toBe('fail')
    expect((await audited(sends, ['0', '0.00007'], options))['PRICE-06']!.verdict).toBe('fail')
  }
  // A promise about such answers decides.
  const contract = contractOf({ charged: { success: 'full', gateway_cache: 'none' } })
  expect((await audited(sends, ['0', '0.00014'], { contract }))['PRICE-06']!.verdict).toBe('pass')
})

test.each([
  ['the log and the balance', true],
  ['the balance alone', false],
])(
  'streams that were left and charged for all that they may have had fail, shown by %s',
  { tags: 'whole' },
  async (_, hasLog) => {
    const sends = [1, 2, 3, 4].map(left)
    const charged = (output: number) => (14 * 4 + output * 20) / 1e6
    const found = (output: number) =>
      audited(sends, ['0', (4 * charged(output)).toFixed(9)], {
        ...(hasLog
          ? { log: sends.map(({ id }, at) => row(id!, charged(output), at + 1, 14, output)) }
          : {}),
      })
    const full = await found(400)
    expect(full['PRICE-06']).toMatchObject({ verdict: 'fail' })
    if (hasLog) expect(full['PRICE-04']).toMatchObject({ verdict: 'fail' })
    const received = await found(13)
    expect(Object.values(received).map(({ verdict }) => verdict)).not.toContain('fail')
  },
)

/** A stream whose client left at event 12, while this much of it arrived in one read. */
const burst = (nth: number, tokens: number, end: string): Sent => ({
  ...left(nth),
  answer: `${left(nth).answer}${Array.from(
    { length: tokens - 12 },
    () => `data: {"id":"left-${nth}","choices":[{"delta":{"content":"x"}}]}\n\n`,
  ).join('')}${end}`,
})
const usageOf = (tokens: number) => ({
  prompt_tokens: 14,
  ...{ completion_tokens: tokens, total_tokens: 14 + tokens },
})
const ends = (tokens: number) =>
  `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: {"choices":[],"usage":${JSON.stringify({ ...usageOf(tokens), cost: (14 * 4 + tokens * 20) / 1e6 })}}\n\n`

test.each([
  ['a usage and its end', 22, ends(22), 'none'],
  ['a usage and its end', 120, ends(120), 'received'],
  ['a usage, its end and its mark', 120, `${ends(120)}data: [DONE]\n\n`, 'none'],
  ['its text alone', 120, '', 'received'],
] as const)(
  'a stream that arrived in one burst with %s costs what was sent, counted or not (%i tokens)',
  { tags: 'whole' },
  async (_, tokens, end, abort) => {
    const twin: Sent = {
      ...left(1),
      isLeft: false,
      id: 'twin',
      answer: JSON.stringify({
        id: 'twin',
        usage: { ...usageOf(tokens), cost: (14 * 4 + tokens * 20) / 1e6 },
      }),
    }
    const sends = [twin, burst(1, tokens, end), burst(2, tokens, end)]
    const cost = (14 * 4 + tokens * 20) / 1e6
    const contract = contractOf({
      charged: { success: 'full', refused: 'none', abort },
      evidence: {
        cost: [{ body: 'usage.cost' }],
        balance: { get: '/key/info', value: 'spend', moves: 'up' },
        log: { cost: 'spend', id: 'request_id', model: 'model', at: 'startTime' },
      },
    })
    const log = sends.map(({ id }, at) => row(id!, cost, at + 1, 14, tokens))
    const found = await audited(sends, ['0', (3 * cost).toFixed(9)], { contract, log })
    expect(Object.entries(found).filter(([, { verdict }]) => verdict === 'fail')).toEqual([])
    // Three times as much is no cost of what arrived.
    const more = await audited(sends, ['0', (9 * cost).toFixed(9)], { contract, log })
    expect(more['PRICE-06']).toMatchObject({ verdict: 'fail' })
  },
)

test('a contract that says nothing about streams that were left makes what they cost inconclusive', {
  tags: 'whole',
}, async () => {
  const contract = contractOf({ charged: { success: 'full' } })
  const charged = (output: number) => (14 * 4 + output * 20) / 1e6
  for (const output of [0, 12, 400]) {
    const sends = [1, 2, 3].map(left)
    const cost = output === 0 ? 0 : charged(output)
    const log = sends.map(({ id }, at) => row(id!, cost, at + 1, 14, output))
    const found = await audited(sends, ['0', (3 * cost).toFixed(9)], { contract, log })
    expect([output, found['PRICE-04']!.verdict, found['PRICE-06']!.verdict]).toEqual([
      ...[output, 'inconclusive', 'inconclusive'],
    ])
    // Beside complete answers, too.
    const beside = [chat('whole'), ...sends]
    const all = [
      row('whole', 0.00014, 1),
      ...sends.map(({ id }, at) => row(id!, cost, at + 2, 14, output)),
    ]
    const mixed = await audited(beside, ['0', (3 * cost + 0.00014).toFixed(9)], {
      contract,
      log: all,
    })
    expect([output, mixed['PRICE-04']!.verdict, mixed['PRICE-06']!.verdict]).toEqual([
      ...[output, 'inconclusive', 'inconclusive'],
    ])
  }
})

test("a log whose parts differ from the answer's fails at each part that the contract names", {
  tags: 'whole',
}, async () => {
  const answer = {
    id: 'a',
    usage: {
      ...{ prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 20 },
      completion_tokens_details: { reasoning_tokens: 30 },
    },
  }
  const sent: Sent = { id: 'a', answer: JSON.stringify(answer) }
  const tokens = { cache_read: 'cached', cache_write: 'written', reasoning: 'thought' }
  const contract = contractOf({
    evidence: { log: { cost: 'spend', id: 'request_id', model: 'model', at: 'startTime', tokens } },
  })
  const found = async (parts: object) => {
    const log = [{ ...row('a', 0.0014, 1, 100, 50), ...parts }]
    return (await audited([sent], ['0', '0.0014'], { contract, log }))['PRICE-05']!
  }
  const right = { cached: 60, written: 20, thought: 30 }
  expect(await found(right)).toMatchObject({ verdict: 'pass' })
  for (const [change, words] of [
    [{ cached: 90 }, '90 cached tokens in the log, 60 in the answer'],
    [{ written: 0 }, '0 cache write tokens in the log, 20 in the answer'],
    [{ thought: 31 }, '31 reasoning tokens in the log, 30 in the answer'],
  ] as const)
    expect(await found({ ...right, ...change })).toMatchObject({
      verdict: 'fail',
      observed: expect.stringContaining(words),
    })
})

const both = (terms: object = {}) =>
  contractOf({
    evidence: {
      balance: {
        ...{ get: '/key/info', value: 'remaining', moves: 'down' },
        ...{ also: [{ value: 'used', moves: 'up' }], ...terms },
      },
    },
  })
/** A page with what remains and what is used, in dollars. */
const money = (remaining: string, used: string, more = '') =>
  `{"remaining": ${remaining}, "used": ${used}${more}}`

test('what remains and what is used are both compared with the costs, and with each other', {
  tags: 'whole',
}, async () => {
  const sends = ['a', 'b'].map((id) => ({
    ...chat(id),
    body: `{"model":"big","messages":"${id}"}`,
  }))
  const found = (after: string, terms: object = {}, before = money('1.00000', '0.00000')) =>
    audited(sends, [before, after], { contract: both(terms) })
  const right = await found(money('0.99972', '0.00028'))
  expect([right['PRICE-06']!.verdict, right['PRICE-07']!.verdict]).toEqual(['pass', 'pass'])
  // The second value misses a charge: the sum falls.
  const missed = await found(money('0.99972', '0.00014'))
  expect(missed['PRICE-06']).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining('used: 0.00014 USD between two readings'),
  })
  expect(missed['PRICE-07']).toMatchObject({
    verdict: 'fail',
    observed: '0.99972 + 0.00014 = 0.99986 USD, where the page before has 1',
  })
  // The first one takes too little: the sum rises, as it does when something is paid in.
  const risen = await found(money('0.99986', '0.00028'))
  expect(risen['PRICE-06']).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining('remaining: 0.00014 USD between two readings'),
  })
  expect(risen['PRICE-07']!.verdict).toBe('inconclusive')
  const paidIn = await found(money('1.99972', '0.00028'))
  expect(paidIn['PRICE-06']!.verdict).toBe('inconclusive')
  expect(paidIn['PRICE-07']!.verdict).toBe('inconclusive')
  // A limit that the page shows, or the contract states, is what they add up to.
  const total = ', "total": 2'
  const shown = await found(
    money('1.99972', '0.00028', total),
    { limit: 'total' },
    money('1.00000', '0.00000', ', "total": 1'),
  )
  expect(shown['PRICE-07']!.verdict).toBe('pass')
  expect((await found(money('0.99972', '0.00028'), { limit: 1 }))['PRICE-07']!.verdict).toBe('pass')
  expect((await found(money('0.99972', '0.00028'), { limit: 2 }))['PRICE-07']!.verdict).toBe('fail')
})

test('a payment between two pages explains that what remains and is used pass the amount of the contract', {
  tags: 'whole',
}, async () => {
  const contract = both({ limit: 100 })
  const pages = (last: string) =>
    audited([chat('a')], ['{"remaining": 60, "used": 40}', last], { contract })
  const paid = await pages('{"remaining": 84.99986, "used": 40.00014}')
  expect(paid['PRICE-07']).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining('something was paid in'),
  })
  expect((await pages('{"remaining": 59.99986, "used": 40.00014}'))['PRICE-07']!.verdict).toBe(
    'pass',
  )
  // What remains did not rise: nothing was paid in.
  expect((await pages('{"remaining": 60.00000, "used": 40.00014}'))['PRICE-07']!.verdict).toBe(
    'fail',
  )
})

test('a page without one of the values that the contract names is no pass', async () => {
  const pages = ['{"remaining": 1.00000}', '{"remaining": 0.99972}'] as const
  const found = await audited([chat('a'), chat('b')], pages, { contract: both() })
  expect(found['PRICE-06']).toMatchObject({
    verdict: 'inconclusive',
    why: 'used: 2 of 2 answers of /key/info have no number at used',
  })
})

test('a spend above the limit that the contract states fails, and a limit in the contract needs none on the page', async () => {
  const limited = (limit: number) =>
    contractOf({
      evidence: { balance: { get: '/key/info', value: 'spend', moves: 'up', limit } },
    })
  // The first page is above the limit already.
  const over = await audited([chat('a')], ['0.5', '0.50014'], { contract: limited(0.4) })
  expect(over['PRICE-07']).toMatchObject({
    verdict: 'fail',
    observed: 'served at a spend of 0.5, above the limit of 0.4 USD',
  })
  const within = await audited([chat('a')], ['0.5', '0.50014'], { contract: limited(1) })
  expect(within['PRICE-07']!.verdict).toBe('pass')
})

test('a balance that stays at 0 while requests are served was overdrawn', {
  tags: 'whole',
}, async () => {
  const contract = contractOf({
    evidence: { balance: { get: '/key/info', value: 'left', moves: 'down' } },
  })
  const sends = Array.from({ length: 4 }, (_, nth) => chat(`r${nth}`))
  const found = (pages: readonly [string, string]) => audited(sends, pages, { contract })
  expect((await found(['{"left": 0.0000}', '{"left": 0.0000}']))['PRICE-07']).toMatchObject({
    verdict: 'fail',
    observed: '4 requests for 0.00056 USD served at a balance of 0.0000',
  })
  // They cost less than the last decimal, or something was paid in.
  expect((await found(['{"left": 0.00}', '{"left": 0.00}']))['PRICE-07']!.verdict).toBe('pass')
  expect((await found(['{"left": 0.0000}', '{"left": 5.0000}']))['PRICE-07']!.verdict).toBe('pass')
})

const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
const words = (tokens: number, word: object) => event(word).repeat(tokens)

/** Streams of other formats that the client left at event 12, with so many tokens and the end that had come. */
const leftIn: Readonly<
  Record<string, (nth: number, tokens: number, hasEnd: boolean) => Partial<Sent>>
> = {
  Messages: (nth, tokens, hasEnd) => ({
    ...{ endpoint: 'messages', path: '/v1/messages' },
    answer: [
      event({
        type: 'message_start',
        message: { id: `left-${nth}`, model: 'big', usage: { input_tokens: 14, output_tokens: 1 } },
      }),
      words(tokens, { type: 'content_block_delta', delta: { type: 'text_delta', text: 'word ' } }),
      hasEnd ? event({ type: 'message_delta', usage: { output_tokens: tokens } }) : '',
    ].join(''),
  }),
  "Messages, a tool's input": (nth, tokens) => ({
    ...{ endpoint: 'messages', path: '/v1/messages' },
    answer: [
      event({
        type: 'message_start',
        message: { id: `left-${nth}`, model: 'big', usage: { input_tokens: 14, output_tokens: 1 } },
      }),
      words(tokens, {
        type: 'content_block_delta',
        delta: { type: 'input_json_delta', partial_json: '"word"' },
      }),
    ].join(''),
  }),
  Responses: (nth, tokens, hasEnd) => ({
    ...{ endpoint: 'responses', path: '/v1/responses' },
    answer: [
      event({ type: 'response.created', response: { id: `left-${nth}`, model: 'big' } }),
      words(tokens, { type: 'response.output_text.delta', delta: 'word ' }),
      hasEnd
        ? event({
            type: 'response.completed',
            response: {
              ...{ id: `left-${nth}`, model: 'big' },
              usage: { input_tokens: 14, output_tokens: tokens, total_tokens: 14 + tokens },
            },
          })
        : '',
    ].join(''),
  }),
}

test.each(Object.keys(leftIn))(
  'a stream of %s that came in one burst costs what was sent, with its end and without',
  { tags: 'whole' },
  async (format) => {
    const tokens = 60
    const costOf = (output: number) => (14 * 4 + output * 20) / 1e6
    for (const abort of ['none', 'received', 'full', 'input'] as const) {
      for (const hasEnd of [true, false]) {
        const sends = [1, 2].map((nth) => ({
          ...left(nth),
          ...leftIn[format]!(nth, tokens, hasEnd),
        }))
        const isWhole = hasEnd && !format.includes('tool')
        const ofAbort = {
          none: 0,
          input: costOf(0),
          received: costOf(tokens),
          full: costOf(tokens),
        }
        const cost = isWhole ? costOf(tokens) : ofAbort[abort]
        const contract = contractOf({ charged: { success: 'full', refused: 'none', abort } })
        const found = (each: number) =>
          audited(sends, ['0', (2 * each).toFixed(9)], {
            contract,
            log: sends.map(({ id }, at) => row(id!, each, at + 1, 14, tokens)),
          })
        const failed = Object.entries(await found(cost)).filter(
          ([, { verdict }]) => verdict === 'fail',
        )
        expect([abort, hasEnd, failed]).toEqual([abort, hasEnd, []])
        expect((await found(cost + 0.02))['PRICE-06']).toMatchObject({ verdict: 'fail' })
      }
    }
  },
)

const repeated: Readonly<Record<string, Sent>> = {
  messages: {
    ...{ id: 'a', endpoint: 'messages', path: '/v1/messages' },
    answer:
      '{"id":"a","type":"message","model":"big","usage":{"input_tokens":10,"output_tokens":5}}',
  },
  responses: {
    ...{ id: 'a', endpoint: 'responses', path: '/v1/responses' },
    answer: '{"id":"a","usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}}',
  },
  embeddings: {
    ...{ endpoint: 'embeddings', path: '/v1/embeddings', model: 'embed' },
    answer: '{"data":[{"embedding":[0.1]}],"usage":{"prompt_tokens":35,"total_tokens":35}}',
  },
  transcriptions: transcription('0.7'),
}

test.each(Object.entries(repeated))(
  'a service that answers %s again for nothing, with no row of its own, is not accused',
  { tags: 'whole' },
  async (name, sent) => {
    const [prompt, completion] = name === 'embeddings' ? [35, 0] : [10, 5]
    const one = { ...row('a', 0.00014, 1, prompt, completion), model: sent.model ?? 'big' }
    for (const options of [{}, { log: [one] }]) {
      const found = await audited([sent, sent, sent], ['0', '0.00014'], options)
      expect(Object.entries(found).filter(([, { verdict }]) => verdict === 'fail')).toEqual([])
      const more = await audited([sent, sent, sent], ['0', '0.00056'], options)
      expect(more['PRICE-06']).toMatchObject({ verdict: 'fail' })
    }
  },
)
