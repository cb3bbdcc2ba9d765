import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { countTokens } from 'gpt-tokenizer'
import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { planOf } from '../../src/run/plan/plan.ts'
import { TokenText } from '../../src/run/plan/token-text.ts'
import { run } from '../../src/run/run.ts'
import { calibrate } from '../../src/run/self-test/calibrate.ts'
import { loadScenario } from '../../src/scenario/parse.ts'
import { answerChat, chatScenario, key, query, startTarget, withStorePath } from './target.ts'

const keys = { default: key }
const scenarios = resolve(import.meta.dirname, '../../scenarios')

test('a trace is replayed at tenfold speed, with the lengths of its requests', {
  tags: 'whole',
}, async () => {
  const asked: { prompt: number; maxTokens: number }[] = []
  const target = await startTarget((_, response, body) => {
    const { messages, max_tokens } = JSON.parse(body)
    asked.push({ prompt: countTokens(messages[0].content), maxTokens: max_tokens })
    answerChat(response)
  })
  const folder = mkdtempSync(join(tmpdir(), 'assay-trace-'))
  writeFileSync(
    join(folder, 'trace.jsonl'),
    [0, 4000, 7000]
      .map((timestamp, at) =>
        JSON.stringify({ timestamp, input_length: 100 + at, output_length: 10 + at }),
      )
      .join('\n'),
  )
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(
      `  - { name: steady, load: replay, file: ${folder}/trace.jsonl, format: mooncake, speed: 10 }`,
    )
    const { counts } = await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
    expect(counts).toMatchObject({ planned: 3, ok: 3 })
    expect(asked).toEqual([
      { prompt: 100, maxTokens: 10 },
      { prompt: 101, maxTokens: 11 },
      { prompt: 102, maxTokens: 12 },
    ])
    const rows = await query<{ us: number }>(
      dbPath,
      'SELECT intended_us - min(intended_us) OVER () AS us FROM attempts ORDER BY slot',
    )
    expect(rows.map((row) => row.us)).toEqual([0, 400_000, 700_000])
  })
  rmSync(folder, { recursive: true })
  target.close()
})

test('a scenario in TypeScript sends the prompts of its functions, the same for the same seed', {
  tags: 'whole',
}, async () => {
  const prompts = async (threads: number) => {
    const said = new Set<string>()
    const target = await startTarget((_, response, body) => {
      said.add(JSON.parse(body).messages[0].content)
      answerChat(response)
    })
    await withStorePath(async (dbPath) => {
      const scenario = await loadScenario(join(scenarios, 'prompts.ts'))
      const short = {
        ...scenario,
        threads,
        steps: scenario.steps.map((step) => ({ ...step, stream: false })),
        phases: [{ ...scenario.phases[0]!, durationUs: null, maxRequests: 12 }],
      }
      await run(short, { baseUrl: target.baseUrl, dbPath, keys })
      const [templates] = await query<{ n: number }>(
        dbPath,
        'SELECT count(DISTINCT body)::INTEGER AS n FROM templates',
      )
      expect(templates!.n).toBe(12)
    })
    target.close()
    return said
  }
  const said = await prompts(2)
  expect(said.size).toBe(12)
  expect([...said].some((prompt) => /^Request \d+: what did a \w+ do\?$/.test(prompt))).toBe(true)
  expect(await prompts(1)).toEqual(said)
})

test('a prompt function that throws is reported as an error of the scenario, without a stack', {
  tags: 'whole',
}, async () => {
  const target = await startTarget((_, response) => answerChat(response))
  const folder = mkdtempSync(join(tmpdir(), 'assay-prompt-'))
  const path = join(folder, 'throws.mjs')
  writeFileSync(
    path,
    `export default {
  name: 'throws', question: 'q', model: 'svc-k2',
  steps: { chat: { endpoint: 'chat', prompt: ({ index }) => { if (index === 2) throw new Error('no third'); return 'a' } } },
  phases: [{ name: 'steady', load: 'constant', rate: '50/s', max_requests: 9 }],
}`,
  )
  await withStorePath(async (dbPath) => {
    const scenario = await loadScenario(path)
    await expect(run(scenario, { baseUrl: target.baseUrl, dbPath, keys })).rejects.toMatchObject({
      name: 'UserError',
      message:
        'The prompt function of step chat failed at index 2, turn 0: no third. Fix it in the scenario.',
    })
  })
  rmSync(folder, { recursive: true })
  target.close()
})

test('synthetic text has exactly the requested tokens, by the real tokenizer', () => {
  const text = new TokenText(7)
  for (const tokens of [1, 2, 17, 500]) {
    for (const index of [0, 1, 99]) expect(countTokens(text.text(tokens, index))).toBe(tokens)
  }
  expect(text.text(20, 1)).not.toBe(text.text(20, 2))
  expect(text.text(20, 1)).toBe(new TokenText(7).text(20, 1))
})

