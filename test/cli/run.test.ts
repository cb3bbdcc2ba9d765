import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { overridden } from '../../src/cli/runs/run-overrides.ts'
import { positiveOf, wholeNumberOf } from '../../src/cli/terminal/numbers.ts'
import { summaryShape } from '../../src/report/summary/shape.ts'
import type { RunResult } from '../../src/run/run.ts'
import { parseScenario } from '../../src/scenario/parse.ts'
import { openStore } from '../../src/store/session/open.ts'
import { main } from '../e2e/command.ts'
import { answerChat, key, startTarget, type Target } from '../run/target.ts'

let folder: string
let quick: Target
let slow: Target

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assay-cli-run-'))
  quick = await startTarget((_, response) => answerChat(response))
  slow = await startTarget(() => {})
})
afterAll(() => {
  quick.close()
  slow.close()
  rmSync(folder, { recursive: true, force: true })
})

function scenarioFile(name: string, text: string): string {
  const path = join(folder, `${name}.yaml`)
  writeFileSync(
    path,
    `name: ${name}\nquestion: Does it?\nmodel: svc-k2\nsteps: { chat: { endpoint: chat } }\n${text}\n`,
  )
  return path
}

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly error: string
}

interface Started {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** Waits until standard error contains these words. */
  readonly said: (words: string) => Promise<void>
}

function start(...args: readonly string[]): Started {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...process.env, ASSAY_API_KEY: key },
  })
  let [out, error] = ['', '']
  child.stdout.on('data', (piece) => {
    out += piece
  })
  child.stderr.on('data', (piece) => {
    error += piece
  })
  const ended = new Promise<Ended>((done) => {
    child.on('close', (code) => done({ code, out, error }))
  })
  const said = async (words: string) => {
    while (!error.includes(words)) await once(child.stderr, 'data')
  }
  return { child, ended, said }
}

const assay = (...args: readonly string[]) => start(...args).ended

test('a run prints its summary, keeps its rows and ends with 0; assay runs lists it', {
  tags: 'whole',
}, async () => {
  const db = join(folder, 'good.duckdb')
  const path = scenarioFile(
    'good',
    `phases: [{ name: steady, load: constant, rate: 50/s, max_requests: 20 }]
thresholds: [errors <= 0%]`,
  )
  const { code, out, error } = await assay('run', path, '--base-url', quick.baseUrl, '--db', db)
  expect(out).toContain('attempts 20 = sent 20 + not sent 0')
  // The next command is one line, so that it can be copied, and has the path of the store.
  const wide = out.split('\n').filter((line) => line.length > 80 && !line.startsWith('Next: '))
  expect(wide).toEqual([])
  expect(out).toMatch(/errors <= 0% +held +0\.00 %/)
  expect(out).toMatch(/Result is: (VALID|DEGRADED|INVALID)/)
  expect([0, 4]).toContain(code)
  expect(out + error).not.toContain(key)
  const list = JSON.parse((await assay('runs', '--db', db, '--json')).out)
  expect(list).toMatchObject([{ scenario: 'good', kind: 'run', attempts: 21 }])
})

test('an invalid scenario is refused with every fault and its line, and exit code 2', async () => {
  const path = scenarioFile('wrong', 'phases: [{ name: a, load: poison, rate: 5 }]\nsead: 4')
  const { code, out, error } = await assay('run', path, '--base-url', quick.baseUrl)
  expect(code).toBe(2)
  expect(out).toBe('')
  expect(error).toContain('2 errors')
  expect(error).toMatch(/line 5, phases\[0\]\.load: expected a phase whose load is one of constant/)
  expect(error).toContain('line 6, sead: there is no field "sead"; did you mean "seed"?')
  expect(error).not.toMatch(/\n\s+at /)
})

test('a closed port ends with exit code 4 and one sentence', { tags: 'whole' }, async () => {
  const path = scenarioFile(
    'dead',
    'phases: [{ name: a, load: poisson, rate: 5/s, duration: 60s }]',
  )
  const { code, error } = await assay(
    'run',
    path,
    '--base-url',
    // Not a port that was just released: another test may get it.
    'http://127.0.0.1:1',
    '--db',
    join(folder, 'd'),
  )
  expect(code).toBe(4)
  expect(error.trim().split('\n')).toEqual([
    expect.stringMatching(/was never reached: nothing listens there/),
  ])
})

