import { MessageChannel } from 'node:worker_threads'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  joinWaitMsOf,
  mustHaveOneClock,
  runIdOf,
  shardOf,
  startAtUsOf,
} from '../../src/cli/runs/shard.ts'
import type { AttemptClient } from '../../src/client/call/client.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { slotAfter, startAfter } from '../../src/run/crew/following.ts'
import type { PhaseRun } from '../../src/run/crew/messages.ts'
import { scenarioOf, unsharded } from '../../src/run/crew/shard.ts'
import { SharedNumbers } from '../../src/run/crew/shared.ts'
import { phaseLoads } from '../../src/run/plan/loads.ts'
import { stepsOf } from '../../src/run/plan/phase-steps.ts'
import { planOf } from '../../src/run/plan/plan.ts'
import { promptPools } from '../../src/run/plan/prompts.ts'
import type { Flight } from '../../src/run/send/flight.ts'
import { Sender } from '../../src/run/send/sender.ts'
import { parseScenario } from '../../src/scenario/parse.ts'
import type { Scenario } from '../../src/scenario/scenario.ts'

/** Phases from microsecond 0, as a coordinator arranges them. */
function laidOut(scenario: Scenario, seed: number): readonly PhaseRun[] {
  const runs: PhaseRun[] = []
  const loads = phaseLoads(scenario)
  for (const [ordinal, phase] of scenario.phases.entries()) {
    const before = runs.at(-1)
    runs.push({
      ...phase,
      ordinal,
      load: loads.load(phase),
      startUs: before === undefined ? 0 : startAfter(before, seed)!,
      slotBase: before === undefined ? 0 : slotAfter(before, scenario, seed),
      steps: stepsOf(scenario, phase.steps),
    })
  }
  return runs
}

/**
 * The part of a plan that the threads of one machine send, on a clock of the test: one line per
 * request.
 */
function sentBy(scenario: Scenario, seed: number, index: number, of: number) {
  const shared = new SharedNumbers()
  const sent: string[] = []
  const users: string[] = []
  const keys: number[] = []
  const threads = scenario.threads!
  const own = { ...scenarioOf(scenario, { index, of }), threads }
  for (let thread = 0; thread < threads; thread++) {
    let nowUs = 0
    const { port1 } = new MessageChannel()
    const sender = new Sender({
      data: {
        runId: 'r',
        shard: index * threads + thread,
        shards: of * threads,
        zeroNs: 0n,
        startedMs: 0,
        timeScale: 1,
        seed,
        baseUrl: 'http://127.0.0.1:9',
        contract: defaultContract,
        scenario: own,
        keys: own.keys.map((key) => ({ ...key, key: 'sk-x' })),
        secrets: [],
        prompts: promptPools(own, seed),
        tls: {},
        proxy: null,
        shared: shared.buffer,
        recorder: port1,
      },
      now: () => nowUs,
      client: {
        start: (_: unknown, flight: Flight) => {
          const { phase, plan, slot, turn, key, request, intendedUs } = flight
          keys.push(key)
          const body = Buffer.from(request.wire.body).toString()
          const { name, load } = phase.run
          if (load.kind === 'concurrency') users.push(`${name} ${slot}`)
          else sent.push([name, slot, turn, intendedUs, plan.step.name, key, body].join(' '))
          return { dispatchedUs: nowUs, abort: () => {} }
        },
      } as unknown as AttemptClient,
      prompts: [],
      tokenText: null,
      handOver: () => {},
      onIssued: () => {},
      onDrained: () => {},
      onIdle: () => {},
      onDueSooner: () => {},
    })
    port1.close()
    for (const run of laidOut(scenario, seed)) sender.addPhase(run)
    for (; nowUs < 3e6; nowUs += 10_000) sender.tick()
  }
  return { sent, users, keys }
}

