import { expect, test } from 'vitest'
import { failed, planned, sent } from './sold-scenario.ts'

const whole = { tags: 'whole', timeout: 600_000 }

test.each([
  // One or two more than planned: the first requests, plain and as a stream, by which a run knows that the service answers.
  ['audit-integrity', 78, ['SOLD-01', 'SOLD-02', 'SOLD-09'], 'token-inflation', 'SOLD-01'],
  ['integrity-session', 100, ['SOLD-02'], 'hidden-prompt', 'SOLD-02'],
  ['audit-context', 2, ['SOLD-03'], 'cached-too-many', 'SOLD-04'],
  ['audit-cache', 80, ['SOLD-04'], 'cached-too-many', 'SOLD-04'],
  ['audit-tools', 100, ['SOLD-07'], 'tool-rewritten', 'SOLD-07'],
])(
  '%s says its price before, costs no more, accuses no honest service, and tells a fault',
  whole,
  async (name, requests, passed, fault, rule) => {
    const honest = await sent(name)
    // 4 says that the machine is too busy for times; counts stay.
    expect([0, 4]).toContain(honest.code)
    expect(honest.plan).toContain('Nothing was sent.')
    expect(honest.requests - requests).toBeLessThanOrEqual(2)
    expect(honest.requests).toBeGreaterThanOrEqual(requests)
    expect(honest.costUsd).toBeGreaterThan(0)
    expect(honest.costUsd).toBeLessThanOrEqual(planned(honest.plan))
    expect(failed(honest)).toEqual([])
    for (const each of passed)
      expect([each, honest.verdicts.get(each)!.verdict]).toEqual([each, 'pass'])

    // The request before the load is no session of its own.
    if (name === 'integrity-session')
      expect(honest.verdicts.get('SOLD-05')).toMatchObject({
        requires: expect.stringContaining('1 were seen'),
      })

    expect(failed(await sent(name, [fault]))).toContain(rule)
  },
)

test.each([
  ['audit-integrity', 0.01],
  ['audit-cache', 0.05],
])('%s with --max-cost %d sends nothing beyond it', whole, async (name, most) => {
  const held = await sent(name, [], ['--max-cost', String(most)])
  expect(held.plan).toContain(`At most ${most} USD in all, by max_cost`)
  expect(held.costUsd).toBeGreaterThan(0)
  expect(held.costUsd).toBeLessThanOrEqual(most)
  expect(held.requests).toBeGreaterThan(1)
})
