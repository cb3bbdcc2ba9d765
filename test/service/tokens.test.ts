import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countTokens, piecesOf } from '../../src/service/tokens.ts'

test('a megabyte of one letter is counted, and not in the square of its length', () => {
  expect(countTokens('x'.repeat(1 << 20))).toBe((1 << 20) / 8)
  expect(countTokens(' '.repeat(1 << 16))).toBeGreaterThan(100)
})

test('pieces are the text, one for each token, also of runs without a space', () => {
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
