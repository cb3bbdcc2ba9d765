import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { StepCounters } from '../../src/run/count/attempt-counts.ts'
import { Tally } from '../../src/run/count/tally.ts'
import { TimeHistogram } from '../../src/run/count/time-histogram.ts'
import type { PhaseRun, SenderReport } from '../../src/run/crew/messages.ts'
import { SharedNumbers } from '../../src/run/crew/shared.ts'
import { cheapestOf, Refusals, reasonToStop } from '../../src/run/crew/stop-conditions.ts'
import { Budget } from '../../src/run/money/budget.ts'
import { chatScenario } from './target.ts'

const phase: PhaseRun = {
  ordinal: 0,
  name: 'steady',
  part: 'steady',
  load: { kind: 'arrivals', spacing: { kind: 'constant' }, rate: [] },
  startUs: 0,
  durationUs: 1e6,
  maxRequests: null,
  steps: [0],
  slotBase: 0,
}

function reportOf(counters: StepCounters, response = new TimeHistogram()): SenderReport {
  return {
    type: 'report',
    shard: 0,
    atUs: 1e6,
    steps: [{ ordinal: 0, step: 0, counters, histograms: { response: response.slice() } }],
    keys: [],
    inFlight: 0,
    health: {
      runId: 'r',
      shard: 0,
      atUs: 1e6,
      loopDelayP99Us: 0,
      loopGapUs: 0,
      loopGapEndUs: null,
      utilisation: 0,
      lagP99Us: null,
      inFlight: 0,
      queuedBatches: 0,
    },
  }
}

/** The reason why a run with one thread and these counts would stop. */
function reason(
  more: string,
  count: (counters: StepCounters, shared: SharedNumbers) => void,
  step = '',
  refusedUs = 0,
) {
  const scenario = chatScenario(
    '  - { name: steady, load: constant, rate: 1/s, duration: 1s }',
    more,
    step,
  )
  const tally = new Tally(scenario, 'r', [phase])
  const counters = new StepCounters()
  const shared = new SharedNumbers()
  shared.bound = scenario.policy.maxCredits ?? Infinity
  count(counters, shared)
  const slow = new TimeHistogram()
  for (let at = 0; at < 200; at++) slow.record(50_000)
  tally.add(reportOf(counters, slow))
  const { isSpent } = new Budget(shared, null, cheapestOf(scenario, defaultContract))
  return reasonToStop(scenario, tally, shared, isSpent, refusedUs)
}

test('a run continues while no stop condition applies', () => {
  expect(reason('stop: { error_share: 10%, consecutive_failures: 5 }', () => {})).toBeNull()
})

test('an error share stops it from the hundredth request on', () => {
  const half = (sent: number) => (counters: StepCounters) => {
    counters.sent = sent
    counters.failures = sent / 2
  }
  expect(reason('stop: { error_share: 40% }', half(98))).toBeNull()
  expect(reason('stop: { error_share: 40% }', half(100))).toBe('errors')
  expect(reason('stop: { error_share: 60% }', half(1000))).toBeNull()
})

test('consecutive failures count over all threads, and a success resets the count', () => {
  const row = (successAt: number) => (_: StepCounters, shared: SharedNumbers) => {
    for (let at = 0; at < 10; at++) {
      if (at === successAt) shared.succeeded()
      new SharedNumbers(shared.buffer).failed()
    }
  }
  expect(reason('stop: { consecutive_failures: 10 }', row(-1))).toBe('errors')
  expect(reason('stop: { consecutive_failures: 10 }', row(5))).toBeNull()
})

test('a service that went away before its first answer is unreachable', () => {
  expect(
    reason('', (counters) => {
      counters.sent = 50
      for (let at = 0; at < 50; at++) counters.error('connect-refused')
    }),
  ).toBe('unreachable')
})

/**
 * For how long every request was refused, after looks at these times with these sent counts and
 * errors.
 */
function refused(
  looks: readonly (readonly [s: number, sent: number, errors: Readonly<Record<string, number>>])[],
  step = '',
): number {
  const scenario = chatScenario(
    '  - { name: steady, load: constant, rate: 1/s, duration: 1s }',
    '',
    step,
  )
  const refusals = new Refusals()
  return looks.reduce((_, [s, sent, errors]) => {
    const counters = Object.assign(new StepCounters(), { sent })
    for (const [words, count] of Object.entries(errors)) counters.errors.set(words, count)
    const tally = new Tally(scenario, 'r', [phase])
    tally.add(reportOf(counters))
    return refusals.lastedUs(scenario, tally, s * 1e6) / 1e6
  }, 0)
}

