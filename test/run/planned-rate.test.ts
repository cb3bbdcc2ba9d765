import { expect, test } from 'vitest'
import type { PhaseRun, SenderLoad } from '../../src/run/crew/messages.ts'
import { plannedBetween } from '../../src/run/plan/planned-rate.ts'
import { parseScenario } from '../../src/scenario/parse.ts'
import { amountBy } from '../../src/schedule/rate-curve.ts'
import { plainRow } from '../../src/schedule/traces/trace.ts'

const scenario = parseScenario(
  `name: n
question: q
model: svc-k2
steps:
  often: { endpoint: chat, weight: 3 }
  seldom: { endpoint: chat, weight: 1 }
phases: [{ name: p, load: constant, rate: 1/s, duration: 1s }]`,
  'test.yaml',
)

const phase = (load: SenderLoad, more: Partial<PhaseRun> = {}): PhaseRun => ({
  ordinal: 0,
  name: 'p',
  part: 'steady',
  load,
  startUs: 1e6,
  durationUs: 10e6,
  maxRequests: null,
  steps: [0, 1],
  slotBase: 0,
  ...more,
})

const arrivals = (fromPerS: number, toPerS = fromPerS): SenderLoad => ({
  kind: 'arrivals',
  spacing: { kind: 'poisson' },
  rate: [{ durationUs: 10e6, fromPerS, toPerS }],
})
const users: SenderLoad = {
  kind: 'concurrency',
  fromUsers: 4,
  toUsers: 4,
  rampUs: 0,
  think: { kind: 'fixed', us: 0 },
}

test('the planned rate is divided by the weights of the steps, sent or not', () => {
  expect(plannedBetween(scenario, [phase(arrivals(40))], 3e6, 4e6)).toEqual([30, 10])
  // The half before the phase, or after its end, plans nothing.
  expect(plannedBetween(scenario, [phase(arrivals(40))], 0.5e6, 1.5e6)).toEqual([15, 5])
  expect(plannedBetween(scenario, [phase(arrivals(40))], 10.5e6, 11.5e6)).toEqual([15, 5])
  expect(plannedBetween(scenario, [phase(arrivals(40))], 12e6, 13e6)).toEqual([0, 0])
})

test('a ramp plans the area under it', () => {
  expect(amountBy([{ durationUs: 10e6, fromPerS: 0, toPerS: 100 }], 5e6)).toBe(125)
  expect(plannedBetween(scenario, [phase(arrivals(0, 100))], 5e6, 7e6)).toEqual([75, 25])
})

test('no more is planned than a phase may send', () => {
  const few = phase(arrivals(40), { durationUs: null, maxRequests: 60 })
  expect(plannedBetween(scenario, [few], 2e6, 3e6)).toEqual([15, 5])
  expect(plannedBetween(scenario, [few], 4e6, 5e6)).toEqual([0, 0])
})

test('a trace plans its requests at its speed', () => {
  const requests = Array.from({ length: 100 }, (_, at) => ({
    ...plainRow(0, 1, 1),
    atUs: at * 1e6,
  }))
  const replay = phase(
    { kind: 'replay', requests, tokensPerBlock: null, speed: 10 },
    { durationUs: null },
  )
  expect(plannedBetween(scenario, [replay], 2e6, 4e6)).toEqual([15, 5])
})

test('a load of tasks or sessions is open if their starts are planned: their requests follow answers', () => {
  const sessions = {
    kind: 'replay',
    requests: [],
    tokensPerBlock: null,
    speed: 1,
    sessions: [],
  } as const
  const planned = (load: SenderLoad, more: Partial<PhaseRun> = {}) =>
    plannedBetween(scenario, [phase(load, more)], 3e6, 4e6)
  expect(planned(arrivals(40), { taskIndexes: [0] })).toEqual([0, 0])
  expect(planned(sessions)).toEqual([0, 0])
  expect(planned(users, { taskIndexes: [0] })).toEqual([null, null])
  expect(planned({ ...sessions, users: 3 })).toEqual([null, null])
})

test('users have no planned rate, and phases after them do', () => {
  const phases = [
    phase(users, { steps: [0] }),
    phase(arrivals(8), { startUs: 11e6, steps: [0, 1] }),
  ]
  expect(plannedBetween(scenario, phases, 3e6, 4e6)).toEqual([null, 0])
  expect(plannedBetween(scenario, phases, 12e6, 13e6)).toEqual([6, 2])
})

test('a step whose load waits for answers in one phase has no planned rate, in either order of phases', () => {
  const closed = phase(users, { startUs: 1e6, durationUs: 2e6 })
  const open = phase(arrivals(40), { startUs: 3e6 })
  for (const phases of [
    [closed, open],
    [open, closed],
  ])
    expect(plannedBetween(scenario, phases, 2e6, 4e6)).toEqual([null, null])
})

test('a closed phase that ended by its number of requests ends where the next phase begins', () => {
  const closed = phase(users, { durationUs: null, maxRequests: 5 })
  const open = phase(arrivals(40), { ordinal: 1, startUs: 3e6 })
  expect(plannedBetween(scenario, [closed, open], 4e6, 5e6)).toEqual([30, 10])
  expect(plannedBetween(scenario, [closed], 4e6, 5e6)).toEqual([null, null])
})
