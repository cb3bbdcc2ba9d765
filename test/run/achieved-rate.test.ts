import { MessageChannel } from 'node:worker_threads'
import { expect, test } from 'vitest'
import type { AttemptClient } from '../../src/client/call/client.ts'
import { defaultContract } from '../../src/contract/default.ts'
import type { PhaseRun } from '../../src/run/crew/messages.ts'
import { SharedNumbers } from '../../src/run/crew/shared.ts'
import { arrivalsOf } from '../../src/run/plan/phase-arrivals.ts'
import { Sender } from '../../src/run/send/sender.ts'
import { RandomStream } from '../../src/schedule/random.ts'
import { chatScenario, key } from './target.ts'

const seconds = 10

/**
 * Dispatch times of a sender, on a clock of the test: its timer fires each millisecond or up to a
 * millisecond later, and once the machine stalls for 80 ms.
 */
function dispatches(load: string, seed: number) {
  const scenario = chatScenario(
    `  - { name: steady, load: ${load}, rate: 10000/s, duration: ${seconds}s }`,
    'max_in_flight: 1000000',
  )
  const phase = scenario.phases[0]!
  if (phase.load.kind !== 'arrivals') throw new Error('an open load')
  const run: PhaseRun = {
    ...phase,
    load: phase.load,
    ordinal: 0,
    startUs: 50_000,
    steps: [0],
    slotBase: 0,
  }
  let nowUs = 0
  const sentUs: number[] = []
  const channel = new MessageChannel()
  const sender = new Sender({
    data: {
      runId: 'r',
      shard: 0,
      shards: 1,
      zeroNs: 0n,
      startedMs: 0,
      timeScale: 1,
      seed,
      baseUrl: 'http://127.0.0.1:9',
      contract: defaultContract,
      scenario: { ...scenario, threads: 1 },
      keys: [{ name: 'default', account: 'default', weight: 1, key }],
      secrets: [key],
      prompts: [['Hello.']],
      tls: {},
      proxy: null,
      shared: new SharedNumbers().buffer,
      recorder: channel.port1,
    },
    now: () => nowUs,
    client: {
      start: () => {
        sentUs.push(nowUs)
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
  channel.port1.close()
  sender.addPhase(run)
  const late = new RandomStream(seed, 'the timer')
  const endUs = run.startUs + (seconds + 1) * 1e6
  for (let tick = 0; nowUs < endUs; tick++) {
    nowUs += 1000 + Math.floor(1000 * late.at(tick)) + (tick === 3000 ? 80_000 : 0)
    sender.tick()
  }
  const plan = arrivalsOf(run, seed)!
  const intendedUs: number[] = []
  while (plan.advance()) intendedUs.push(run.startUs + plan.atUs)
  return { sentUs, intendedUs }
}

const perSOf = (us: readonly number[]) => ((us.length - 1) / (us.at(-1)! - us[0]!)) * 1e6

test.each([
  ['constant', 1],
  ['poisson', 1],
  ['poisson', 2],
  ['poisson', 3],
] as const)(
  '%s arrivals by seed %i are sent at the planned rate to a thousandth, despite late timers',
  (load, seed) => {
    const { sentUs, intendedUs } = dispatches(load, seed)
    expect(sentUs.length).toBe(intendedUs.length)
    expect(Math.abs(perSOf(sentUs) / perSOf(intendedUs) - 1)).toBeLessThan(0.001)
    // No request before its time, and none later than the next tick, except for the stall.
    const lagsUs = sentUs.map((us, at) => us - intendedUs[at]!)
    expect(Math.min(...lagsUs.slice(0, 1000))).toBeGreaterThanOrEqual(0)
    const late = lagsUs.filter((us) => us < 0 || us >= 2000).length
    expect(late / lagsUs.length).toBeLessThan(0.01)
  },
)
