import { expect, test } from 'vitest'
import { positiveOf, wholeNumberOf } from '../../src/cli/terminal/numbers.ts'

test.each(['0x10', '1e3', ' 5 ', '', '-1', '1.5', '99999999999999999999'])(
  '%j is no whole number of an option',
  (text) => {
    expect(() => wholeNumberOf('--seed', text)).toThrow(
      `--seed: expected a whole number from 0; got ${text}.`,
    )
  },
)

test('a whole number has the least that makes sense of its option', () => {
  expect(wholeNumberOf('--seed', '0')).toBe(0)
  expect(wholeNumberOf('--threads', '1', 1)).toBe(1)
  expect(() => wholeNumberOf('--threads', '0', 1)).toThrow(
    '--threads: expected a whole number from 1; got 0.',
  )
})

test.each(['0x10', '1e-300', '0', '-2', 'Infinity', '', ' 5'])(
  '%j is no number above 0 of an option',
  (text) => {
    expect(() => positiveOf('--every', text)).toThrow(
      `--every: expected a number above 0; got ${text}.`,
    )
  },
)

test.each([
  ['5', 5],
  ['0.25', 0.25],
  ['.5', 0.5],
])('%s is one', (text, value) => {
  expect(positiveOf('--every', text)).toBe(value)
})
