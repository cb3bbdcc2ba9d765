import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import { type CodeTrial, judgeContext } from '../../../src/audit/evidence/sold/context.ts'
import type { Contract } from '../../../src/contract/contract.ts'
import { parseContract } from '../../../src/contract/load.ts'
import { ScriptText } from '../../../src/run/plan/script-text.ts'
import { verdictOnTexts } from './one-answer-each.ts'

const trial = (tokens: number, finds: (depth: number, at: number) => boolean): CodeTrial => ({
  tokens,
  codes: Array.from({ length: 40 }, (_, at) => ({
    depth: (at + 0.5) / 40,
    isFound: finds((at + 0.5) / 40, at),
  })),
})
const control = trial(2_000, () => true)
const all = () => true
const secondHalf = (depth: number) => depth >= 0.5

test('all codes found in a prompt of 95 % of the window pass', () => {
  expect(judgeContext([control, trial(121_600, all)], 128_000)).toEqual({
    ...{ is: 'pass', found: 40, of: 40 },
  })
})

test('codes that are missing in a row ask for more of the same part', () => {
  expect(judgeContext([control, trial(121_600, secondHalf)], 128_000)).toMatchObject({
    ...{ is: 'inconclusive', why: 'again', hole: { from: 0 }, of: 0 },
  })
})

test('forty later codes of that part, none of them found, fail', () => {
  const trials = [control, ...Array.from({ length: 4 }, () => trial(121_600, secondHalf))]
  expect(judgeContext(trials, 128_000)).toMatchObject({ is: 'fail', again: 42 })
})

test('four later codes of that part show that it was read', () => {
  const weak = trial(121_600, (depth, at) => depth >= 0.5 || at % 4 === 3)
  const hidden = trial(121_600, secondHalf)
  expect(judgeContext([control, hidden, weak], 128_000)).toMatchObject({ is: 'pass' })
})

test('one later code is neither: a guess succeeds once in a million, and a part may be dropped at times', () => {
  const one = trial(121_600, (depth, at) => depth >= 0.5 || at === 7)
  const hidden = trial(121_600, secondHalf)
  expect(judgeContext([control, hidden, one, hidden, hidden, hidden], 128_000)).toMatchObject({
    ...{ is: 'inconclusive', why: 'few-hits', hits: 1 },
  })
})

test('a model that cannot list codes in a short prompt shows nothing', () => {
  const poor = trial(2_000, (_, at) => at % 2 === 0)
  expect(judgeContext([poor, trial(121_600, secondHalf)], 128_000)).toMatchObject({
    ...{ is: 'inconclusive', why: 'control', hits: 20, of: 40 },
  })
})

test('without a short prompt nothing is known of the model', () => {
  expect(judgeContext([trial(121_600, secondHalf)], 128_000)).toMatchObject({ why: 'no-control' })
})

test('prompts of less than 90 % of the window are not observed', () => {
  expect(judgeContext([control, trial(100_000, secondHalf)], 128_000)).toEqual({ is: 'unseen' })
})

const asked = [1, 2, 3].map((seed) =>
  new ScriptText(seed).text('codes', seed === 1 ? 2_000 : 7_600, seed),
)
const sold = parseContract(
  { name: 'sold', models: [{ id: 'svc-k2', context_window_tokens: 8_000 }] },
  'c.yaml',
)
/** Answers that end by max_tokens, as each of a model with random weights does: with so many tokens for each of a short prompt and a long one. */
const cutAnswers = (
  share: number,
  ofShort = share,
  { contract = sold, more = {} }: { readonly contract?: Contract; readonly more?: object } = {},
) =>
  verdictOnTexts('SOLD-03', contract, asked, (text, at) => ({
    promptTokens: Math.round(countTokens(text) * (at === 0 ? ofShort : share)),
    finishReason: 'length',
    ...(at === 0 ? {} : more),
  }))
const named = parseContract(
  { name: 'sold', models: [{ id: 'svc-k2', context_window_tokens: 8_000, tokenizer: 'o200k' }] },
  'c.yaml',
)

test('two prompts that are counted by half fail, though their answers are cut', async () => {
  for (const contract of [sold, named])
    expect(await cutAnswers(0.5, 1, { contract })).toMatchObject({
      ...{ verdict: 'fail', observed: expect.stringContaining('the rest was not read') },
    })
})

test('answers that are cut ask for more max_tokens, and accuse nobody', async () => {
  expect(await cutAnswers(1)).toMatchObject({
    ...{ verdict: 'inconclusive', why: expect.stringContaining('raise max_tokens') },
  })
})

test('an encoding of fewer tokens than o200k, which the contract does not name, is no prompt that was cut', async () => {
  expect(await cutAnswers(0.7)).not.toMatchObject({ verdict: 'fail' })
  expect(await cutAnswers(0.7, 1, { more: { cachedTokens: 2_304 } })).not.toMatchObject({
    verdict: 'fail',
  })
})

test.each([
  ['named', 1, named, 'fail'],
  ['that has as many tokens as o200k', 1, sold, 'fail'],
  ['that has more tokens than o200k', 1.6, sold, 'not-observed'],
] as const)(
  'a refusal for the length of a prompt that fits the window, by an encoding %s',
  async (_, ofShort, contract, verdict) => {
    const small = new ScriptText(5).text('codes', 6_000, 5)
    const said = await verdictOnTexts('SOLD-03', contract, [asked[0]!, small], (text, at) =>
      at === 0
        ? { promptTokens: Math.round(countTokens(text) * ofShort) }
        : {
            ...{ outcome: 'http_error', status: 400, errorCode: 'context_length_exceeded' },
            ...{ promptTokens: null, completionTokens: null },
          },
    )
    expect(said).toMatchObject({ verdict })
  },
)

test('a refusal of a prompt that fits the window, and not the limits of the contract, accuses nobody', async () => {
  const small = new ScriptText(5).text('codes', 6_000, 5)
  const limited = (most: number) =>
    parseContract(
      {
        ...{ name: 'sold', limits: { max_total_tokens: most } },
        models: [{ id: 'svc-k2', context_window_tokens: 8_000, tokenizer: 'o200k' }],
      },
      'c.yaml',
    )
  const judged = async (most: number) =>
    verdictOnTexts('SOLD-03', limited(most), [asked[0]!, small], (text, at) =>
      at === 0
        ? { promptTokens: countTokens(text) }
        : {
            ...{ outcome: 'http_error', status: 400, errorCode: 'context_length_exceeded' },
            ...{ promptTokens: null, completionTokens: null },
          },
    )
  expect(await judged(4_000)).toMatchObject({
    ...{ verdict: 'inconclusive', why: expect.stringContaining('G-30') },
  })
  expect((await judged(7_000)).verdict).toBe('fail')
})

test('a refusal tells nothing without a named encoding and a short prompt', async () => {
  const small = new ScriptText(5).text('codes', 6_000, 5)
  const said = await verdictOnTexts('SOLD-03', sold, [small], () => ({
    ...{ outcome: 'http_error', status: 400, errorCode: 'context_length_exceeded' },
    ...{ promptTokens: null, completionTokens: null },
  }))
  expect(said).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining('the contract names no tokenizer'),
  })
})
