import { expect, test } from 'vitest'
import type { Options } from '../../src/cli/commands/run.ts'
import { repeatsAsked } from '../../src/cli/runs/repeats-asked.ts'

test.each([
  ['1', 'With fewer, the spread between runs is not known.'],
  ['200', 'More tell little more: the interval narrows with the square root of their number.'],
])('--repeat %s is refused with its own reason', (repeat, reason) => {
  expect(() => repeatsAsked({ repeat } as Options)).toThrow(
    new RegExp(`^--repeat: expected \\d+ to 100 runs; got ${repeat}\\. ${reason}$`),
  )
})
