import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shortened } from './fast-check.ts'

const messageOf = (run: () => void): string => {
  try {
    run()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('expected a failure')
}

test('a property that fails at a large case prints at most 40 lines, with its seed', () => {
  const large = fc.array(fc.string({ minLength: 500, maxLength: 500 }), { minLength: 20 })
  const never = fc.property(large, () => false)
  const message = messageOf(() => fc.assert(never, { seed: 7, endOnFailure: true }))
  expect(message).toMatch(/^Property failed after 1 tests\n\{ seed: 7, path: "0", /)
  expect(message.split('\n').length).toBeLessThanOrEqual(41)
  expect(Math.max(...message.split('\n').map((line) => line.length))).toBeLessThan(200)
})

test('a small case is whole', () => {
  const small = fc.property(fc.constant({ a: 1 }), () => false)
  expect(messageOf(() => fc.assert(small))).toContain('Counterexample: [{"a":1}]')
})

test('a report of many lines says how many more there are', () => {
  expect(shortened('line\n'.repeat(99))).toMatch(/^(line\n){40}… 60 more lines$/)
})
