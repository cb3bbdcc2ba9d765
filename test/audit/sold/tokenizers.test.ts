import * as cl100k from 'gpt-tokenizer/encoding/cl100k_base'
import { describe, expect, test } from 'vitest'
import { parseContract } from '../../../src/contract/load.ts'
import { verdictOnTexts } from './one-answer-each.ts'
import { audited, repeated } from './texts.ts'

/**
 * Honest tokenizers that differ from those of the encodings known here, each as a service with it counts a text. None of them
 * may be accused, whatever the contract names.
 */
const pieces = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0
const honest: Readonly<Record<string, (text: string) => number>> = {
  'two tokens for every common word': (text) =>
    pieces(text, /[a-z]+/g) * 2 + pieces(text, /[^a-z\s]/g),
  'three tokens for every common word, as a model of Chinese may have': (text) =>
    pieces(text, /[a-z]+/g) * 3 + pieces(text, /[^a-z\s]/g),
  'one token for a byte': (text) => Buffer.byteLength(text),
  'one token for a letter': (text) => [...text].length,
  'one token for two letters': (text) =>
    (text.match(/\S+/g) ?? []).reduce((sum, word) => sum + Math.ceil([...word].length / 2), 0),
  'some words in two pieces': (text) =>
    (text.match(/[a-z]+|[^a-z\s]/g) ?? []).reduce(
      (sum, word) => sum + (word.length > 4 ? 2 : 1),
      0,
    ),
  'two words in one token': (text) => Math.ceil(cl100k.countTokens(text) / 2),
  'four words in three tokens': (text) => Math.ceil((cl100k.countTokens(text) * 3) / 4),
  'four words in five tokens': (text) => Math.ceil((cl100k.countTokens(text) * 5) / 4),
}
const templates = [0, 7, 36, 240]

const contractOf = (more: object) =>
  parseContract({ name: 'sold', models: [{ id: 'svc-k2', ...more }] }, 'c.yaml')

describe.each(Object.entries(honest))('an honest tokenizer with %s is not accused', (_, count) => {
  test.each([
    ['if nothing names it', {}, repeated],
    ['if the contract names another', { tokenizer: 'o200k' }, [...audited, ...repeated]],
    ['if the contract names another, and no word is repeated', { tokenizer: 'o200k' }, audited],
  ])('%s', { tags: 'whole' }, async (_, more, texts) => {
    const counts = texts.map(count)
    for (const template of templates) {
      const verdict = await verdictOnTexts('SOLD-01', contractOf(more), texts, (_, at) => ({
        promptTokens: counts[at]! + template,
        completionTokens: 1,
      }))
      expect(verdict.verdict).toBe('inconclusive')
    }
  })
})

test('a prompt that is cut has fewer tokens, and is no factor', { tags: 'whole' }, async () => {
  const ofTwo = (text: string) => 2 * text.split(' ').length + 7
  for (const limit of [2_048, 2_500, 2_900]) {
    const verdict = await verdictOnTexts(
      'SOLD-01',
      contractOf({}),
      ['time', 'year', 'people', 'way', 'day', ...repeated],
      (text) => ({ promptTokens: Math.min(limit, ofTwo(text)), completionTokens: 1 }),
    )
    expect(verdict).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringContaining('may be cut'),
    })
  }
})

test('a factor is told from any of these encodings where it gives what none has', {
  tags: 'whole',
}, async () => {
  for (const count of Object.values(honest).slice(0, 6)) {
    const counts = repeated.map(count)
    const verdict = await verdictOnTexts('SOLD-01', contractOf({}), repeated, (_, at) => ({
      promptTokens: Math.round(1.05 * (counts[at]! + 7)),
      completionTokens: 1,
    }))
    expect(verdict).toMatchObject({ verdict: 'fail', observed: expect.stringContaining('1.0') })
  }
})

test('where the contract names another encoding, repeats of words tell a factor all the same', async () => {
  const texts = [...audited, ...repeated]
  const verdict = await verdictOnTexts(
    'SOLD-01',
    contractOf({ tokenizer: 'o200k' }),
    texts,
    (text) => ({
      promptTokens: Math.round(1.1 * (cl100k.countTokens(text) + 7)),
      completionTokens: 1,
    }),
  )
  expect(verdict).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining('1.100 times a whole number of tokens'),
  })
})
