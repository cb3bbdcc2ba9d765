import { expect, test } from 'vitest'
import { LatencyOverTime } from '../../../src/cli/live/latency-over-time.ts'
import { drawChart } from '../../../src/cli/live/lines.ts'
import { RunPage } from '../../../src/cli/live/run-page.ts'
import { StepCounters } from '../../../src/run/count/attempt-counts.ts'
import { Tally } from '../../../src/run/count/tally.ts'
import { TimeHistogram } from '../../../src/run/count/time-histogram.ts'
import type { PhaseRun } from '../../../src/run/crew/messages.ts'
import { chatScenario } from '../../run/target.ts'

const scenario = chatScenario(
  '  - { name: steady, load: constant, rate: 20/s, duration: 60s }',
  'thresholds: [response.p95 < 1s, errors < 1%, chat.tpot.p50 < 1s, response.p50 < 10ms]',
)

const phaseAt = (ordinal: number, perS: number): PhaseRun => ({
  ...{ ordinal, name: `at-${perS}`, part: 'steady', startUs: ordinal * 1e6, durationUs: 1e6 },
  ...{ maxRequests: null, steps: [0], slotBase: 0 },
  load: {
    kind: 'arrivals',
    spacing: { kind: 'constant' },
    rate: [{ durationUs: 1e6, fromPerS: perS, toPerS: perS }],
  },
})

interface Second {
  readonly ordinal?: number
  readonly requests: number
  readonly ms: number
  readonly failed?: number
  readonly lagMs?: number
}

/** The page after these seconds, as text without tags. */
function pageAfter(seconds: readonly Second[]): string {
  const phases = [phaseAt(0, 20), phaseAt(1, 40)]
  const tally = new Tally(scenario, 'run-1', phases)
  const page = new RunPage(scenario, 'http://127.0.0.1:1')
  const counters = [new StepCounters(), new StepCounters()]
  for (const [at, { ordinal = 0, requests, ms, failed = 0, lagMs = 0 }] of seconds.entries()) {
    const times = new TimeHistogram()
    for (let each = 0; each < requests - failed; each++) times.record(ms * 1000)
    const of = counters[ordinal]!
    of.planned += requests
    of.sent += requests
    of.ok += requests - failed
    of.failures += failed
    const atUs = (at + 1) * 2e6
    tally.add({
      ...{ type: 'report', shard: 0, atUs, keys: [], inFlight: 0 },
      steps: counters.map((each, nth) => ({
        ...{ ordinal: nth, step: 0, counters: each },
        histograms: nth === ordinal ? { response: times.slice() } : {},
      })),
      health: {
        ...{ runId: 'run-1', shard: 0, atUs, loopDelayP99Us: 0, loopGapUs: 0, loopGapEndUs: null },
        ...{ utilisation: 0, lagP99Us: lagMs * 1000, inFlight: 0, queuedBatches: 0 },
      },
    } as Parameters<Tally['add']>[0])
    page.add(tally.progress(atUs, 60e6), tally)
  }
  return page
    .body()
    .text.replaceAll(/<[^>]*aria-label="([^"]*)"[^>]*>/g, ' [$1] ')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('&#60;', '<')
}

test('a live run shows the question, the thresholds so far, and which only the end decides', () => {
  const text = pageAfter([
    { requests: 100, ms: 20 },
    { requests: 100, ms: 20 },
  ])
  expect(text).toContain('So far response.p50 < 10ms is missed')
  expect(text).toContain('response.p95 < 1s holds so far: 20.01 ms, n = 200')
  expect(text).toContain('errors < 1% holds so far: 0 %, n = 200')
  expect(text).toContain('chat.tpot.p50 < 1s judged at the end')
  expect(text).toContain('Response time p95 20.0 ms p50 20.0 ms')
})

test('a threshold with few samples is open, not held and not missed', () => {
  const text = pageAfter([
    { requests: 20, ms: 20, failed: 5 },
    { requests: 20, ms: 20 },
  ])
  expect(text).toContain('So far 12.5 % of the requests failed')
  expect(text).toContain('errors < 1% open: 12.5 %, n = 40')
  expect(text).toContain('response.p95 < 1s open: 20.01 ms, n = 35')
  expect(text).toContain('Response time p50 20.0 ms n = 35')
})

test('a client that sends late raises an alarm, which stays as a line', () => {
  const late = [
    { requests: 10, ms: 20, lagMs: 117 },
    { requests: 10, ms: 20 },
  ]
  const summary =
    'This client sends late: lag up to 117 ms, 2.0 s after the start; less than 5.00 ms was harmless then'
  expect(pageAfter(late)).toContain('This client sends late: its times are in doubt')
  expect(pageAfter(late)).toContain(summary)
  const later = pageAfter([...late, ...Array.from({ length: 5 }, () => late[1]!)])
  expect(later).not.toContain('its times are in doubt')
  expect(later).toContain(summary)
  expect(pageAfter([{ requests: 10, ms: 20, lagMs: 4 }])).not.toContain('late')
})

test('the greatest lag stands beside the bound of its own second', () => {
  const slower = [
    { requests: 10, ms: 20, lagMs: 7 },
    { requests: 1000, ms: 3000, lagMs: 6 },
  ]
  expect(pageAfter(slower)).toContain(
    'lag up to 7.00 ms, 2.0 s after the start; less than 5.00 ms was harmless then',
  )
})

test('times are drawn against load once there are two loads, and over time', () => {
  const one = [
    { requests: 100, ms: 20 },
    { requests: 100, ms: 30 },
  ]
  expect(pageAfter(one)).toContain('[Response time, ms, now: p50 30]')
  expect(pageAfter(one)).not.toContain('against load')
  expect(pageAfter([...one, { ordinal: 1, requests: 200, ms: 80 }])).toContain(
    '[Response time against load, ms, now: p50 80, p95 80]',
  )
})

test('a line of many points is drawn to its end, and its table has the last ones', () => {
  const points = Array.from({ length: 600 }, (_, at) => [at, at / 7] as const)
  const lines = [{ name: 'p50', color: 'c1', points }]
  const { text } = drawChart({ title: 'Times', along: 's', lines })!
  expect(text.match(/points="([^"]*)"/)![1]!.split(' ')).toHaveLength(600)
  expect(text.match(/<tr>/g)).toHaveLength(61)
  expect(text).toMatch(/<tbody><tr><th scope="row"[^>]*>599<\/th><td class="num">85.57/)
})

test('an interval of a percentile is as long as it needs samples', () => {
  const course = new LatencyOverTime()
  const whole = new TimeHistogram()
  for (let second = 1; second <= 26; second++) {
    for (let each = 0; each < 10; each++) whole.record(second * 1000)
    const now = new TimeHistogram()
    now.add(whole.slice())
    course.add(second, now)
  }
  const [p50, p95, p99] = course.lines().map(({ points }) => points.map(([at]) => at))
  expect(p50!.slice(0, 3)).toEqual([2, 4, 6])
  expect(p95).toEqual([13, 26])
  expect(p99).toEqual([])
})
