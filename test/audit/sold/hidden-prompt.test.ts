import { expect, test } from 'vitest'
import { judgeBeyond } from '../../../src/audit/evidence/sold/hidden.ts'
import { parseContract } from '../../../src/contract/load.ts'
import { verdictOnTexts } from './one-answer-each.ts'
import { firstUs, modelOf, verdictOnSessions } from './sessions.ts'
import { repeated } from './texts.ts'

const promising = (more: object) =>
  parseContract({ name: 'sold', models: [{ id: 'svc-k2', tokenizer: 'o200k', ...more }] }, 'c.yaml')

const unnamed = parseContract(
  { name: 'sold', models: [{ id: 'svc-k2', template_tokens: 12 }] },
  'c.yaml',
)

const words = ['time', 'year', 'people', 'way', 'day']

const verdictOf = (besides: readonly number[], more: object = { template_tokens: 12 }) =>
  verdictOnTexts('SOLD-02', promising(more), words.slice(0, besides.length), (_, at) => ({
    promptTokens: 1 + besides[at]!,
    completionTokens: 1,
  }))

test('a template of the promised size passes, and what it has is noted', async () => {
  expect(await verdictOf([12, 12, 11, 12, 12])).toEqual({
    verdict: 'pass',
    observations: 5,
    note: 'svc-k2: 12 tokens beside the text',
    figures: [{ name: 'beside_text', model: 'svc-k2', value: 12, low: 10, high: 14 }],
  })
})

test('a hidden prompt of 30 tokens fails', { tags: 'whole' }, async () => {
  expect(await verdictOf([37, 37, 36, 37, 37])).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining(
      'Each request is counted 37 tokens more than its text; the contract promises at most 12.',
    ),
  })
})

test('a hidden prompt that streams alone have fails as theirs, and costs their tokens', async () => {
  const texts = [...words, ...words]
  const verdict = await verdictOnTexts(
    'SOLD-02',
    promising({ template_tokens: 12 }),
    texts,
    (_, at) => ({
      ...(at < words.length ? {} : { streamed: 1 }),
      ...{ promptTokens: 1 + (at < words.length ? 12 : 42), completionTokens: 1 },
    }),
  )
  expect(verdict).toMatchObject({
    verdict: 'fail',
    observations: 5,
    observed: expect.stringContaining(
      'In streams: each request is counted 42 tokens more than its text; the contract promises at most 12. If all of them are, that is 150 tokens too many in 5 requests',
    ),
  })
})

test('a system prompt of the provider that the contract promises passes', async () => {
  expect(await verdictOf([187, 187, 186, 187, 187], { template_tokens: 200 })).toMatchObject({
    verdict: 'pass',
  })
})

test.each([1, 3])('%d tokens more for a message: told from three on', async (more) => {
  const verdict = await verdictOf(Array(5).fill(12 + more))
  expect(verdict).toMatchObject({ verdict: more > 2 ? 'fail' : 'inconclusive' })
})

test('it costs its own tokens, in each request, by the contract', async () => {
  const verdict = await verdictOnTexts(
    'SOLD-02',
    parseContract(
      {
        ...{ name: 'sold', currency: 'USD' },
        models: [
          { id: 'svc-k2', tokenizer: 'o200k', template_tokens: 12, price: { input: 2, output: 8 } },
        ],
      },
      'c.yaml',
    ),
    words,
    () => ({ promptTokens: 1 + 37, completionTokens: 1 }),
  )
  // 25 tokens in each of 5 requests, at 2 USD for a million.
  expect(verdict).toMatchObject({
    observed: expect.stringContaining(
      '125 tokens too many in 5 requests, which cost 0.00025 USD by the contract',
    ),
  })
})

test('an amount of less than a cent is exact', async () => {
  const contract = parseContract(
    {
      ...{ name: 'sold', currency: 'USD' },
      models: [
        {
          id: 'svc-k2',
          tokenizer: 'o200k',
          template_tokens: 12,
          price: { input: 45.12, output: 8 },
        },
      ],
    },
    'c.yaml',
  )
  const verdict = await verdictOnTexts('SOLD-02', contract, words, () => ({
    promptTokens: 1 + 37,
    completionTokens: 1,
  }))
  expect(verdict).toMatchObject({
    observed: expect.stringContaining('which cost 0.00564 USD by the contract'),
  })
})

