import { expect, test } from 'vitest'
import { historyOf } from '../../../src/audit/rules/rates/history.ts'
import { readResets } from '../../../src/audit/rules/rates/resets.ts'
import type { DeploymentProfile } from '../../../src/contract/profile.ts'
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

test('if two units of resets fit, the one of the contract counts, else the one of the probe', async () => {
  const rows = [rowOf(0, 0, { rateLimit: 10, rateRemaining: 9, rateReset: 30 })]
  const unitsWith = async (resetFormat: 'delta-ms' | 'epoch-ms') => {
    // A reading is kept for its history, so each contract has its own.
    const evidence = await evidenceOf(rows)
    const profile = {
      answers: { 'G-21': { status: 'answered', is: { unit: 'delta-s' }, evidence: [] } },
    } as unknown as DeploymentProfile
    const contract = { ...evidence.contract, resetFormat }
    return readResets(await historyOf(evidence), { ...evidence, contract, profile }).inference.units
  }
  expect(await unitsWith('delta-ms')).toEqual(['delta-ms'])
  // 30 is no time in Unix milliseconds.
  expect(await unitsWith('epoch-ms')).toEqual(['delta-s'])
})
