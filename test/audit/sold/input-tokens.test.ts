import * as o200k from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import type { Contract } from '../../../src/contract/contract.ts'
import { parseContract } from '../../../src/contract/load.ts'
import { verdictOnTexts } from './one-answer-each.ts'
import { audited, repeated, textOf, words } from './texts.ts'

const named = (more: object = {}): Contract =>
  parseContract({ name: 'sold', models: [{ id: 'svc-k2', tokenizer: 'o200k', ...more }] }, 'c.yaml')

const verdictOf = (
  texts: readonly string[],
  reported: (tokens: number, at: number) => number,
  contract = named(),
  body: object = {},
) =>
  verdictOnTexts(
    'SOLD-01',
    contract,
    texts,
    (text, at) => ({ promptTokens: reported(o200k.countTokens(text), at), completionTokens: 1 }),
    body,
  )

test('a service that counts each token once, and a template, passes', async () => {
  const verdict = await verdictOf(audited, (tokens, at) => tokens + 7 - (at % 2))
  expect(verdict).toMatchObject({ verdict: 'pass', observations: 24 })
})

test('a factor of 1.1 on all scripts fails, with the tokens and what they cost', async () => {
  const priced = parseContract(
    {
      ...{ name: 'sold', currency: 'USD' },
      models: [
        {
          id: 'svc-k2',
          tokenizer: 'o200k',
          template_tokens: 7,
          price: { input: 1, output: 2 },
        },
      ],
    },
    'c.yaml',
  )
  const verdict = await verdictOf(audited, (tokens) => Math.round((tokens + 7) * 1.1), priced)
  const tooMany = audited
    .map((text) => o200k.countTokens(text) + 7)
    .reduce((sum, tokens) => sum + Math.max(0, Math.round(tokens * 1.1) - tokens - 2), 0)
  expect(verdict).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining(
      'The service counts 1.100 tokens (1.099 to 1.101) for each token of o200k, alike in three scripts; at 4,096 tokens that is 409 more than the text has.',
    ),
  })
  expect(verdict).toMatchObject({
    observed: expect.stringContaining(
      `${tooMany.toLocaleString('en')} tokens too many in 24 requests, which cost 0.0`,
    ),
  })
})

test('another encoding than the named one is inconclusive, since its ratio depends on the script', async () => {
  const { countTokens } = await import('gpt-tokenizer/encoding/cl100k_base')
  const verdict = await verdictOf(audited, (_, at) => countTokens(audited[at]!) + 7)
  expect(verdict).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining('another encoding'),
  })
})

test('counts that are all multiples of 64 are rounded', { tags: 'whole' }, async () => {
  const verdict = await verdictOf(audited, (tokens) => Math.ceil((tokens + 7) / 64) * 64)
  expect(verdict).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining('All counts are multiples of 64'),
  })
})

test('texts whose own counts are multiples of 64 are no rounding', async () => {
  const texts = Array.from({ length: 14 }, (_, at) => textOf('words', 64 * (at + 1), at))
  const verdict = await verdictOf(texts, (tokens) => tokens)
  expect(verdict).toMatchObject({ verdict: 'pass' })
})

test('a factor in ordinary traffic of one script is inconclusive: it may be another encoding', async () => {
  const texts = [100, 900, 1_700, 2_500].map((size) => textOf('words', size, 3))
  const verdict = await verdictOf(texts, (tokens) => Math.round(tokens * 1.1))
  expect(verdict).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining('audit-integrity.yaml'),
  })
})

test('texts of one size show no slope', async () => {
  const texts = [1, 2, 3].map((seed) => textOf('words', 64, seed))
  expect(await verdictOf(texts, (tokens) => tokens * 2)).toMatchObject({ verdict: 'not-observed' })
})

test("a prompt with tools is not counted, since their form is the service's own", async () => {
  const verdict = await verdictOf(audited, (tokens) => tokens * 2, named(), { tools: [] })
  expect(verdict).toMatchObject({ verdict: 'not-observed' })
})

