import { expect, test } from 'vitest'
import { auditScenarios, tryScenario } from '../../bench/audit-scenarios.ts'

/** The service's clock runs this many times as fast, and the scenarios with it. */
const scale = 20

/** All at once, each of three processes: on two shared cores that took forty seconds. */
const timeout = 300_000

/**
 * The longest scenario runs only in `node bench/audit-scenarios.ts`, and all faults but one only at
 * night.
 */
const quick = auditScenarios.filter(({ name }) => name !== 'audit-limits')
const faulty = process.env.NIGHTLY === undefined ? quick.slice(0, 1) : quick

test.concurrent.each(quick)(
  '$name fails nothing on an honest service, and costs no more than announced',
  { tags: 'whole', timeout },
  async (scenario) => {
    const outcome = await tryScenario(scenario, [], scale)
    expect(outcome).toMatchObject({ failed: [], auditCode: 0 })
    expect(outcome.passed).toBeGreaterThan(30)
    expect(outcome.tookCredits).toBeGreaterThan(20)
    expect(outcome.tookCredits).toBeLessThanOrEqual(outcome.mostCredits)
  },
)

test.concurrent.each(faulty)(
  '$name finds $fault by $rule and ends with 3',
  { tags: 'whole', timeout },
  async (scenario) => {
    const outcome = await tryScenario(scenario, [scenario.fault], scale)
    expect(outcome.failed).toContain(scenario.rule)
    expect(outcome.auditCode).toBe(3)
  },
)