test('a template that varies by less than the slack is inconclusive above the promise', async () => {
  expect(await verdictOf([14, 14, 12, 14, 13])).toMatchObject({ verdict: 'inconclusive' })
})

test('four prompts are too few', async () => {
  expect(await verdictOf([37, 37, 37, 37])).toMatchObject({ verdict: 'inconclusive' })
})

test('without template_tokens nothing is promised, and what was measured is a note', async () => {
  expect(await verdictOf([37, 37, 37, 37, 37], {})).toEqual({
    verdict: 'not-promised',
    promises: ['models.template_tokens'],
    note: 'svc-k2: 37 tokens beside the text',
    figures: [{ name: 'beside_text', model: 'svc-k2', value: 37, low: 35, high: 39 }],
  })
})

test("a system message is the client's own, and its requests are left out", async () => {
  const verdict = await verdictOnTexts(
    'SOLD-02',
    promising({ template_tokens: 12 }),
    words,
    () => ({ promptTokens: 60, completionTokens: 1 }),
    {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'time' },
      ],
    },
  )
  expect(verdict).toMatchObject({ verdict: 'not-observed' })
})

/** A tokenizer of small pieces: each word has two tokens, by a service that adds `beside` to each prompt. */
const ofTwo = (texts: readonly string[], beside: number) =>
  verdictOnTexts('SOLD-02', unnamed, texts, (text) => ({
    promptTokens: 2 * text.split(' ').length + beside,
    completionTokens: 1,
  }))

test('without an encoding, a tokenizer with two tokens a word does not make a template of 12 a hidden prompt', {
  tags: 'whole',
}, async () => {
  expect(await ofTwo([...words, ...repeated], 12)).toMatchObject({
    verdict: 'pass',
    note: 'svc-k2: 12 tokens beside the text',
  })
  // Of words alone, a token each too many is not told from a template that is longer than promised.
  expect(await ofTwo(words, 12)).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining('13 tokens beside a word of one token'),
  })
  expect(await ofTwo(words, 11)).toMatchObject({ verdict: 'pass' })
})

test('without an encoding, a hidden prompt of 30 tokens fails by its repeats, whatever a word has', async () => {
  expect(await ofTwo(repeated, 12 + 30)).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining('Each request is counted 42 tokens more than its text'),
  })
  expect(await ofTwo(words, 12 + 30)).toMatchObject({ verdict: 'inconclusive' })
})

test('without an encoding, counts with a factor tell no hidden prompt: their repeats are no whole tokens', async () => {
  const verdict = await verdictOnTexts('SOLD-02', unnamed, [...words, ...repeated], (text) => ({
    promptTokens: Math.round(1.1 * (text.split(' ').length + 30)),
    completionTokens: 1,
  }))
  expect(verdict).toMatchObject({ verdict: 'inconclusive' })
})

const official = 'https://official.example'

/** Words at the service and at its reference, which add so many tokens to each. */
const atBoth = (beside: number, there: number, more: object = {}) => {
  const model = modelOf('both')
  return verdictOnSessions(
    'SOLD-02',
    [
      { model, beside, atUs: firstUs },
      { model, beside: there, atUs: firstUs + 60e6, baseUrl: official },
    ],
    { reference: { base_url: official }, ...more },
  )
}

test.each([
  [7, 7, 'pass'],
  [9, 7, 'pass'],
  [7, 40, 'pass'],
  [10, 7, 'inconclusive'],
  [11, 7, 'inconclusive'],
  [12, 7, 'fail'],
  [37, 7, 'fail'],
])(
  'without an encoding and a template, %d tokens beside a word are compared with %d at the reference: %s',
  async (here, there, verdict) => {
    expect(await atBoth(here, there)).toMatchObject({ verdict })
  },
)

test('the finding says how many more than at the reference, and what they cost', async () => {
  expect(await atBoth(37, 7)).toMatchObject({
    observed: expect.stringMatching(
      /^svc-k2: Each request is counted 30 tokens more than at the reference\. If all requests are, that is 2,\d\d\d tokens too many in \d\d requests\.$/,
    ),
  })
})

