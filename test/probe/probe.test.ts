import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { defaultContract } from '../../src/contract/default.ts'
import { gapIds, parseDeploymentProfile } from '../../src/contract/profile.ts'
import { Budget, BudgetError } from '../../src/probe/budget.ts'
import { profileChanges } from '../../src/probe/diff.ts'
import { priceOf } from '../../src/probe/price.ts'
import { questions } from '../../src/probe/questions/list.ts'
import { startService } from '../../src/service/start.ts'
import { probeService } from './probing.ts'

const run = promisify(execFile)
const main = resolve(import.meta.dirname, '../../src/cli/main.ts')

async function assay(args: readonly string[], env: Record<string, string> = {}) {
  const ended = await run(process.execPath, [main, ...args], {
    env: { ...process.env, ...env },
  }).catch((error: { code: number; stdout: string; stderr: string }) => error)
  return { code: 'code' in ended ? ended.code : 0, stdout: ended.stdout, stderr: ended.stderr }
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'assay-probe-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

test('each of the 37 gaps is asked by exactly one question', () => {
  const asked = questions.flatMap(({ gaps }) => gaps)
  expect([...asked].sort()).toEqual([...gapIds])
  expect(gapIds).toHaveLength(37)
})

test('no question costs more than it said, and the whole no more than its budget', async () => {
  const prices = priceOf(
    { contract: defaultContract, minuteLimit: 60, hasOperator: true, hasSecondKey: true },
    [],
    null,
    90,
  )
  const { profile, store, service } = await probeService({ maxCredits: 90 })
  expect(profile.credits_spent).toBeLessThanOrEqual(90)
  const charged = await store.rows<{ phase: string; credits: number }>(
    `SELECT phase, sum(CASE WHEN outcome = 'http_error' OR endpoint NOT IN ('chat', 'messages') THEN 0
       WHEN model = 'svc-k2.5' THEN 2 ELSE 1 END)::INTEGER AS credits
     FROM attempts GROUP BY phase`,
  )
  for (const { phase, credits } of charged) {
    const price = prices.questions.find(({ gaps }) => gaps.join(' ') === phase)?.credits ?? 1
    expect([phase, credits]).toEqual([phase, Math.min(credits, price)])
  }
  const unasked = gapIds.filter((gap) => profile.answers[gap].status === 'not-askable')
  expect(unasked.length).toBeGreaterThan(4)
  expect(JSON.stringify(profile.answers['G-22'])).toMatch(/credits, and \d+ of the budget are left/)
  // The operator's balance is put back, so the account is where it was.
  expect(service.operator.balance(service.keys[0]!.account)).toBe(899 + 1)
})

test('a budget is never passed, whatever is in flight or given back', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 50 }),
      fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.boolean())),
      (maxCredits, requests) => {
        const budget = new Budget(maxCredits)
        let kept = 0
        for (const [credits, failed] of requests) {
          try {
            budget.reserve(credits)
          } catch (error) {
            expect(error).toBeInstanceOf(BudgetError)
            continue
          }
          if (failed) budget.giveBack(credits)
          else kept += credits
          expect(kept).toBeLessThanOrEqual(maxCredits)
          expect(budget.spent).toBe(kept)
        }
      },
    ),
  )
})

test('a balance that fell by more than was counted counts as spent', () => {
  const budget = new Budget(10)
  budget.observe(100)
  budget.reserve(2)
  budget.observe(94)
  expect(budget.spent).toBe(6)
  expect(() => budget.reserve(5)).toThrow('would cost 5 credits, and 4 are left')
})

