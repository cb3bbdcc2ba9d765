import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { audit } from '../../src/audit/audit.ts'
import { trafficAction } from '../../src/cli/audits/contract-traffic.ts'
import { loadContract } from '../../src/contract/load.ts'
import { run } from '../../src/run/run.ts'
import { loadScenario } from '../../src/scenario/parse.ts'
import { completed } from '../../src/service/money/complete.ts'
import { startService } from '../../src/service/start.ts'
import { withStorePath } from '../run/target.ts'
import { openStore } from '../store/opened.ts'

const file = 'contracts/token-gateway.yaml'
const shipped = 'scenarios/audit-prices.yaml'
const quick = { kind: 'constant', value: 0 } as const

test('the shipped scenario is the one that contract traffic makes, within a budget if one is given', async () => {
  await withStorePath(async (path) => {
    const out = join(path, '../audit-prices.yaml')
    trafficAction(file, { out })
    expect(readFileSync(out, 'utf8')).toBe(readFileSync(shipped, 'utf8'))
    const small = join(path, '../small.yaml')
    trafficAction(file, { out: small, maxCost: '0.15' })
    const text = readFileSync(small, 'utf8')
    expect(text).toContain('# Left out: big-above-1')
    expect(text).toMatch(/max_cost: "0\.1\d*"/)
  })
})

test.each([
  ['a log', '{ log: { cost: spend, id: id } }', ['n-abort']],
  ['the body of each answer', '{ cost: [{ body: usage.cost }] }', ['n-abort']],
  // After the exact costs of each model, and after those of answers that were left.
  [
    'a header, which most streams lack',
    '{ cost: [{ header: x-cost }] }',
    ['m-cache', 'm-abort', 'n-cache', 'n-abort'],
  ],
])(
  'it waits for a late balance as often as the evidence needs and no more, with %s',
  async (_, more, probes) => {
    await withStorePath(async (path) => {
      const contract = join(path, '../late.yaml')
      const evidence = `${more.slice(0, -1)}, balance: { get: /me, value: spend, moves: up, within: 60s } }`
      writeFileSync(
        contract,
        `name: late\ncurrency: USD\ncharged: { success: full, abort: received }\nmodels: [{ id: m, price: &p { input: 1, output: 2, cache_read: 0.1 } }, { id: n, price: *p }]\nevidence: ${evidence}\n`,
      )
      const out = join(path, '../late-traffic.yaml')
      trafficAction(contract, { out })
      const { phases } = await loadScenario(out, loadContract(contract))
      const reads = phases.flatMap(({ name }, at) => (name.startsWith('money-') ? [at] : []))
      // One before everything, and each of the others waits.
      expect(reads[0]).toBe(0)
      const last: Readonly<Record<string, string>> = { 'long-stream': 'cache', half: 'abort' }
      expect(
        reads.slice(1).map((at) => {
          const [, model, step] = /^(.)-(.*)$/.exec(phases[at - 1]!.name)!
          return `${model}-${last[step!]}`
        }),
      ).toEqual(probes)
      expect(readFileSync(out, 'utf8').match(/think: 61s/g)).toHaveLength(probes.length)
    })
  },
)

test('its traffic shows each part of each price: an honest service passes every rule, but for a limit that nobody names', {
  tags: 'whole',
}, async () => {
  const contract = loadContract(file)
  const log: string[] = []
  const service = await startService({
    ...{ seed: 1, contract: completed(contract), port: 0 },
    shape: { timeToFirstUs: quick, betweenTokensUs: { kind: 'constant', value: 2_000 } },
  })
  try {
    await withStorePath(async (dbPath) => {
      const key = service.keys[3]!.apiKey
      const scenario = await loadScenario(shipped, contract)
      const { runId, stopped } = await run(scenario, {
        ...{ baseUrl: service.baseUrl, dbPath, contract, keys: { default: key } },
      })
      expect(stopped).toBeNull()
      const rows = await fetch(`${service.baseUrl}/spend/logs`, {
        headers: { authorization: `Bearer ${key}` },
      })
      log.push(...((await rows.json()) as object[]).map((row) => JSON.stringify(row)))
      const store = await openStore(dbPath)
      const { findings } = await audit(store, {
        ...{ contract, runIds: [runId], rules: ['PRICE'] },
        log: { text: log.join('\n'), file: 'spend.jsonl' },
      })
      store.close()
      const others = findings.filter(({ verdict }) => verdict.verdict !== 'pass')
      expect(others.map(({ rule, verdict }) => [rule, verdict.verdict])).toEqual([
        ['PRICE-07', 'not-observed'],
      ])
      expect(findings.map(({ rule }) => rule)).toContain('PRICE-03:big:cache_read')
    })
  } finally {
    await service.close()
  }
})
