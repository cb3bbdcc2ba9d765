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

test('a limit of 0 on an answer, which some gateways write for none, leaves the unit of resets known', async () => {
  const rows = [0, 60, 60].map((rateLimit, at) =>
    rowOf(at, at * 1000, { rateLimit, rateRemaining: 50, rateReset: 30 - at }),
  )
  const evidence = await evidenceOf(rows)
  const { samples, inference } = readResets(await historyOf(evidence), evidence)
  expect([...samples].every(({ windowUs }) => windowUs >= 60e6)).toBe(true)
  expect(inference.units).toContain('delta-s')
})