test('a server without credits gets answers where there are any, and reasons elsewhere', async () => {
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      const found = request.url === '/v1/chat/completions'
      response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify(
          found
            ? {
                id: 'x',
                object: 'chat.completion',
                created: 1,
                model: 'svc-k2',
                choices: [
                  {
                    index: 0,
                    message: { role: 'assistant', content: 'hi' },
                    finish_reason: 'stop',
                  },
                ],
                usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
              }
            : { error: { message: 'no', type: 'invalid_request_error', code: 'not_found' } },
        ),
      )
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  const path = folder()
  const { port } = server.address() as AddressInfo
  const ended = await assay(
    ['probe', '--base-url', `http://127.0.0.1:${port}`, '--db', join(path, 'a.duckdb')].concat([
      '--out',
      join(path, 'profile.yaml'),
      '--time-scale',
      '5000',
      '--json',
    ]),
    { ASSAY_API_KEY: 'secret-key-of-a-test', ASSAY_API_KEY_2: '' },
  )
  expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining('Asking costs') })
  const { answers } = parseDeploymentProfile(JSON.parse(ended.stdout), 'stdout')
  for (const gap of ['G-09', 'G-13', 'G-14', 'G-15', 'G-17', 'G-18', 'G-20', 'G-21'] as const) {
    expect([gap, answers[gap].status]).toEqual([gap, 'not-askable'])
  }
  expect(answers['G-12']).toMatchObject({ is: { chat: 'absent' } })
  for (const file of ['a.duckdb', 'profile.yaml']) {
    expect(readFileSync(join(path, file)).includes('secret-key-of-a-test')).toBe(false)
  }
})

test('numbers of ledger entries are no counts of requests', async () => {
  const { profile } = await probeService({ only: ['G-09'] })
  const told = profile.answers['G-09']
  expect(told).toMatchObject({ status: 'answered' })
  expect(JSON.stringify(told)).toContain('by_day.0.requests')
  expect(JSON.stringify(told)).not.toMatch(/\bid\b/)
})

test('a budget that pays for no generation leaves what their headers show unasked', async () => {
  const { profile } = await probeService({ only: ['G-02', 'G-19'], maxCredits: 3 })
  expect(profile.answers['G-19']).toEqual({
    status: 'not-askable',
    why: 'no generation was asked for',
  })
})

test('the command writes a profile, and says what changed since an older one', async () => {
  const path = folder()
  const out = join(path, 'profile.yaml')
  const probeOf = async (reset: 'delta-s' | 'epoch-ms', extra: readonly string[]) => {
    const service = await startService({ seed: 3, timeScale: 8, profile: { reset } })
    onTestFinished(() => service.close())
    return assay(
      [
        ...['probe', '--base-url', service.baseUrl, '--db', join(path, `${reset}.duckdb`)],
        ...['--only', 'G-02,G-21', '--time-scale', '8', '--out', out, ...extra],
      ],
      { ASSAY_API_KEY: service.keys[1]!.apiKey },
    )
  }
  const first = await probeOf('delta-s', [])
  expect(first).toMatchObject({ code: 0 })
  expect(first.stderr).toMatch(/^Asking costs up to 9 credits; at most 500 will be spent, of a/)
  expect(first.stdout).toContain('G-21  the unit of X-RateLimit-Reset\n      unit: delta-s')
  const profile = parseDeploymentProfile(parseYaml(readFileSync(out, 'utf8')), out)
  expect(profile.answers['G-02']).toMatchObject({ status: 'answered', is: { 'svc-k2.5': false } })
  expect(profile.answers['G-01'].status).toBe('not-askable')

  const second = await probeOf('epoch-ms', ['--diff', out])
  expect(second.stdout).toContain('G-21  unit: delta-s -> epoch-ms')
  expect(profileChanges(profile, profile)).toEqual([])
})

test('wrong usage is told in one sentence each, with exit code 2', async () => {
  const noUrl = await assay(['probe'], { ASSAY_API_KEY: 'k' })
  expect(noUrl).toMatchObject({ code: 2, stderr: expect.stringContaining('--base-url: expected') })
  const noKey = await assay(['probe', '--base-url', 'http://127.0.0.1:1'], { ASSAY_API_KEY: '' })
  expect(noKey).toMatchObject({ code: 2, stderr: expect.stringContaining('ASSAY_API_KEY') })
  const stranger = await assay(['probe', '--only', 'G-99'])
  expect(stranger).toMatchObject({ code: 2, stderr: expect.stringContaining('G-99') })
  const nobody = await assay(['probe', '--base-url', 'http://127.0.0.1:9'], { ASSAY_API_KEY: 'k' })
  expect(nobody).toMatchObject({ code: 4, stderr: expect.stringContaining('never reached') })
})

test('a dry run sends nothing and names a price for each band', async () => {
  const ended = await assay(['probe', '--dry-run'])
  expect(ended.code).toBe(0)
  expect(ended.stdout).toMatch(/1-100 +\d+ credits at most\n101-1000 +\d+ credits at most/)
})
