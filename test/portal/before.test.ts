import { expect, test } from 'vitest'
import { comparedWith } from '../../src/portal/figures/before.ts'
import { utc } from '../report/usage-events.ts'

const february = { fromUs: utc(2026, 2, 1), toUs: utc(2026, 3, 1), timezone: 'UTC' }
const compared = (firstUs: number, knownUs: number) => {
  const before = comparedWith(february, { firstUs, knownUs })
  return before === null ? null : [before.fromUs, before.toUs]
}

test('a month is compared as far as its use is known, and whole after its end', () => {
  const firstUs = utc(2025, 12, 1)
  expect(compared(firstUs, utc(2026, 2, 27, 18))).toEqual([utc(2026, 1, 1), utc(2026, 1, 27, 18)])
  expect(compared(firstUs, utc(2026, 3, 1, 1))).toEqual([utc(2026, 1, 1), utc(2026, 2, 1)])
})

test('a month before that began after its first tenth is no measure', () => {
  expect(compared(utc(2026, 1, 4), utc(2026, 3, 1, 1))).not.toBeNull()
  expect(compared(utc(2026, 1, 5), utc(2026, 3, 1, 1))).toBeNull()
})