const unnamed = parseContract({ name: 'sold', models: [{ id: 'svc-k2' }] }, 'c.yaml')
test('without a named encoding, repeats of common words have one token each', async () => {
  expect(await verdictOf(repeated, (tokens) => tokens + 7, unnamed)).toMatchObject({
    verdict: 'pass',
  })
})

test.each([
  [1.01, '1.010 times a whole number of tokens'],
  [1.1, '1.100 times a whole number of tokens'],
])('without a named encoding, a factor of %d fails', async (factor, said) => {
  const verdict = await verdictOf(repeated, (tokens) => Math.round((tokens + 7) * factor), unnamed)
  expect(verdict).toMatchObject({ verdict: 'fail', observed: expect.stringContaining(said) })
})

test('without a named encoding, two tokens for every word accuse nobody: a multiple is not told from small pieces', async () => {
  const verdict = await verdictOf(repeated, (tokens) => 2 * (tokens + 7), unnamed)
  expect(verdict).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining('an encoding of small pieces, or a multiple'),
  })
  expect(await verdictOf(audited, (tokens) => 2 * (tokens + 7))).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining('The service counts 2.000 tokens'),
  })
})

test('a factor on some requests fails, since texts with the same words have fewer', async () => {
  const verdict = await verdictOf(audited, (tokens, at) =>
    [4, 7].includes(at) ? Math.round(1.1 * (tokens + 7)) : tokens + 7,
  )
  expect(verdict).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining(
      '2 of 8 texts of common words are counted more than others with the same words.',
    ),
  })
})

test.each([
  [
    'by one factor fail, though the longest texts are counted right',
    (tokens: number) => Math.round(1.1 * (tokens + 7)),
    'fail',
  ],
  ['by a longer template accuse nobody', (tokens: number) => tokens + 110, 'inconclusive'],
  [
    'by two longer templates accuse nobody',
    (tokens: number) => tokens + (tokens < 1_500 ? 110 : 60),
    'inconclusive',
  ],
] as const)('two texts of common words that are counted more %s', async (_, more, expected) => {
  // Texts of 1,024 and 2,048 tokens: what they have more does not lift the line through those of 4,096.
  const verdict = await verdictOf(audited, (tokens, at) =>
    [2, 5].includes(at) ? more(tokens) : tokens + 7,
  )
  expect(verdict).toMatchObject({ verdict: expected })
})

test('a longer template of the longest texts, which lifts the line, is no factor on them', async () => {
  const verdict = await verdictOf(audited, (tokens, at) => tokens + ([6, 7].includes(at) ? 117 : 7))
  expect(verdict).toMatchObject({ verdict: 'inconclusive' })
})

test('an encoding of bytes is no multiple: its words have as many tokens as letters', async () => {
  const verdict = await verdictOf(repeated, (_, at) => repeated[at]!.length + 7, unnamed)
  expect(verdict).toMatchObject({ verdict: 'inconclusive' })
})

test.each(['o200k_base', 'o200k_harmony'])('%s is another name of o200k', async (tokenizer) => {
  expect(await verdictOf(audited, (tokens) => tokens + 7, named({ tokenizer }))).toMatchObject({
    verdict: 'pass',
  })
})

test('cl100k_base is another name of cl100k', async () => {
  const { countTokens } = await import('gpt-tokenizer/encoding/cl100k_base')
  const contract = named({ tokenizer: 'cl100k_base' })
  const verdict = await verdictOf(audited, (_, at) => countTokens(audited[at]!) + 7, contract)
  expect(verdict).toMatchObject({ verdict: 'pass' })
})

const everything = [...audited, ...repeated, ...words.slice(0, 5)]
test.each([
  [16, unnamed],
  [10, unnamed],
])('without a named encoding, counts that are rounded up to %d fail', async (to, contract) => {
  const round = (tokens: number) => Math.ceil((tokens + 7) / to) * to
  expect(await verdictOf(everything, round, contract)).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining(
      `All counts are multiples of ${to}, also of a single word: the service rounds them up, by up to ${to - 1} tokens in each request.`,
    ),
  })
})

