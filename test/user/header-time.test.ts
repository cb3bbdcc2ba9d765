import { expect, test } from 'vitest'
import { headerTimeS } from '../../src/user/header-time.ts'

test.each([
  ['2026-01-01T00:00:30Z', 1_767_225_630],
  ['2026-01-01T01:00:30.250+01:00', 1_767_225_630.25],
  ['Thu, 01 Jan 2026 00:00:30 GMT', 1_767_225_630],
  ['Thu, 1 Jan 2026 00:00:30 GMT', 1_767_225_630],
  ['Thu, 01 Jan 2026 00:00:30 +0000', 1_767_225_630],
  ['Thu, 01 Jan 2026 00:00:30 -0000', 1_767_225_630],
  ['Thu, 1 Jan 2026 00:00:30 UTC', 1_767_225_630],
  ['Sunday, 06-Nov-94 08:49:37 UTC', 784_111_777],
  ['Thu, 01 Jan 2026 00:00:30 +0100', Number.NaN],
  ['Thu, 001 Jan 2026 00:00:30 GMT', Number.NaN],
  ['2026-01-01', Number.NaN],
  ['2026-01-01T00:00:30', Number.NaN],
  ['tomorrow', Number.NaN],
  ['5', Number.NaN],
  ['2026-03-01 10:00:00', Number.NaN],
  ['Sunday, 06-Nov-94 08:49:37 GMT', 784_111_777],
  ['Sun Nov  6 08:49:37 1994', 784_111_777],
  ['Sun, 06 Nov 1994 08:49:37', Number.NaN],
])('a time of a header %j is %d in Unix seconds', (text, seconds) => {
  expect(headerTimeS(text)).toBe(seconds)
})