test('a missed threshold ends with 3, and so does one without samples', {
  tags: 'whole',
}, async () => {
  const phases = 'phases: [{ name: steady, load: constant, rate: 40/s, duration: 2s }]'
  for (const [name, threshold] of [
    ['missed', 'chat.response.p50 < 1us'],
    ['empty', 'chat.ttft.p95 < 10s'],
  ]) {
    const path = scenarioFile(name!, `${phases}\nthresholds: [${threshold}]`)
    const { code, out } = await assay(
      'run',
      path,
      '--base-url',
      quick.baseUrl,
      '--db',
      join(folder, name!),
      '--json',
    )
    const result = JSON.parse(out) as RunResult & { readonly summary: unknown }
    expect(result.thresholds[0]!.result).toBe(name === 'missed' ? 'missed' : 'inconclusive')
    expect(summaryShape.parse(result.summary).all.counts).toMatchObject({ attempts: 80, ok: 80 })
    expect(code).toBe(result.verdict.verdict === 'invalid' ? 4 : 3)
  }
})

/** Waits until the process has sent something. */
async function firstRequest(target: Target): Promise<void> {
  while (target.requests === 0) await new Promise((done) => setTimeout(done, 20))
}

test('a second Ctrl-C aborts requests in flight, keeps every row and ends with 130', {
  tags: 'whole',
}, async () => {
  const db = join(folder, 'cut.duckdb')
  const path = scenarioFile(
    'cut',
    'phases: [{ name: a, load: constant, rate: 20/s, duration: 60s }]',
  )
  const { child, ended, said } = start(
    'run',
    path,
    '--base-url',
    slow.baseUrl,
    '--db',
    db,
    '--json',
  )
  await firstRequest(slow)
  child.kill('SIGINT')
  await said('Draining')
  child.kill('SIGINT')
  const { code, out } = await ended
  expect(code).toBe(130)
  const { counts, stopped } = JSON.parse(out) as RunResult
  expect(stopped).toBe('interrupted')
  expect(counts.aborted).toBeGreaterThan(0)
  expect(counts.planned).toBe(counts.aborted + counts.notSent)
  const store = await openStore(db)
  const [row] = await store.rows<{ n: number }>('SELECT count(*)::INTEGER AS n FROM attempts')
  store.close()
  expect(row!.n).toBe(counts.planned)
})

test('one Ctrl-C drains: requests in flight complete, and no new ones start', {
  tags: 'whole',
}, async () => {
  const db = join(folder, 'drain.duckdb')
  const target = await startTarget(
    (_, response) => void setTimeout(() => answerChat(response), 200),
  )
  const path = scenarioFile(
    'drain',
    'phases: [{ name: a, load: constant, rate: 50/s, duration: 60s }]',
  )
  const { child, ended } = start('run', path, '--base-url', target.baseUrl, '--db', db, '--json')
  await firstRequest(target)
  child.kill('SIGINT')
  const { code, out } = await ended
  target.close()
  expect(code).toBe(130)
  const { counts } = JSON.parse(out) as RunResult
  expect(counts.ok).toBe(counts.sent)
  expect(counts.ok).toBe(target.requests)
  expect(counts.planned).toBeLessThan(1000)
})

test('a dry run prints the plan and sends nothing', { tags: 'whole' }, async () => {
  const before = quick.requests
  const path = scenarioFile(
    'dry',
    'phases: [{ name: a, load: constant, rate: 50/s, duration: 2s }]',
  )
  const { code, out } = await assay('run', path, '--dry-run', '--rate', '100/s', '--duration', '3s')
  expect(code).toBe(0)
  expect(out).toMatch(/a +steady +constant +3\.00 s +300 +300\na: chat 300\n/)
  const part = await assay('run', path, '--dry-run', '--shard', '1/4')
  expect(part.out).toMatch(
    /a +steady +constant +2\.00 s +25 +25\na: chat 25\nThe part of shard 1 of 4\.\n/,
  )
  const json = await assay('run', path, '--dry-run', '--shard', '1/4', '--json')
  expect(JSON.parse(json.out)).toMatchObject({
    shard: { index: 1, of: 4 },
    plan: [{ requests: 25 }],
  })
  expect(quick.requests).toBe(before)
})

