import { expect, test } from 'vitest'
import { auditScenarios, tryScenario } from '../../bench/audit-scenarios.ts'

/** The service's time passes so many times as fast, and the scenarios with it. */
const scale = 20

/** At a desk the long one, and all but one fault, are left to CI and `node bench/audit-scenarios.ts`. */
const everything = process.env.CI !== undefined
const quick = auditScenarios.filter(({ name }) => everything || name !== 'audit-limits')

test.concurrent.each(quick)(
  '$name fails nothing on an honest service, for no more than it said',
  { timeout: 120_000 },
  async (scenario) => {
    const outcome = await tryScenario(scenario, [], scale)
    expect(outcome).toMatchObject({ failed: [], auditCode: 0 })
    expect(outcome.passed).toBeGreaterThan(30)
    expect(outcome.tookCredits).toBeGreaterThan(20)
    expect(outcome.tookCredits).toBeLessThanOrEqual(outcome.mostCredits)
  },
)

test.concurrent.each(everything ? quick : quick.slice(0, 1))(
  '$name finds $fault by $rule and ends with 3',
  { timeout: 120_000 },
  async (scenario) => {
    const outcome = await tryScenario(scenario, [scenario.fault], scale)
    expect(outcome.failed).toContain(scenario.rule)
    expect(outcome.auditCode).toBe(3)
  },
)
