import fc from 'fast-check'
import { expect, test } from 'vitest'
import { draw } from '../../src/service/distribution.ts'
import { limited, prose } from '../../src/service/generate.ts'
import { seededRandom } from '../../src/service/random.ts'
import { countTokens, piecesOf } from '../../src/service/tokens.ts'
import { openings, words } from '../../src/service/vocabulary.ts'

test('each generated word is one token, so pieces are tokens', () => {
  for (const word of words) expect([word, countTokens(` ${word}`)]).toEqual([word, 1])
  for (const word of openings) expect([countTokens(word), countTokens(` ${word}`)]).toEqual([1, 1])
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 300 }), fc.nat(), (tokens, seed) => {
      const pieces = prose(tokens, seed)
      expect(pieces).toHaveLength(tokens)
      expect(countTokens(pieces.join(''))).toBe(tokens)
    }),
    { numRuns: 40 },
  )
})

test('a generated text begins the same at any length', () => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 2 }),
      (seed, lengths) => {
        const longest = prose(41, seed)
        for (const tokens of lengths) expect(prose(tokens, seed)).toEqual(longest.slice(0, tokens))
      },
    ),
  )
})

test('the pieces of any text join to the text, one per token, without cut characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
      const pieces = piecesOf(text)
      expect(pieces.join('')).toBe(text)
      expect(pieces).toHaveLength(countTokens(text))
      for (const piece of pieces) expect(piece.isWellFormed()).toBe(true)
    }),
  )
})

test('text that looks like a control token is ordinary text', () => {
  expect(countTokens('a <|endoftext|> b')).toBeGreaterThan(3)
  expect(piecesOf('a <|endoftext|> b').join('')).toBe('a <|endoftext|> b')
})

test('a text ends at a stop sequence or at the limit, whichever comes first', () => {
  const piece = fc.stringMatching(/^[abc ]{1,3}$/)
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 30 }),
      fc.integer({ min: 1, max: 40 }),
      fc.array(fc.stringMatching(/^[abc]{1,3}$/), { maxLength: 4 }),
      fc.boolean(),
      (pieces, maxTokens, stops, includeStop) => {
        const whole = pieces.join('')
        const {
          pieces: kept,
          finish,
          stopSequence,
        } = limited(pieces, maxTokens, stops, includeStop)
        const text = kept.join('')
        expect(whole.startsWith(text)).toBe(true)
        expect(kept.length).toBeLessThanOrEqual(maxTokens)
        if (stopSequence !== null) {
          expect([finish, stops.includes(stopSequence)]).toEqual(['stop', true])
          const before = includeStop ? text.slice(0, -stopSequence.length) : text
          expect(whole.slice(before.length).startsWith(stopSequence)).toBe(true)
          if (includeStop) expect(text.endsWith(stopSequence)).toBe(true)
          for (const stop of stops) expect(before.includes(stop)).toBe(false)
        } else if (finish === 'length') {
          expect([kept.length, pieces.length > maxTokens]).toEqual([maxTokens, true])
        } else expect(text).toBe(whole)
      },
    ),
  )
})

test('distributions have the named mean or median', () => {
  const mean = (shape: Parameters<typeof draw>[0]) => {
    const random = seededRandom(7)
    const draws = Array.from({ length: 20_000 }, () => draw(shape, random))
    expect(Math.min(...draws)).toBeGreaterThanOrEqual(0)
    return draws.reduce((sum, value) => sum + value, 0) / draws.length
  }
  expect(mean({ kind: 'constant', value: 5 })).toBe(5)
  expect(mean({ kind: 'uniform', min: 10, max: 30 })).toBeCloseTo(20, 0)
  expect(mean({ kind: 'exponential', mean: 40 }) / 40).toBeCloseTo(1, 1)
  expect(mean({ kind: 'normal', mean: 50, deviation: 5 })).toBeCloseTo(50, 0)
  expect(mean({ kind: 'lognormal', median: 100, sigma: 0.5 }) / 100).toBeCloseTo(Math.exp(0.125), 1)
})