test.each([
  // Of 16 tokens up to 9 are beyond the template of 7 and the slack of 2.
  [
    'o200k',
    /All counts are multiples of 16: .*, by up to 15 tokens in each request\. \d{2,3} tokens too many in \d+ requests\./,
  ],
  // What was counted too many is not known by another encoding.
  ['p50k', /All counts are multiples of 16: .*, by up to 15 tokens in each request\.$/],
])('counts that are rounded up to 16 fail by %s', async (tokenizer, said) => {
  const round = (tokens: number) => Math.ceil((tokens + 7) / 16) * 16
  const contract = named({ tokenizer })
  expect(await verdictOf(everything, round, contract)).toMatchObject({
    verdict: 'fail',
    observed: expect.stringMatching(said),
  })
})

test('prompts made to measure, and four tokens for every word, are no rounding', async () => {
  const sized = Array.from({ length: 14 }, (_, at) => textOf('words', 64 * (at + 1), at))
  expect(await verdictOf(sized, (tokens) => tokens, unnamed)).not.toMatchObject({ verdict: 'fail' })
  const texts = [...repeated, ...words.slice(0, 5)]
  const verdict = await verdictOf(texts, (_, at) => 4 * texts[at]!.split(' ').length + 8, unnamed)
  expect(verdict).toMatchObject({ verdict: 'inconclusive' })
})

test('texts with names of control tokens, which a service may count as one token, accuse nobody', async () => {
  const control = /<\|endoftext\|>/g
  const texts = audited.map((text, at) => (at % 5 === 0 ? `${text} <|endoftext|>` : text))
  const verdict = await verdictOnTexts('SOLD-01', named(), texts, (text) => ({
    promptTokens:
      o200k.countTokens(text.replace(control, '')) + (text.match(control)?.length ?? 0) + 7,
    completionTokens: 1,
  }))
  expect(['pass', 'inconclusive']).toContain(verdict.verdict)
})

/** A part of the requests that is counted otherwise, by their place. */
const parts = [
  ['In streams', { streamed: 1 }, (at: number) => at % 2 === 1],
  ['With the key night', { keyFp: 'night' }, (at: number) => at % 2 === 1],
] as const
test.each(parts)(
  '%s alone a factor fails, and nobody else is counted so',
  async (said, more, isPart) => {
    const verdict = await verdictOnTexts('SOLD-01', named(), audited, (text, at) => ({
      ...(isPart(at) ? more : {}),
      promptTokens: Math.round((o200k.countTokens(text) + 7) * (isPart(at) ? 1.1 : 1)),
      completionTokens: 1,
    }))
    expect(verdict).toMatchObject({
      verdict: 'fail',
      observations: 12,
      observed: expect.stringContaining(
        `${said}: the service counts 1.100 tokens (1.099 to 1.101) for each token of o200k, alike in three scripts`,
      ),
    })
    expect(verdict).toMatchObject({ observed: expect.stringContaining('in 12 requests') })
  },
)

test("plain answers whose usage is made up, as those of LiteLLM's mock, are told from streams that are counted right", async () => {
  const verdict = await verdictOnTexts('SOLD-01', named(), audited, (text, at) => ({
    ...(at % 2 === 1 ? { streamed: 1 } : {}),
    ...{ promptTokens: at % 2 === 1 ? o200k.countTokens(text) + 7 : 10, completionTokens: 1 },
  }))
  expect(verdict).toMatchObject({
    verdict: 'inconclusive',
    why: 'svc-k2: In streams the counts are those of the named encoding; elsewhere they are not, and in no ratio that tells a factor',
  })
})

test('without a named encoding, a factor on streams alone fails as theirs', async () => {
  const texts = [...repeated, ...repeated]
  const verdict = await verdictOnTexts('SOLD-01', unnamed, texts, (text, at) => {
    const isStream = at >= repeated.length
    const tokens = o200k.countTokens(text) + 7
    return {
      ...(isStream ? { streamed: 1 } : {}),
      ...{ promptTokens: Math.round(tokens * (isStream ? 1.1 : 1)), completionTokens: 1 },
    }
  })
  expect(verdict).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining(
      'In streams: each repeat of a common word has 1.100 times a whole number of tokens',
    ),
  })
})

