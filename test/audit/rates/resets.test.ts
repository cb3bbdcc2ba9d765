import { expect, test } from 'vitest'
import { historyOf } from '../../../src/audit/rules/rates/history.ts'
import { readResets } from '../../../src/audit/rules/rates/resets.ts'
import { evidenceOf, rowOf } from './evidence.ts'

test('what the resets mean is read once for all rules, and again for another history', async () => {
  const rows = [rowOf(0, 0, { rateLimit: 10, rateRemaining: 9, rateReset: 60 })]
  const [evidence, other] = await Promise.all([evidenceOf(rows), evidenceOf(rows)])
  const history = await historyOf(evidence)
  const reading = readResets(history, evidence)
  expect(reading.samples).toHaveLength(1)
  expect(readResets(history, evidence)).toBe(reading)
  expect(readResets(await historyOf(other), other)).not.toBe(reading)
})