test('precise pacing sends the same plan', { tags: 'whole' }, async () => {
  const target = await startTarget((_, response) => answerChat(response))
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(
      '  - { name: steady, load: poisson, rate: 200/s, max_requests: 100 }',
      'pacing: precise',
    )
    const { counts, verdict } = await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
    expect(counts).toMatchObject({ planned: 100, ok: 100 })
    const busy = verdict.tests.find((each) => each.name === 'event-loop utilisation')!
    expect(busy).toMatchObject({ result: 'not judged' })
    const [early] = await query<{ n: number }>(
      dbPath,
      'SELECT count(*)::INTEGER AS n FROM attempt_times WHERE lag_us < 0',
    )
    expect(early!.n).toBe(0)
  })
  target.close()
})

test('a calibration stores its figures and no attempts, and a run is compared with it', {
  tags: 'whole',
}, async () => {
  await withStorePath(async (dbPath) => {
    const found = await calibrate(dbPath, { threads: 1, seconds: 0.5, with: 'autocannon' })
    expect(found.autocannonPerS).toBeGreaterThan(500)
    expect(found.plainPerS).toBeGreaterThan(100)
    expect(found.eventsPerS).toBeGreaterThan(1000)
    const [left] = await query<{ attempts: number; runs: number }>(
      dbPath,
      `SELECT (SELECT count(*) FROM attempts)::INTEGER AS attempts, count(*)::INTEGER AS runs
       FROM runs WHERE kind = 'calibrate'`,
    )
    expect(left).toEqual({ attempts: 0, runs: 2 })
    const target = await startTarget((_, response) => answerChat(response))
    const shareOf = async (requests: number) => {
      const scenario = chatScenario(
        `  - { name: steady, load: constant, rate: 200/s, max_requests: ${requests} }`,
      )
      const { verdict } = await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
      return verdict.tests.find((each) => each.name === 'share of calibrated ceiling')!
    }
    const share = await shareOf(100)
    expect(share.result).not.toBe('not judged')
    expect(share.figure).toMatch(/^[1-9]?\d\.\d %$/)
    expect(Number.parseFloat(share.figure)).toBeGreaterThan(0)
    expect(await shareOf(5)).toMatchObject({
      result: 'not judged',
      figure: 'no steady phase has enough requests for a rate',
    })
    target.close()
  })
})

test('trace requests with shared blocks share the beginning of their prompts, to the token', () => {
  const text = new TokenText(7)
  const first = text.prompt({ inputTokens: 1100, hashIds: [5, 6, 7] }, 512, 0)
  const second = text.prompt({ inputTokens: 1500, hashIds: [5, 6, 8] }, 512, 1)
  const words = (prompt: string, from: number, to: number) =>
    prompt.split(' ').slice(from, to).join(' ')
  expect([countTokens(first), countTokens(second)]).toEqual([1100, 1500])
  expect(words(first, 0, 1024)).toBe(words(second, 0, 1024))
  expect(words(first, 1024, 1100)).not.toBe(words(second, 1024, 1100))
  // The same block at another place, cut short, has the same text.
  expect(text.prompt({ inputTokens: 40, hashIds: [6] }, 512, 9)).toBe(words(first, 512, 552))
  // Text outside of blocks is unique to the request.
  const own = (index: number) => text.prompt({ inputTokens: 600, hashIds: [5] }, 512, index)
  expect(countTokens(own(1))).toBe(600)
  expect(words(own(1), 0, 512)).toBe(words(first, 0, 512))
  expect(words(own(1), 512, 600)).not.toBe(words(own(2), 512, 600))
})

test('a budget counts each request of a trace at the price of its own model', {
  tags: 'whole',
}, async () => {
  const target = await startTarget((_, response) => answerChat(response))
  const folder = mkdtempSync(join(tmpdir(), 'assay-trace-'))
  const row = { endpoint: 'chat', streamed: 0, prompt_tokens: 4, completion_tokens: 2 }
  writeFileSync(
    join(folder, 'own.jsonl'),
    Array.from({ length: 8 }, (_, at) =>
      JSON.stringify({ ...row, intended_us: at * 20_000, model: 'svc-k2.5' }),
    ).join('\n'),
  )
  const scenario = chatScenario(
    `  - { name: steady, load: replay, file: ${folder}/own.jsonl, format: assay }`,
    'max_credits: 7',
  )
  expect(planOf(scenario, defaultContract, 1)[0]!.mostCredits).toBe(16)
  await withStorePath(async (dbPath) => {
    const result = await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
    expect(result.counts).toMatchObject({ planned: 8, ok: 3, notSent: 5 })
    expect(result.creditsByContract).toBe(6)
  })
  rmSync(folder, { recursive: true })
  target.close()
})