test('a factor on long prompts alone fails', async () => {
  const verdict = await verdictOf(audited, (tokens) =>
    tokens < 2_000 ? tokens + 7 : Math.round((tokens + 7) * 1.1),
  )
  expect(verdict).toMatchObject({ verdict: 'fail' })
})

test('an encoding that nobody can count is refused, and says which there are', () => {
  expect(() => named({ tokenizer: 'llama' })).toThrow(
    'models.0.tokenizer: expected one of o200k, cl100k, p50k, r50k, or the path of a tokenizer.json that exists; got "llama"',
  )
})

test('short texts of another script that are counted twice are no pass, though they are too short for a line', async () => {
  const short = [1, 2, 3, 4].map((seed) => textOf('han', 40, seed))
  const texts = [...audited.slice(0, 8), ...short]
  const verdict = await verdictOf(texts, (tokens, at) => (at < 8 ? tokens : 2 * tokens) + 7)
  expect(verdict).toMatchObject({
    verdict: 'inconclusive',
    why: 'svc-k2: 4 texts of other kinds, too short for a line of their own, are counted otherwise than the rest',
  })
  expect(await verdictOf(texts, (tokens) => tokens + 7)).toMatchObject({ verdict: 'pass' })
})

test('of more texts than can be counted, the last ones are looked at as well', {
  tags: 'whole',
}, async () => {
  const texts = Array.from({ length: 2_400 }, (_, at) =>
    textOf('words', [64, 1_024][at % 2]!, at % 40),
  )
  const verdict = await verdictOf(texts, (tokens, at) =>
    at < 2_000 ? tokens + 7 : Math.round(1.1 * (tokens + 7)),
  )
  expect(verdict).toMatchObject({ verdict: 'inconclusive' })
})

test('counts without what was read from a cache do not make the others too many', async () => {
  const verdict = await verdictOf(audited, (tokens, at) => tokens + 7 - (at === 2 ? 768 : 0))
  expect(verdict).toMatchObject({ verdict: 'inconclusive' })
})

test('without a named encoding, equal prompts that are counted otherwise are no pass', async () => {
  const texts = [...repeated, ...repeated]
  const verdict = await verdictOf(
    texts,
    (tokens, at) => (at % 7 === 6 ? Math.round(1.1 * (tokens + 7)) : tokens + 7),
    unnamed,
  )
  expect(verdict).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringMatching(/^svc-k2: \d prompts are counted more than equal ones/),
  })
})

test('without a named encoding, five of six words that are counted twice are no pass', async () => {
  const verdict = await verdictOf(
    repeated,
    (tokens, at) => (at < 10 ? 2 * tokens : tokens) + 7,
    unnamed,
  )
  expect(verdict).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining('repeats of 5 of 6 common words have several tokens'),
  })
})

/** Tokens of each word by an encoding of small pieces. */
const small = (text: string, pieces: readonly number[]) => {
  const [word] = text.split(' ')
  return text.split(' ').length * pieces[sixWords.indexOf(word!) % pieces.length]!
}
const sixWords = [...new Set(repeated.map((text) => text.split(' ')[0]!))]

test.each([
  [1.05, [5, 5, 7, 5, 6, 10]],
  [1.1, [5, 10, 5, 7, 5, 6]],
])(
  'one factor of %d on words of several tokens fails, though some of the products are what encodings give',
  async (factor, pieces) => {
    const verdict = await verdictOf(
      repeated,
      (_, at) => Math.round(factor * (small(repeated[at]!, pieces) + 7)),
      unnamed,
    )
    expect(verdict).toMatchObject({
      verdict: 'fail',
      observed: expect.stringContaining(`${factor.toFixed(3)} times a whole number of tokens`),
    })
  },
)

test('words of which two alone have a number of tokens that no encoding gives are still inconclusive', async () => {
  const verdict = await verdictOf(
    repeated,
    (_, at) => Math.round((at < 4 ? 1.05 : 1) * (small(repeated[at]!, [6, 7]) + 7)),
    unnamed,
  )
  expect(verdict).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining('2 of 6 words have a number of tokens that no encoding gives'),
  })
})