const phase = fc.oneof(
  fc.record({
    load: fc.constantFrom('constant', 'poisson'),
    rate: fc
      .integer({ min: 1, max: 300 })
      .chain((perS) => fc.constantFrom(`${perS}/s`, { from: '9/s', to: `${perS}/s` })),
    duration: fc.integer({ min: 1, max: 400 }).map((ms) => `${ms}ms`),
  }),
  fc.record({
    load: fc.constant('gamma'),
    burstiness: fc.constantFrom(0.3, 1, 4),
    rate: fc.integer({ min: 1, max: 300 }).map((perS) => ({ from: '9/s', to: `${perS}/s` })),
    duration: fc.integer({ min: 1, max: 400 }).map((ms) => `${ms}ms`),
  }),
  fc.record({
    load: fc.constant('constant'),
    rate: fc.integer({ min: 50, max: 300 }).map((perS) => `${perS}/s`),
    max_requests: fc.integer({ min: 1, max: 20 }),
  }),
  fc.record({
    load: fc.constant('concurrency'),
    users: fc.integer({ min: 1, max: 40 }),
    duration: fc.integer({ min: 50, max: 200 }).map((ms) => `${ms}ms`),
  }),
)

function scenarioWith(more: object): Scenario {
  return parseScenario(
    JSON.stringify({
      name: 'parts',
      question: 'Is the union of the parts the whole?',
      model: 'svc-k2',
      keys: { one: { env: 'A' }, two: { env: 'B', weight: 3 } },
      max_in_flight: 10_000,
      steps: {
        chat: { endpoint: 'chat', weight: 2, prompt: 'Hello' },
        long: { endpoint: 'chat', prompt: { synthetic: { uniform: { min: 5, max: 20 } } } },
        talk: { endpoint: 'chat', prompt: 'Hello', session: { turns: 3 } },
      },
      ...more,
    }),
    'parts.yaml',
  )
}

/**
 * Checks that the shards together send the whole plan, each request once, with all users, and as
 * each plan says.
 */
function wholeOfShards(scenario: Scenario, seed: number, of: number) {
  const whole = sentBy(scenario, seed, 0, 1)
  const parts = Array.from({ length: of }, (_, index) => sentBy(scenario, seed, index, of))
  const sent = parts.flatMap((part) => part.sent)
  expect(sent.toSorted()).toEqual(whole.sent.toSorted())
  const users = parts.flatMap((part) => part.users)
  expect(users.length).toBe(whole.users.length)
  expect(new Set(users).size).toBe(users.length)
  for (const [index, part] of parts.entries()) {
    const planned = planOf(scenario, defaultContract, seed, { index, of })
    const requests = planned.reduce((sum, each) => sum + (each.requests ?? 0), 0)
    expect(part.sent.length).toBe(requests)
  }
  return parts
}

test('shards of any number send the whole plan, each request once, and have all its users', {
  tags: 'whole',
}, () => {
  fc.assert(
    fc.property(
      fc.array(phase, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 16 }),
      fc.integer({ min: 1, max: 3 }),
      fc.nat(),
      (phases, of, threads, seed) => {
        const scenario = scenarioWith({
          threads,
          phases: phases.map((each, at) => ({ name: `p${at}`, ...each })),
        })
        wholeOfShards(scenario, seed, of)
      },
    ),
    { numRuns: 40 },
  )
})

test('with shards by account, the whole plan is sent, and each account has one shard', {
  tags: 'whole',
}, () => {
  fc.assert(
    fc.property(
      fc.array(phase, { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 3 }),
      fc.nat(),
      (phases, of, threads, seed) => {
        // Seven keys on five accounts.
        const keys = Object.fromEntries(
          Array.from({ length: 7 }, (_, at) => [
            `k${at}`,
            { env: 'A', weight: 1 + (at % 3), account: `a${at % 5}` },
          ]),
        )
        const scenario = scenarioWith({
          threads,
          keys,
          shards: 'by account',
          phases: phases.map((each, at) => ({ name: `p${at}`, ...each })),
        })
        const parts = wholeOfShards(scenario, seed, of)
        const owner = new Map<string, number>()
        for (const [index, part] of parts.entries()) {
          for (const key of part.keys) {
            const { account } = scenario.keys[key]!
            expect(owner.get(account) ?? index).toBe(index)
            owner.set(account, index)
          }
        }
      },
    ),
    { numRuns: 40 },
  )
})

test('shards by account are refused with one sentence if there are fewer accounts than shards', () => {
  const phases = [{ name: 'p', load: 'constant', rate: '1/s', duration: '1s' }]
  const scenario = scenarioWith({ shards: 'by account', phases })
  expect(scenarioOf(scenario, { index: 0, of: 2 }).shards).toBe('by account')
  expect(() => scenarioOf(scenario, { index: 0, of: 3 })).toThrow(
    'the accounts of the phase p are enough for 2 of 3 shards',
  )
})