test('a template that is longer than promised fails, and the finding says that the reference has it, too', async () => {
  expect(await atBoth(36, 36, { tokenizer: 'o200k', template_tokens: 12 })).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining('at most 12; as many as at the reference.'),
  })
})

test('a template as promised fails if the reference counts less: the contract says that it is the same model', {
  tags: 'whole',
}, async () => {
  const named = { tokenizer: 'o200k', template_tokens: 40 }
  expect(await atBoth(37, 7, named)).toMatchObject({ verdict: 'fail' })
  expect(await atBoth(10, 7, named)).toMatchObject({
    verdict: 'pass',
    note: 'svc-k2: 10 tokens beside the text; 3 more than at the reference',
  })
})

test('a prompt that is put before the requests of one key alone fails as theirs', async () => {
  const model = modelOf('keys')
  const own = { model, atUs: firstUs }
  const verdict = await verdictOnSessions(
    'SOLD-02',
    [
      { ...own, beside: 7, keyFp: 'one' },
      { ...own, beside: 37, keyFp: 'two', atUs: firstUs + 30e6 },
      { ...own, beside: 7, atUs: firstUs + 60e6, baseUrl: official },
    ],
    { reference: { base_url: official } },
  )
  expect(verdict).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining(
      'With the key two: each request is counted 30 tokens more than at the reference.',
    ),
  })
})

test('prompts that the reference was not asked are no observations', () => {
  const of = (text: string, reported: number) => ({ text, reported, counted: null })
  const shared = ['a', 'b', 'c', 'd', 'e']
  const others = Array.from({ length: 200 }, (_, nth) => of(`other ${nth}`, 50))
  const there = shared.map((text) => of(text, 8))
  const own = (strays: number) => [
    ...shared.map((text, nth) => of(text, nth < strays ? 40 : 8)),
    ...others,
  ]
  expect(judgeBeyond(own(0), there)).toMatchObject({ is: 'pass', compared: 5 })
  expect(judgeBeyond(own(2), there)).toMatchObject({ compared: 5, strays: 2 })
})

test('without a run at the reference its own is not observed', async () => {
  const own = [{ model: modelOf('own'), beside: 37, atUs: firstUs }]
  const verdict = await verdictOnSessions('SOLD-02', own, { reference: { base_url: official } })
  expect(verdict).toMatchObject({
    verdict: 'not-observed',
    requires: expect.stringContaining('at the reference of the contract'),
  })
})

test('a prompt that is put before two of five requests is no pass, though the middle one has none', {
  tags: 'whole',
}, async () => {
  expect(await verdictOf([12, 42, 12, 42, 12])).toMatchObject({
    verdict: 'inconclusive',
    why: 'svc-k2: 12 tokens beside the text, of 12 promised; but 2 of 5 prompts have more, as if a prompt were put before a part of the requests',
  })
  const unnamedVerdict = await verdictOnTexts('SOLD-02', unnamed, words, (_, at) => ({
    promptTokens: at % 2 === 0 ? 13 : 43,
    completionTokens: 1,
  }))
  expect(unnamedVerdict).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining('2 of 5 prompts have more'),
  })
  const prompts = (more: (at: number) => number) =>
    words.map((text, at) => ({ text, reported: 8 + more(at), counted: null }))
  expect(
    judgeBeyond(
      prompts((at) => (at % 2 === 0 ? 0 : 30)),
      prompts(() => 0),
    ),
  ).toEqual({ is: 'inconclusive', beside: 0, compared: 5, strays: 2 })
})

test('another encoding than the named one has more tokens for a short text, which is no hidden prompt', async () => {
  const texts = Array.from(
    { length: 6 },
    (_, at) => `${words.slice(0, 5).join(' ')} ${'今天天气很好我们去公园散步'.slice(at)}`,
  )
  const verdict = await verdictOnTexts(
    'SOLD-02',
    promising({ template_tokens: 7 }),
    texts,
    (text) => ({
      // As many tokens as an encoding with little Chinese has.
      promptTokens: 5 + 7 + Math.round(1.1 * text.replace(/[^\p{Script=Han}]/gu, '').length),
      completionTokens: 1,
    }),
  )
  expect(verdict).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining('another encoding'),
  })
})
