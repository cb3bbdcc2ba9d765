import { expect, test } from 'vitest'
import { audited, chat, contractOf, left, row, type Sent } from './paid.ts'

/** Answers that the client left, of every format: what came bounds what they cost, and what the service wrote down does not. */

const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`

/** A stream that was left after so many pieces of text, of a prompt of 14 tokens. */
const formats: Readonly<Record<string, (nth: number, piece?: string) => Sent>> = {
  chat: (nth, piece = 'word ') => ({
    ...left(nth),
    answer: event({ id: `left-${nth}`, choices: [{ delta: { content: piece } }] }).repeat(12),
  }),
  Messages: (nth, piece = 'word ') => ({
    ...left(nth),
    ...{ endpoint: 'messages', path: '/v1/messages' },
    answer: [
      event({
        type: 'message_start',
        message: { id: `left-${nth}`, model: 'big', usage: { input_tokens: 14, output_tokens: 1 } },
      }),
      event({
        type: 'content_block_delta',
        delta: { type: 'text_delta', text: piece },
      }).repeat(12),
    ].join(''),
  }),
  Responses: (nth, piece = 'word ') => ({
    ...left(nth),
    ...{ endpoint: 'responses', path: '/v1/responses' },
    answer: [
      event({ type: 'response.created', response: { id: `left-${nth}`, model: 'big' } }),
      event({ type: 'response.output_text.delta', delta: piece }).repeat(12),
    ].join(''),
  }),
}

const costOf = (output: number, prompt = 14) => (prompt * 4 + output * 20) / 1e6

/** What the rules say where each of these cost so much, by the log, by the balance, or by both. */
async function judged(
  sends: readonly Sent[],
  each: number,
  by: 'log' | 'balance' | 'both',
  {
    contract = contractOf(),
    counts = [14, 12],
  }: { contract?: ReturnType<typeof contractOf>; counts?: readonly [number, number] } = {},
) {
  const isWhole = ({ isLeft }: Sent) => isLeft !== true
  const costs = sends.map((sent) => (isWhole(sent) && sent.ended === undefined ? 0.00014 : each))
  const sum = costs.reduce((a, b) => a + b, 0)
  const log = sends.map((sent, at) =>
    sent.ended === undefined && isWhole(sent)
      ? row(sent.id!, 0.00014, at + 1)
      : row(sent.id!, costs[at]!, at + 1, ...counts),
  )
  const found = await audited(sends, by === 'log' ? null : ['0', sum.toFixed(9)], {
    contract,
    ...(by === 'balance' ? {} : { log }),
  })
  const rule = by === 'balance' ? 'PRICE-06' : 'PRICE-04'
  const failed = Object.entries(found).flatMap(([name, { verdict }]) =>
    verdict === 'fail' ? [name] : [],
  )
  return { of: found[rule]!, failed }
}

const places = ['log', 'balance', 'both'] as const

test.each(Object.entries(formats))(
  'streams of %s that are charged for max_tokens fail, and those charged for what came do not',
  { tags: 'whole' },
  async (_, of) => {
    const sends = [1, 2, 3, 4].map((nth) => of(nth))
    for (const by of places) {
      expect([by, (await judged(sends, costOf(400), by, { counts: [14, 400] })).of]).toMatchObject([
        by,
        { verdict: 'fail' },
      ])
      for (const output of [0, 11, 12, 13])
        expect([by, output, (await judged(sends, costOf(output), by)).failed]).toEqual([
          ...[by, output, []],
        ])
    }
    const told = await judged(sends, costOf(400), 'log', { counts: [14, 400] })
    expect(told.of).toMatchObject({ observed: expect.stringContaining('charged for max_tokens') })
  },
)

test.each(Object.entries(formats))(
  'streams of %s, with a long prompt, that pay for the prompt twice fail where their prompt is known',
  async (name, of) => {
    const long = 'many words '.repeat(400)
    const [prompt, body] = [
      1200,
      `{"model":"big","stream":true,"messages":"${long}","max_tokens":400}`,
    ]
    const usage = { prompt_tokens: prompt, completion_tokens: 20, total_tokens: prompt + 20 }
    const twin: Sent = {
      ...chat('twin'),
      body,
      answer: JSON.stringify({ id: 'twin', usage }),
    }
    const sends = [1, 2, 3].map(
      (nth): Sent => ({
        ...of(nth),
        body,
        answer: of(nth).answer.replace('"input_tokens":14', `"input_tokens":${prompt}`),
      }),
    )
    const all = name === 'chat' ? [twin, ...sends] : sends
    const twins = name === 'chat' ? costOf(20, prompt) : 0
    const found = async (times: number) => {
      const each = costOf(12, times * prompt)
      const log = [
        ...(name === 'chat' ? [row('twin', twins, 1, prompt, 20)] : []),
        ...sends.map(({ id }, at) => row(id!, each, at + all.length - 2, times * prompt, 12)),
      ]
      return audited(all, ['0', (twins + 3 * each).toFixed(9)], { log })
    }
    const right = Object.values(await found(1)).map(({ verdict }) => verdict)
    expect(right).not.toContain('fail')
    const wrong = await found(2)
    // The Responses API tells its prompt at its end alone, so that the service alone counts it.
    if (name === 'Responses')
      expect([wrong['PRICE-04'], wrong['PRICE-06']]).toMatchObject([
        { verdict: 'inconclusive' },
        { verdict: 'inconclusive' },
      ])
    else
      expect([wrong['PRICE-04'], wrong['PRICE-06']]).toMatchObject([
        { verdict: 'fail' },
        { verdict: 'fail' },
      ])
  },
)

test.each(['chat', 'Responses'])(
  'a doubled prompt of streams of %s is no pass where only other prompts say how many tokens a text has',
  { tags: 'whole' },
  async (name) => {
    const [prompt, said] = [1200, (word: string) => `${word} words `.repeat(400)]
    const whole: Sent = {
      ...chat('whole'),
      body: `{"model":"big","stream":true,"messages":"${said('some')}","max_tokens":400}`,
      answer: JSON.stringify({
        id: 'whole',
        usage: { prompt_tokens: prompt, completion_tokens: 20, total_tokens: prompt + 20 },
      }),
    }
    const sends = ['many', 'few', 'more'].map(
      (word, nth): Sent => ({
        ...formats[name]!(nth),
        body: `{"model":"big","stream":true,"messages":"${said(word)}","max_tokens":400}`,
      }),
    )
    const verdicts = async (times: number) => {
      const each = costOf(12, times * prompt)
      const log = [
        row('whole', costOf(20, prompt), 1, prompt, 20),
        ...sends.map(({ id }, at) => row(id!, each, at + 2, times * prompt, 12)),
      ]
      const spent = (costOf(20, prompt) + 3 * each).toFixed(9)
      const found = await audited([whole, ...sends], ['0', spent], { log })
      return [found['PRICE-04']!.verdict, found['PRICE-06']!.verdict]
    }
    expect(await verdicts(1)).toEqual(['pass', 'pass'])
    expect(await verdicts(2)).toEqual(['inconclusive', 'inconclusive'])
    // More tokens than bytes are wrong, whatever the text is.
    expect(await verdicts(5)).toEqual(['fail', 'fail'])
  },
)

test('streams that the client left for free fail although nothing counts their prompts', async () => {
  const sends = [chat('whole'), ...[1, 2, 3].map((nth) => formats.chat!(nth))]
  const found = async (each: number, abort: string) => {
    const contract = contractOf({ charged: { success: 'full', refused: 'none', abort } })
    const spent = (0.00014 + 3 * each).toFixed(9)
    return (await audited(sends, ['0', spent], { contract }))['PRICE-06']
  }
  for (const abort of ['input', 'received', 'full'])
    expect([abort, await found(0, abort)]).toMatchObject([
      abort,
      { verdict: 'fail', observed: expect.stringContaining('not charged') },
    ])
  for (const abort of ['input', 'received'])
    expect([abort, await found(costOf(0, 9), abort)]).toMatchObject([
      abort,
      { verdict: 'pass', note: '3 of 4 requests may have cost any amount between two bounds' },
    ])
})

test('a log with more tokens of the prompt than the request has bytes is no bound', async () => {
  const sends = [1, 2, 3].map((nth) => formats.chat!(nth))
  const found = await judged(sends, costOf(12, 5000), 'log', { counts: [5000, 12] })
  expect(found.of).toMatchObject({ verdict: 'fail' })
})

test('answers of a model that thinks, charged for max_tokens beside whole ones, are no pass', async () => {
  const models = [{ id: 'big', price: { input: 4, output: 20, reasoning: 20 } }]
  const contract = contractOf({ models })
  const sends = [chat('whole'), ...[1, 2, 3].map((nth) => formats.chat!(nth))]
  const found = await judged(sends, costOf(400), 'log', { contract, counts: [14, 400] })
  expect(found.of).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining('that the client left'),
  })
  expect(found.failed).toEqual([])
})

const word = 'word '
/** A whole answer of a model that thought for 300 tokens, which it shows or not. */
const thoughtful = (shown: string): Sent => ({
  ...chat('whole'),
  answer: JSON.stringify({
    id: 'whole',
    choices: [{ message: { content: 'Done.', reasoning_content: shown } }],
    usage: {
      ...{ prompt_tokens: 10, completion_tokens: 305, total_tokens: 315 },
      completion_tokens_details: { reasoning_tokens: 300 },
    },
  }),
})

/** The verdicts on three streams that were left, each of which cost so many tokens, beside such a whole answer. */
async function besideThoughts(name: string, output: number, shown = '') {
  const sends = [1, 2, 3].map((nth) => formats[name]!(nth))
  const [whole, each] = [costOf(305, 10), costOf(output)]
  const spent = ['0', (whole + 3 * each).toFixed(9)] as const
  const log = [
    row('whole', whole, 1, 10, 305),
    ...sends.map(({ id }, at) => row(id!, each, at + 2, 14, output)),
  ]
  const all = [thoughtful(shown), ...sends]
  const [byLog, byBalance, byBoth] = [
    await audited(all, null, { log }),
    await audited(all, spent),
    await audited(all, spent, { log }),
  ]
  return [byLog['PRICE-04'], byBalance['PRICE-06'], byBoth['PRICE-06']].map((each) => each!.verdict)
}

test.each(Object.keys(formats))(
  'streams of %s of a model that hides its thoughts are charged for what came, or nobody can say',
  { tags: 'whole' },
  async (name) => {
    const all = (verdict: string) => [verdict, verdict, verdict]
    expect(await besideThoughts(name, 12)).toEqual(all('pass'))
    // It may have thought for so many tokens before its text, and it may be charged for more than came.
    expect(await besideThoughts(name, 312)).toEqual(all('inconclusive'))
    expect(await besideThoughts(name, 400)).toEqual(all('inconclusive'))
    expect(await besideThoughts(name, 800)).toEqual(all('fail'))
  },
)

test.each(Object.keys(formats))(
  'streams of %s of a model that shows its thoughts fail if they are charged for others',
  { tags: 'whole' },
  async (name) => {
    expect(await besideThoughts(name, 312, word.repeat(300))).toEqual(['fail', 'fail', 'fail'])
  },
)

/** The verdicts on three streams that ask for much thinking, or as told, beside a whole answer that thought of nothing. */
async function besideEffort(
  effort: string,
  output: number,
  asked: object = { reasoning_effort: 'high' },
) {
  const asking = (sent: Sent, of: object): Sent => ({
    ...sent,
    body: JSON.stringify({ ...JSON.parse(sent.body!), ...of }),
  })
  const sends = [1, 2, 3].map((nth) => asking(formats.chat!(nth), asked))
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  const whole: Sent = {
    ...asking(chat('whole'), { reasoning_effort: effort }),
    answer: JSON.stringify({
      ...{ id: 'whole', choices: [{ message: { content: 'All of it is said.' } }] },
      usage: { ...usage, completion_tokens_details: { reasoning_tokens: 0 } },
    }),
  }
  const [all, each] = [[whole, ...sends], costOf(output)]
  const log = [
    row('whole', 0.00014, 1),
    ...sends.map(({ id }, at) => row(id!, each, at + 2, 14, output)),
  ]
  const spent = ['0', (0.00014 + 3 * each).toFixed(9)] as const
  const found = [await audited(all, null, { log }), await audited(all, spent)]
  return found
    .flatMap((of) => [of['PRICE-04']!.verdict, of['PRICE-06']!.verdict])
    .filter((verdict) => verdict !== 'not-observed')
}

test('a stream that asks to think more than the whole answers may have thought before its text', async () => {
  expect(await besideEffort('low', 12)).toEqual(['pass', 'pass'])
  expect(await besideEffort('low', 312)).toEqual(['inconclusive', 'inconclusive'])
  expect(await besideEffort('low', 800)).toEqual(['fail', 'fail'])
  // Asked alike, the whole answer shows that it thinks of nothing.
  expect(await besideEffort('high', 312)).toEqual(['fail', 'fail'])
})

test('a stream that asks not to think has no thoughts beside whole answers without any', async () => {
  const offs = [
    { enable_thinking: false },
    { reasoning_effort: 'none' },
    { thinking: { type: 'disabled' } },
    { generationConfig: { thinkingConfig: { thinkingBudget: 0, includeThoughts: false } } },
  ]
  for (const off of offs) expect(await besideEffort('low', 312, off)).toEqual(['fail', 'fail'])
  // What is only not shown may have been thought.
  for (const hidden of [{ include_reasoning: false }, { reasoning: { exclude: true } }])
    expect(await besideEffort('low', 312, hidden)).toEqual(['inconclusive', 'inconclusive'])
})

test('each of several answers to one request may be as long as max_tokens', {
  tags: 'whole',
}, async () => {
  const contract = contractOf({ charged: { success: 'full', refused: 'none', abort: 'full' } })
  const sends = [1, 2, 3].map(
    (nth): Sent => ({
      ...formats.chat!(nth),
      body: `{"model":"big","stream":true,"messages":"Tell ${nth}.","max_tokens":400,"n":2}`,
    }),
  )
  for (const by of places) {
    const counts = [14, 800] as const
    expect([by, (await judged(sends, costOf(800), by, { contract, counts })).failed]).toEqual([
      by,
      [],
    ])
    expect((await judged(sends, costOf(900), by, { contract, counts })).of.verdict).toBe('fail')
  }
})

test('pieces of many tokens each are counted by the text of an equal answer', {
  tags: 'whole',
}, async () => {
  const piece = 'eight words of text are in each piece '
  const body = '{"model":"big","stream":true,"messages":"Tell all.","max_tokens":400}'
  const tokens = 12 * 8
  const twin: Sent = {
    ...chat('whole'),
    body,
    answer: JSON.stringify({
      id: 'whole',
      choices: [{ message: { content: piece.repeat(10) } }],
      usage: { prompt_tokens: 10, completion_tokens: 5 + 80 - 5, total_tokens: 90 },
    }),
  }
  const sends = [1, 2, 3].map((nth): Sent => ({ ...formats.chat!(nth, piece), body }))
  const each = costOf(tokens, 10)
  const spent = (of: number) => ['0', ((10 * 4 + 80 * 20) / 1e6 + 3 * of).toFixed(9)] as const
  const log = (of: number, output: number) => [
    row('whole', (10 * 4 + 80 * 20) / 1e6, 1, 10, 80),
    ...sends.map(({ id }, at) => row(id!, of, at + 2, 10, output)),
  ]
  const right = await audited([twin, ...sends], spent(each), { log: log(each, tokens) })
  expect(Object.values(right).map(({ verdict }) => verdict)).not.toContain('fail')
  const most = costOf(400, 10)
  const wrong = await audited([twin, ...sends], spent(most), { log: log(most, 400) })
  expect([wrong['PRICE-04'], wrong['PRICE-06']]).toMatchObject([
    { verdict: 'fail' },
    { verdict: 'fail' },
  ])
})

/** A plain request of which the client heard nothing before its patience was over. */
const timedOut = (nth: number): Sent => ({
  id: `late-${nth}`,
  body: `{"model":"big","messages":"Tell story ${nth}.","max_tokens":400}`,
  answer: '',
  ended: { outcome: 'timeout', streamed: 0, responseId: null, status: null },
})

test.each(['received', 'full', 'input', 'none'] as const)(
  'plain requests that timed out, by a contract that charges %s for them',
  async (abort) => {
    const contract = contractOf({ charged: { success: 'full', refused: 'none', abort } })
    const sends = [1, 2, 3].map(timedOut)
    const legal = {
      // The service sees that nobody listens when it has the whole answer.
      received: [0, costOf(0), costOf(120)],
      full: [costOf(120), costOf(400)],
      input: [costOf(0)],
      none: [0],
    }[abort]
    for (const each of legal)
      expect([each, (await judged(sends, each, 'balance', { contract })).failed]).toEqual([
        each,
        [],
      ])
    const { of } = await judged(sends, costOf(401) + 0.02, 'balance', { contract })
    expect(of.verdict).toMatch(/fail|inconclusive/)
    if (abort === 'none') expect(of.verdict).toBe('fail')
  },
)

test('streams that were left for nothing fail where what came has a price', async () => {
  const twin: Sent = { ...chat('whole'), body: left(1).body! }
  const sends = [twin, ...[1, 2, 3].map((nth): Sent => ({ ...formats.Messages!(nth) }))]
  const contract = contractOf({ charged: { success: 'full', refused: 'none', abort: 'full' } })
  for (const by of places) {
    const found = await judged(sends, 0, by, { contract, counts: [14, 0] })
    expect([by, found.of.verdict]).toEqual([by, 'fail'])
  }
})
