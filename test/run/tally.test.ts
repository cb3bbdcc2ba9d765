import { expect, test } from 'vitest'
import { Counts } from '../../src/run/counts.ts'
import { StepCounters } from '../../src/run/ledger.ts'
import type { PhaseRun, SenderReport } from '../../src/run/messages.ts'
import { Tally } from '../../src/run/tally.ts'
import { parseScenario } from '../../src/scenario/parse.ts'

const stepCount = 400

function tallyOf(phaseCount: number): Tally {
  const names = Array.from({ length: stepCount }, (_, at) => `step-${at}`)
  const scenario = parseScenario(
    `name: many
question: How many?
model: svc-k2
steps: { ${names.map((name) => `${name}: { endpoint: chat }`).join(', ')} }
phases: [{ name: a, load: constant, rate: 1/s, duration: 1s }]
`,
    'many.yaml',
  )
  const phases = Array.from({ length: phaseCount }, (_, ordinal) => ({
    ordinal,
    name: `phase-${ordinal}`,
    part: 'steady',
    load: { kind: 'concurrency', fromUsers: 1, toUsers: 1, rampUs: 0, think: null },
    startUs: 0,
    durationUs: 1e6,
    maxRequests: null,
    steps: names.map((_, at) => at),
    slotBase: 0,
  })) as unknown as PhaseRun[]
  const tally = new Tally(scenario, 'r', phases)
  const countsOf = (us: number) => {
    const counts = new Counts()
    counts.record(us)
    return counts.slice()
  }
  tally.add({
    type: 'report',
    shard: 0,
    atUs: 1e6,
    steps: phases.flatMap(({ ordinal }) =>
      names.map((_, step) => ({
        ordinal,
        step,
        counters: new StepCounters(),
        counts: { service: countsOf(1000 + step + ordinal), response: countsOf(2000) },
      })),
    ),
    keys: [],
    inFlight: 0,
    flightSeconds: 0,
  } as unknown as SenderReport)
  return tally
}

test('the progress of a step is that of all phases together', () => {
  const { steps } = tallyOf(2).progress(2e6, null)
  expect(steps).toHaveLength(stepCount)
  expect(steps[7]!.serviceUs).toEqual({ p50: 1007, p95: 1008, p99: 1008 })
  expect(steps[8]!.responseUs).toEqual({ p50: 2000, p95: 2000, p99: 2000 })
  expect(steps[8]!.ttftUs).toBe(null)
})

test('progress takes time in proportion to the steps, not to their square', () => {
  const tally = tallyOf(2)
  const began = process.cpuUsage()
  for (let nth = 0; nth < 3; nth++) tally.progress(2e6 + nth, null)
  const { user, system } = process.cpuUsage(began)
  // By the square it took 0.9 s; so it takes 0.03 s.
  expect((user + system) / 1e6).toBeLessThan(0.3)
})