test('an option that is not a rate, duration or number is refused with the expected form', () => {
  const path = scenarioFile(
    'options',
    'phases: [{ name: a, load: constant, rate: 5/s, duration: 1s }]',
  )
  const scenario = parseScenario(readFileSync(path, 'utf8'), path)
  const refusal = (change: () => unknown) => {
    try {
      return change()
    } catch (error) {
      return (error as Error).message
    }
  }
  expect([
    refusal(() => overridden(scenario, { rate: 'fast' })),
    refusal(() => overridden(scenario, { rate: '0/s' })),
    refusal(() => overridden(scenario, { rate: '200000000/s' })),
    refusal(() => overridden(scenario, { duration: '5' })),
    refusal(() => overridden(scenario, { duration: '0s' })),
    refusal(() => overridden(scenario, { maxCredits: '0' })),
    refusal(() => wholeNumberOf('--seed', 'x')),
    refusal(() => positiveOf('--time-scale', '0')),
  ]).toEqual([
    '--rate: expected a rate above 0, such as 50/s; got fast.',
    '--rate: expected a rate above 0, such as 50/s; got 0/s.',
    '--rate: expected at most 100000000/s; got 200000000/s.',
    '--duration: expected a duration above 0, such as 30s; got 5.',
    '--duration: expected a duration above 0, such as 30s; got 0s.',
    '--max-credits: expected a whole number from 1; got 0.',
    '--seed: expected a whole number from 0; got x.',
    '--time-scale: expected a number above 0; got 0.',
  ])
})

test('--rate sets the mean of a load and keeps its shape, --duration stretches it', () => {
  const weights = [...Array(23).fill(1), 25]
  const scenario = parseScenario(
    `name: shapes
question: Does it keep its shape?
model: svc-k2
steps: { chat: { endpoint: chat } }
phases:
  - { name: day, load: day, rate: 2/s, days: 2, duration: 48s, weights: [${weights.join(', ')}] }
  - { name: ramp, load: poisson, rate: { from: 0/s, to: 50/s }, duration: 10s }
  - { name: flat, load: constant, rate: 5/s, max_requests: 10 }
  - { name: night, load: day, rate: 2/s, days: 0.5, duration: 10s, weights: [${[...Array(12).fill(0), ...Array(12).fill(1)].join(', ')}] }`,
    'shapes.yaml',
  )
  const changed = overridden(scenario, { rate: '10/s', duration: '24s' })
  const course = (at: number) => {
    const { load } = changed.phases[at]!
    return load.kind === 'arrivals' ? load.rate : []
  }
  expect(course(0)).toHaveLength(48)
  expect(course(0)[0]).toEqual({ durationUs: 0.5e6, fromPerS: 5, toPerS: 5 })
  expect(course(0)[47]).toEqual({ durationUs: 0.5e6, fromPerS: 125, toPerS: 125 })
  expect(course(1)).toEqual([{ durationUs: 24e6, fromPerS: 0, toPerS: 20 }])
  expect(course(2)[0]).toMatchObject({ fromPerS: 10, toPerS: 10 })
  expect(course(3)[0]).toMatchObject({ fromPerS: 10, toPerS: 10 })
})

test('shards exit with 0 whatever their thresholds; merge judges the whole, and refuses an incomplete set', {
  tags: 'whole',
}, async () => {
  const scenario = scenarioFile(
    'shards',
    `phases: [{ name: steady, load: constant, rate: 40/s, duration: 500ms }]
thresholds: ["requests.count > 1000"]`,
  )
  const store = (name: string) => join(folder, `shards-${name}.duckdb`)
  const startAt = new Date(Date.now() + 2000).toISOString()
  const shard = (index: number) =>
    assay(
      ...['run', scenario, '--base-url', quick.baseUrl, '--db', store(`${index}`)],
      ...['--shard', `${index}/2`, '--run-id', 'launch-7', '--start-at', startAt],
    )
  const ended = await Promise.all([shard(0), shard(1)])
  expect(ended.map(({ code, error }) => (code === 0 ? code : error))).toEqual([0, 0])
  const alone = await assay('merge', store('0'), '--db', store('gap'))
  expect(alone.code).toBe(2)
  expect(alone.error).toContain('of 2 shards, 1 are missing: 1.')
  expect(existsSync(store('gap'))).toBe(false)
  const whole = await assay('merge', store('0'), store('1'), '--db', store('all'), '--json')
  const { counts, thresholds, verdict } = JSON.parse(whole.out) as RunResult
  expect(counts).toMatchObject({ planned: 20, ok: 20 })
  expect(thresholds).toMatchObject([{ result: 'missed', value: 20 }])
  expect(whole.code).toBe(verdict.verdict === 'invalid' ? 4 : 3)
})
