import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Comparison } from '../../src/report/compare/compare.ts'
import type { RunResult } from '../../src/run/run.ts'
import { assay, withFolder } from '../e2e/command.ts'
import { answerChat, key, startTarget } from '../run/target.ts'

const env = { ASSAY_API_KEY: key }

test('two targets in one run: 5 % is found, each is judged by its own contract, and mistakes are named', {
  tags: 'whole',
}, async () => {
  const start = (ms: number) =>
    startTarget((_, response) => {
      setTimeout(() => answerChat(response, 'Yes.', 2), ms)
    })
  const [a, b] = [await start(400), await start(420)]
  try {
    await withFolder(async (folder) => {
      const scenario = join(folder, 'pair.yaml')
      // By the contract of b, the same request costs seven credits.
      const contract = join(folder, 'b.yaml')
      writeFileSync(
        contract,
        'extends: svc\nname: other\nmodels: [{ id: svc-k2, context_window_tokens: 8192, cost_credits: 7 }]\n',
      )
      writeFileSync(
        scenario,
        `name: pair
question: Is b slower?
model: svc-k2
targets:
  a: { base_url: "${a.baseUrl}" }
  b: { base_url: "${b.baseUrl}", contract: b.yaml }
steps: { chat: { endpoint: chat } }
phases: [{ name: steady, load: poisson, rate: 50/s, max_requests: 400 }]
`,
      )
      const db = join(folder, 'a.duckdb')
      const run = (...more: readonly string[]) =>
        assay(['run', scenario, '--db', db, ...more], { env, cwd: folder }).ended
      const refused = await run('--base-url', a.baseUrl)
      expect([refused.code, refused.stderr]).toEqual([
        2,
        expect.stringContaining('--base-url: a scenario with targets cannot take it'),
      ])
      const planned = await run('--dry-run', '--before-each', 'true')
      expect([planned.code, planned.stderr]).toEqual([
        2,
        expect.stringContaining('--before-each: a scenario with targets cannot take it'),
      ])
      const plan = await run('--dry-run')
      expect(plan.stdout.replaceAll(/\s+/g, ' ')).toContain(
        `Each request goes to both targets, ${a.baseUrl} and ${b.baseUrl}`,
      )
      expect([a.requests, b.requests]).toEqual([0, 0])

      const { stdout, stderr } = await run('--run-id', 'p', '--json')
      expect(stderr).toContain('Both targets have one address')
      const found = JSON.parse(stdout) as Record<'a' | 'b', RunResult> & { comparison: Comparison }
      expect([a.requests, b.requests]).toEqual([400, 400])
      const p50 = found.comparison.differences.find(
        ({ step, metric, statistic }) =>
          step === null && metric === 'service' && statistic === 'p50',
      )!
      expect(found.b.creditsByContract).toBe(7 * 400)
      expect(found.a.creditsByContract).not.toBe(7 * 400)
      expect(p50.isPaired).toBe(true)
      expect(Math.abs(p50.change! - 0.05)).toBeLessThan(0.03)
      expect(p50.interval![0]).toBeGreaterThan(0)
      // On a machine that stalls, the client is too slow to be believed, and nothing is called.
      const isJudged = [found.a, found.b].every(({ verdict }) => verdict.verdict !== 'invalid')
      expect(p50.verdict).toBe(isJudged ? 'worse' : 'unclear')

      const dbB = join(folder, 'a-b.duckdb')
      const compared = await assay(
        ['compare', 'p-a', 'p-b', '--db', db, '--db-b', dbB, '--fail-on', 'service.p50 > +1%'],
        { env, cwd: folder },
      ).ended
      expect(compared.code).toBe(3)
      expect(compared.stdout.includes('Each request went to both')).toBe(isJudged)
      expect(compared.stdout).toMatch(
        isJudged ? /fail on service\.p50 > \+1% +FAILED/ : /fail on service\.p50 > \+1% +INCONCL/,
      )
    })
  } finally {
    a.close()
    b.close()
  }
})

test('a target that refuses every request is compared with nothing', {
  timeout: 60_000,
}, async () => {
  const refusing = () =>
    startTarget((_, response) => {
      response.writeHead(401, { 'content-type': 'application/json' })
      response.end('{"error":{"message":"wrong key","type":"authentication_error"}}')
    })
  const serving = () => startTarget((_, response) => answerChat(response, 'Yes.', 2))
  const [a, b] = [await serving(), await refusing()]
  try {
    await withFolder(async (folder) => {
      writeFileSync(
        join(folder, 'pair.yaml'),
        `name: pair
question: Is b slower?
model: svc-k2
targets:
  a: { base_url: "${a.baseUrl}" }
  b: { base_url: "${b.baseUrl}", contract: own.yaml }
steps: { chat: { endpoint: chat } }
phases: [{ name: steady, load: poisson, rate: 50/s, max_requests: 5 }]
`,
      )
      writeFileSync(join(folder, 'own.yaml'), 'extends: svc\nname: own\n')
      const { code, stdout } = await assay(['run', 'pair.yaml', '--db', 'a.duckdb'], {
        env,
        cwd: folder,
      }).ended
      expect(code).toBe(4)
      expect(stdout.match(/\d of 5 requests succeeded/g)).toEqual([
        '5 of 5 requests succeeded',
        '0 of 5 requests succeeded',
      ])
      expect(stdout).toContain('A target of which no request succeeded is compared with nothing.')
      expect(stdout).not.toContain('No significant difference')
      expect(stdout).toMatch(/assay compare .* --contract svc --contract-b \S+own\.yaml --all/)
    })
  } finally {
    await Promise.all([a.close(), b.close()])
  }
})
