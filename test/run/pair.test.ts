import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { compareRuns } from '../../src/report/compare/compare.ts'
import { runPair } from '../../src/run/pair.ts'
import { secondAfterUs } from '../../src/run/plan/turns-of-target.ts'
import { run } from '../../src/run/run.ts'
import { parseScenario } from '../../src/scenario/parse.ts'
import { openStore } from '../store/opened.ts'
import { answerChat, key, startTarget, withStorePath } from './target.ts'

const usualLoad = 'load: poisson, rate: 100/s, max_requests: 200'
const scenarioOf = (targets: string, load = usualLoad, more = '') =>
  parseScenario(
    `name: a
question: b
model: svc-k2
targets: ${targets}
steps:
  chat: { endpoint: chat${more} }
phases:
  - { name: steady, ${load} }
`,
    'a.yaml',
    defaultContract,
  )

const contracts = { a: defaultContract, b: { ...defaultContract, name: 'other' } }
const environment = { KEY_OF_A: key, KEY_OF_B: `${key}b` }

test('each request goes to both targets, with the key of each, and either is first in half of the pairs', {
  tags: 'whole',
}, async () => {
  const seen = { a: new Set<unknown>(), b: new Set<unknown>() }
  const start = (name: 'a' | 'b', ms: number) =>
    startTarget((request, response) => {
      seen[name].add(request.headers.authorization)
      setTimeout(() => answerChat(response), ms)
    })
  const [a, b] = [await start('a', 100), await start('b', 105)]
  try {
    await withStorePath(async (dbPath) => {
      const stores = { a: dbPath, b: `${dbPath}.b.duckdb` }
      const scenario = scenarioOf(
        `{ a: { base_url: "${a.baseUrl}", key_env: KEY_OF_A }, b: { base_url: "${b.baseUrl}", key_env: KEY_OF_B } }`,
      )
      const results = await runPair(stores, {
        scenario,
        pair: 'p',
        seed: 3,
        contracts,
        environment,
      })
      expect([a.requests, b.requests]).toEqual([200, 200])
      expect(results.a.verdict.rowsHold && results.b.verdict.rowsHold).toBe(true)
      expect([...seen.a, ...seen.b]).toEqual([`Bearer ${key}`, `Bearer ${key}b`])
      const [storeA, storeB] = [await openStore(stores.a), await openStore(stores.b)]
      const sides = [
        { store: storeA, runId: 'p-a' },
        { store: storeB, runId: 'p-b' },
      ] as const
      const comparison = await compareRuns(...sides, defaultContract)
      expect(comparison.isPaired).toBe(true)
      // Each target is first in about half of the pairs.
      const planned = async (store: typeof storeA) =>
        new Map(
          (
            await store.rows<{ slot: number; at: number }>(
              'SELECT slot::DOUBLE AS slot, intended_us::DOUBLE AS at FROM attempts',
            )
          ).map(({ slot, at }) => [slot, at]),
        )
      const [atA, atB] = [await planned(storeA), await planned(storeB)]
      const apart = [...atA].map(([slot, at]) => at - atB.get(slot)!)
      expect(new Set(apart)).toEqual(new Set([secondAfterUs, -secondAfterUs]))
      const first = apart.filter((us) => us < 0).length
      expect(first).toBeGreaterThan(65)
      expect(first).toBeLessThan(135)
      expect(await storeB.rows('SELECT contract FROM runs')).toEqual([{ contract: 'other' }])
      storeA.close()
      storeB.close()
    })
  } finally {
    a.close()
    b.close()
  }
})

test('requests that would not stay pairs, two addresses, and a key that is not set are refused', async () => {
  const two = '{ a: { base_url: "http://127.0.0.1:1" }, b: { base_url: "http://127.0.0.1:2" } }'
  for (const load of [
    'load: concurrency, users: 2, duration: 1s',
    'load: saturate, duration: 1s',
    'load: replay, file: none.jsonl, gaps: recorded',
  ]) {
    expect(() => scenarioOf(two, load)).toThrow('expected loads whose requests wait for no answer')
  }
  expect(() => scenarioOf(two, usualLoad, ', session: { turns: 3 }')).toThrow(
    'steps.chat.session: targets: expected loads whose requests wait for no answer',
  )
  expect(() => scenarioOf(`${two}\nbase_url: "http://127.0.0.1:3"`)).toThrow(
    'expected one of base_url and targets; got both',
  )
  const scenario = scenarioOf(two.replace(':1"', ':1", key_env: NOT_SET'))
  const options = { scenario, pair: 'p', contracts, environment }
  await expect(runPair({ a: 'none', b: 'none' }, options)).rejects.toThrow(
    'The key of target a comes from the variable NOT_SET, which is not set',
  )
  // A run of one service cannot choose one of the two.
  const baseUrl = 'http://127.0.0.1:1'
  await expect(run(scenario, { baseUrl, dbPath: 'none', keys: {} })).rejects.toThrow(
    'got one with targets',
  )
})
