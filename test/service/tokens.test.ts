import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countTokens, piecesOf } from '../../src/service/tokens.ts'

test('a megabyte of one letter is counted, and not in quadratic time', () => {
  expect(countTokens('x'.repeat(1 << 20))).toBe((1 << 20) / 8)
  expect(countTokens(' '.repeat(1 << 16))).toBeGreaterThan(100)
})

test('counting stops above the limit, however long the text', () => {
  const words = 'several words of a text '.repeat(40_000)
  expect(countTokens(words, 1_000)).toBe(1_001)
  expect(countTokens(`${'x'.repeat(300)} ${words}`, 1_000)).toBe(1_001)
  const word = fc.constantFrom('word ', 'é', '漢', '😀', '\n', 'Zwölf', '😀'.slice(1))
  const text = fc.array(word, { maxLength: 200 }).map((words) => words.join(''))
  fc.assert(
    fc.property(text, fc.nat(300), (some, most) => {
      const tokens = countTokens(some)
      // Once more with another text, because counts are cached.
      expect(countTokens(`${some}\u2028`, most) > most).toBe(countTokens(`${some}\u2028`) > most)
      expect(countTokens(some, tokens)).toBe(tokens)
    }),
  )
})

test('half a surrogate pair becomes a replacement character, and the rest is unchanged', () => {
  expect(piecesOf('a \ud83d b').join('')).toBe('a \ufffd b')
})

test('the pieces join to the text, one for each token, also for runs without a space', () => {
  const run = fc.tuple(fc.constantFrom('x', 'é', '€', '漢', '😀', ' ', '\n'), fc.nat(700))
  fc.assert(
    fc.property(fc.array(run, { maxLength: 5 }), (runs) => {
      const text = runs.map(([letter, times]) => letter.repeat(times)).join('')
      const pieces = piecesOf(text)
      expect(pieces.join('')).toBe(text)
      expect(pieces.length).toBe(countTokens(text))
    }),
    { numRuns: 30 },
  )
})
