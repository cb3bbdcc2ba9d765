import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { compareRuns } from '../../src/report/compare/compare.ts'
import { runPair } from '../../src/run/pair.ts'
import { secondAfterUs } from '../../src/run/plan/turns-of-target.ts'
import { parseScenario } from '../../src/scenario/parse.ts'
import { openStore } from '../store/opened.ts'
import { answerChat, key, startTarget, withStorePath } from './target.ts'

const scenarioOf = (targets: string, load = 'load: poisson, rate: 100/s, max_requests: 600') =>
  parseScenario(
    `name: a
question: b
model: svc-k2
targets: ${targets}
steps:
  chat: { endpoint: chat }
phases:
  - { name: steady, ${load} }
`,
    'a.yaml',
    defaultContract,
  )

const contracts = { a: defaultContract, b: { ...defaultContract, name: 'other' } }
const environment = { KEY_OF_A: key, KEY_OF_B: `${key}b` }

test('a server that is 5 % slower is found by pairs, and each target gets its own key', async () => {
  const seen = { a: new Set<unknown>(), b: new Set<unknown>() }
  const start = (name: 'a' | 'b', ms: number) =>
    startTarget((request, response) => {
      seen[name].add(request.headers.authorization)
      setTimeout(() => answerChat(response), ms)
    })
  const [a, b] = [await start('a', 400), await start('b', 420)]
  try {
    await withStorePath(async (dbPath) => {
      const dbPaths = { a: dbPath, b: `${dbPath}.b.duckdb` }
      const scenario = scenarioOf(
        `{ a: { base_url: "${a.baseUrl}", key_env: KEY_OF_A }, b: { base_url: "${b.baseUrl}", key_env: KEY_OF_B } }`,
      )
      const results = await runPair(scenario, {
        pair: 'p',
        seed: 3,
        dbPaths,
        contracts,
        environment,
      })
      expect([a.requests, b.requests]).toEqual([600, 600])
      expect(results.a.verdict.rowsHold && results.b.verdict.rowsHold).toBe(true)
      expect([...seen.a, ...seen.b]).toEqual([`Bearer ${key}`, `Bearer ${key}b`])
      const [storeA, storeB] = [await openStore(dbPaths.a), await openStore(dbPaths.b)]
      const sides = [
        { store: storeA, runId: 'p-a' },
        { store: storeB, runId: 'p-b' },
      ] as const
      const comparison = await compareRuns(...sides, defaultContract)
      expect(comparison.isPaired).toBe(true)
      const p50 = comparison.differences.find(
        ({ step, metric, statistic }) =>
          step === null && metric === 'service' && statistic === 'p50',
      )!
      expect(p50.change).toBeGreaterThan(0.02)
      expect(p50.change).toBeLessThan(0.1)
      if (comparison.a.verdict !== 'invalid' && comparison.b.verdict !== 'invalid')
        expect(p50.verdict).toBe('worse')
      expect(p50.interval![0]).toBeGreaterThan(0)
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
      expect(first).toBeGreaterThan(240)
      expect(first).toBeLessThan(360)
      expect(await storeB.rows('SELECT contract FROM runs')).toEqual([{ contract: 'other' }])
      storeA.close()
      storeB.close()
    })
  } finally {
    a.close()
    b.close()
  }
})

test('a load whose requests wait for answers, and a key that is not set, are refused', async () => {
  const options = { pair: 'p', dbPaths: { a: 'none', b: 'none' }, contracts, environment }
  const two = '{ a: { base_url: "http://127.0.0.1:1" }, b: { base_url: "http://127.0.0.1:2" } }'
  await expect(
    runPair(scenarioOf(two, 'load: concurrency, users: 2, duration: 1s'), options),
  ).rejects.toThrow('expected phases whose requests wait for no answer')
  await expect(
    runPair(scenarioOf(two.replace(':1"', ':1", key_env: NOT_SET')), options),
  ).rejects.toThrow('The key of target a comes from the variable NOT_SET, which is not set')
})