test('a service counts as refusing while nothing else came, from a hundred requests on', () => {
  expect(
    refused([
      [1, 500, {}],
      [2, 560, { 'connect-refused': 60 }],
      [31, 599, { 'connect-refused': 99 }],
    ]),
  ).toBe(0)
  expect(
    refused([
      [1, 500, {}],
      [2, 560, { 'connect-refused': 60 }],
      [31, 600, { 'connect-refused': 100 }],
    ]),
  ).toBe(30)
  expect(
    refused([
      [1, 500, {}],
      [9, 500, {}],
      [31, 600, { '401 invalid_api_key': 100 }],
    ]),
  ).toBe(22)
  // It recovered in between.
  expect(
    refused([
      [1, 500, {}],
      [20, 700, { 'connect-refused': 200 }],
      [31, 900, { 'connect-refused': 399 }],
    ]),
  ).toBe(0)
  // Reaching a rate limit may be the purpose of a load.
  expect(
    refused([
      [1, 500, {}],
      [31, 900, { '429 rate_limit_exceeded': 400 }],
    ]),
  ).toBe(0)
})

test('a step that is wrong on purpose may be refused forever', () => {
  expect(
    refused(
      [
        [1, 10, {}],
        [90, 900, { '401 invalid_api_key': 890 }],
      ],
      ', wrong: missing-key',
    ),
  ).toBe(0)
})

test('a run ends after 30 s of refusals, or after the time that the scenario sets', () => {
  expect(reason('', () => {}, '', 29e6)).toBeNull()
  expect(reason('', () => {}, '', 30e6)).toBe('errors')
  expect(reason('stop: { refused_for: 2m }', () => {}, '', 119e6)).toBeNull()
  expect(() => reason('stop: { refused_for: 0s }', () => {}, '', 1e6)).toThrow('a duration above 0')
})

test('a budget stops it once a request was refused and all credits are spent or reserved', () => {
  const spend =
    (credits: number, notSent: number) => (counters: StepCounters, shared: SharedNumbers) => {
      shared.reserve(credits)
      counters.notSent = notSent
    }
  expect(reason('max_credits: 10', spend(10, 0))).toBeNull()
  expect(reason('max_credits: 10', spend(9, 1))).toBeNull()
  expect(reason('max_credits: 10', spend(10, 1))).toBe('budget')
  // One credit is left, and the cheapest request costs two.
  const dear = ", model: 'svc-k2.5'"
  expect(reason('max_credits: 10', spend(9, 1), dear)).toBe('budget')
  expect(reason('max_credits: 10', spend(8, 1), dear)).toBeNull()
  // Nothing costs credits: the refusals have another reason.
  expect(reason('max_credits: 10', spend(0, 1), ', wrong: missing-key')).toBeNull()
})

test('only missed thresholds with abort stop it', () => {
  expect(reason('thresholds: [chat.response.p50 < 1ms]', () => {})).toBeNull()
  const abort = (check: string) => `thresholds: [{ check: '${check}', abort: true }]`
  expect(reason(abort('chat.response.p50 < 1ms'), () => {})).toBe('threshold')
  expect(reason(abort('chat.response.p50 < 1s'), () => {})).toBeNull()
  expect(reason(abort('chat.ttft.p50 < 1ms'), () => {})).toBeNull()
})

test('reserved credits never exceed the bound, whichever thread reserves them', () => {
  const shared = new SharedNumbers()
  shared.bound = 30
  const granted = Array.from({ length: 20 }, () =>
    new SharedNumbers(shared.buffer).reserve(3),
  ).filter(Boolean).length
  expect(granted).toBe(10)
  shared.release(3)
  expect(shared.reserve(3)).toBe(true)
  expect(shared.credits).toBe(30)
})

test('the share of unsent requests is of all planned ones', () => {
  const abort = (check: string) =>
    reason(`thresholds: [{ check: '${check}', abort: true }]`, (counters) => {
      counters.planned = 200
      counters.sent = 150
      counters.notSent = 50
    })
  expect(abort('not_sent <= 25%')).toBeNull()
  expect(abort('not_sent < 25%')).toBe('threshold')
})

test('an answer to a request that is wrong on purpose is no success', () => {
  // Of 100 requests that were meant to succeed 50 did; 100 others were answered, though they should be refused.
  const abort = (check: string) =>
    reason(`thresholds: [{ check: '${check}', abort: true }]`, (counters) => {
      Object.assign(counters, { sent: 200, ok: 150, httpError: 50, judged: 100, succeeded: 50 })
    })
  expect(abort('success >= 50%')).toBeNull()
  expect(abort('success > 50%')).toBe('threshold')
  expect(abort('success.count <= 50')).toBeNull()
  expect(abort('success.count < 50')).toBe('threshold')
})

test('a count that is not reached yet is not missed before the end', () => {
  const counted = (check: string) =>
    reason(`thresholds: [{ check: '${check}', abort: true }]`, (counters) => {
      counters.sent = 150
      counters.ok = 150
    })
  expect(counted('requests >= 1000')).toBeNull()
  expect(counted('requests < 100')).toBe('threshold')
  expect(counted('requests.count < 1000')).toBeNull()
})
