import { expect, test } from 'vitest'
import { failed, planned, sent } from './sold-scenario.ts'

test('audit-tier says its price before, costs no more, accuses no honest service, and tells a tier that is not served', {
  tags: 'whole',
  timeout: 600_000,
}, async () => {
  const honest = await sent('audit-tier')
  expect([0, 4]).toContain(honest.code)
  expect(honest.plan).toContain('Nothing was sent.')
  expect([160, 161]).toContain(honest.requests)
  expect(honest.costUsd).toBeGreaterThan(0)
  expect(honest.costUsd).toBeLessThanOrEqual(planned(honest.plan))
  expect(failed(honest)).toEqual([])

  const ignored = await sent('audit-tier', ['tier-ignored'])
  // 4 says that the machine is too busy for times: then they may decide nothing, but never for the service.
  const { verdict } = ignored.verdicts.get('SOLD-08')!
  expect(ignored.code === 4 ? ['fail', 'inconclusive'] : ['fail']).toContain(verdict)
})
