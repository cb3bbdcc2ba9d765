import { expect, test } from 'vitest'
import { threadsOf } from '../../src/run/crew/threads.ts'
import { phaseLoads } from '../../src/run/plan/loads.ts'
import { run } from '../../src/run/run.ts'
import { parseScenario } from '../../src/scenario/parse.ts'
import { answerChat, chatScenario, key, query, startTarget, withStorePath } from './target.ts'

const steps = {
  plain: 'plain: { endpoint: chat }',
  stream: 'stream: { endpoint: chat, stream: true, max_tokens: 196 }',
}

interface Machine {
  readonly cores?: number
  readonly baseUrl?: string
  readonly of?: number
}

/** The thread count of a load, on a machine with 64 cores by default. */
function threads(load: string, rest = '', step = steps.plain, machine: Machine = {}): number {
  const { cores = 64, baseUrl = 'https://service.test', of = 1 } = machine
  const scenario = parseScenario(
    `name: a\nquestion: How many?\nmodel: m\nsteps: { ${step} }\nphases:\n  - { name: p, ${load} }\n${rest}`,
    'a.yaml',
  )
  return threadsOf(scenario, phaseLoads(scenario), { index: 0, of }, baseUrl, cores)
}

const constant = (perS: number) => `load: constant, rate: ${perS}/s, duration: 1s`

test.each([
  // At 40 us per request, 12,500 per second keep a thread half busy.
  ['a plain rate', constant(12_500), steps.plain, 1],
  ['a higher plain rate', constant(12_501), steps.plain, 2],
  // At 40 us and 196 events of 10 us each, 250 per second do.
  ['a rate of streams', constant(250), steps.stream, 1],
  ['a higher rate of streams', constant(251), steps.stream, 2],
  ['a mix, by weight', constant(496), `${steps.plain}, ${steps.stream}`, 2],
  [
    'a ramp, at its peak',
    'load: constant, rate: { from: 1/s, to: 25001/s }, duration: 1s',
    steps.plain,
    3,
  ],
  ['a sweep, at its highest', 'load: sweep, start: 10/s, max: 37501/s, trial: 1s', steps.plain, 4],
  ['users of streams', 'load: concurrency, users: 2001, duration: 1s', steps.stream, 3],
  ['users of plain requests', 'load: concurrency, users: 65, duration: 1s', steps.plain, 2],
  ['flat out', 'load: saturate, connections: 64, duration: 1s', steps.plain, 4],
] as const)('%s gets enough threads to keep each half busy', (_, load, step, expected) => {
  expect(threads(load, 'objectives: { service: 1s }', step)).toBe(expected)
})

test('a plan gets no more threads than the machine can spare', () => {
  const most = (machine: Machine) => threads(constant(1_000_000), '', steps.plain, machine)
  expect(most({ cores: 8 })).toBe(7)
  expect(most({ cores: 2 })).toBe(1)
  expect(most({ cores: 1 })).toBe(1)
  expect(most({ cores: 8, baseUrl: 'http://127.0.0.1:80' })).toBe(4)
  expect(most({ cores: 3, baseUrl: 'http://localhost:80' })).toBe(1)
})

test('an in-flight bound is not split into small shares', () => {
  const load = constant(1_000_000)
  expect(threads(load, 'max_in_flight: 128')).toBe(2)
  expect(threads(load, 'max_connections: 63')).toBe(1)
})

test('the thread count of a scenario is used, and shards have one thread by default', () => {
  const load = constant(1_000_000)
  expect(threads(load, 'threads: 3', steps.plain, { cores: 1 })).toBe(3)
  expect(threads(load, '', steps.plain, { of: 2 })).toBe(1)
  expect(threads(load, 'threads: 3', steps.plain, { of: 2 })).toBe(3)
})

test('a run stores its thread count with its scenario', { tags: 'whole' }, async () => {
  const target = await startTarget((_, response) => answerChat(response))
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario('  - { name: p, load: constant, rate: 50/s, duration: 0.1s }')
    expect(scenario.threads).toBeNull()
    await run(scenario, { baseUrl: target.baseUrl, dbPath, keys: { default: key } })
    const sql = `SELECT (scenario_json->>'$.threads')::INTEGER AS threads FROM runs`
    expect(await query(dbPath, sql)).toEqual([{ threads: 1 }])
  })
  target.close()
})