const steady = [{ name: 'steady', load: 'constant', rate: '1/s', duration: '1s' }]

test('the credit shares of all shards add up to the bound', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e9 }), fc.integer({ min: 1, max: 16 }), (most, of) => {
      const scenario = scenarioWith({ max_credits: most, phases: steady })
      const shares = Array.from(
        { length: of },
        (_, index) => scenarioOf(scenario, { index, of }).policy.maxCredits!,
      )
      expect(shares.reduce((sum, share) => sum + share, 0)).toBe(most)
    }),
  )
})

test.each([
  [{ load: 'sweep', start: '1/s', max: '9/s', trial: '1s' }, 'the next rate of the sweep p'],
  [{ load: 'concurrency', users: 2, max_requests: 9 }, 'p is closed and ends by max_requests'],
])(
  'a load that needs communication between machines is refused in one sentence',
  (load, summary) => {
    const scenario = scenarioWith({
      objectives: { service: '1s' },
      phases: [{ name: 'p', ...load }],
    })
    expect(() => scenarioOf(scenario, { index: 0, of: 2 })).toThrow(summary)
    expect(scenarioOf(scenario, unsharded)).toBe(scenario)
  },
)

test('a bound of less than one per sending thread is refused', () => {
  const scenario = scenarioWith({ threads: 2, max_in_flight: 7, phases: steady })
  expect(() => scenarioOf(scenario, { index: 0, of: 4 })).toThrow(
    'max_in_flight is 7, less than the 8 sending threads of 4 shards',
  )
})

test('the index of a shard is given or comes from the scheduler, and is always below the count', () => {
  expect(shardOf('3/8', { JOB_COMPLETION_INDEX: '5' })).toEqual({ index: 3, of: 8 })
  expect(shardOf('8', { JOB_COMPLETION_INDEX: '5' })).toEqual({ index: 5, of: 8 })
  expect(shardOf('8', { SLURM_ARRAY_TASK_ID: '0' })).toEqual({ index: 0, of: 8 })
  expect(shardOf('8', { CI_NODE_INDEX: '8' })).toEqual({ index: 7, of: 8 })
  expect(shardOf(undefined, { CI_NODE_INDEX: '8' })).toEqual({ index: 0, of: 1 })
  expect(() => shardOf('8', {})).toThrow('no index is given')
  expect(() => shardOf('8', { CI_NODE_INDEX: '0' })).toThrow('got -1/8')
  for (const wrong of ['8/8', 'x', '1/0', '-1/2']) {
    expect(() => shardOf(wrong, {})).toThrow(`got ${wrong}`)
  }
})

test('shards need one name and one start, which must be near', () => {
  const shard = { index: 0, of: 2 }
  expect(() => mustHaveOneClock(shard, { runId: 'a' })).toThrow(
    'the same --run-id, and the same --start-at or --join',
  )
  const join = 'nats://127.0.0.1:4222'
  expect(() => mustHaveOneClock(shard, { runId: 'a', join })).not.toThrow()
  expect(() => mustHaveOneClock(shard, { join })).toThrow('the same --run-id')
  expect(() => mustHaveOneClock(unsharded, { runId: 'a', join })).toThrow('as --shard 3/8')
  const startAt = '2026-12-01T10:00:00Z'
  expect(() => mustHaveOneClock(shard, { runId: 'a', join, startAt })).toThrow(
    'leave out --start-at',
  )
  expect(joinWaitMsOf('2m')).toBe(120_000)
  expect(() => joinWaitMsOf('soon')).toThrow('expected a duration, such as 5m; got soon.')
  expect(runIdOf('launch-7')).toBe('launch-7')
  expect(() => runIdOf('../x')).toThrow('got "../x"')
  const nowMs = Date.parse('2026-12-01T09:00:00Z')
  expect(startAtUsOf('2026-12-01T10:00:00Z', nowMs)).toBe((nowMs + 3_600_000) * 1000)
  for (const wrong of ['2026-12-01T10:00:00', 'noon', '2027-12-01T10:00:00Z']) {
    expect(() => startAtUsOf(wrong, nowMs)).toThrow(`got ${wrong}`)
  }
  const february = Date.parse('2026-02-27T09:00:00Z')
  expect(() => startAtUsOf('2026-02-30T10:00:00Z', february)).toThrow('got 2026-02-30T10:00:00Z')
})
