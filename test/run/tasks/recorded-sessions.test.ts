import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { defaultContract } from '../../../src/contract/default.ts'
import { planOf } from '../../../src/run/plan/plan.ts'
import { run } from '../../../src/run/run.ts'
import { parseScenario } from '../../../src/scenario/parse.ts'
import { answerChat, key, query, startTarget, withStorePath } from '../target.ts'

function streamChat(response: ServerResponse): void {
  const chunk = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'svc-k2', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(`${chunk({ content: 'Yes.' }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`)
}

const samples = join(import.meta.dirname, '../../schedule/traces/samples')

const scenarioOf = (gaps: string) =>
  parseScenario(`
name: sessions
question: Do recorded sessions wait?
model: svc-k2
threads: 2
steps: { chat: { endpoint: chat } }
phases:
  - { name: bailian, load: replay, file: ${join(samples, 'bailian-chain.jsonl')}, speed: 100, gaps: ${gaps} }
  - { name: weka, load: replay, file: ${join(samples, 'weka-relative.json')}, speed: 100, gaps: ${gaps} }
`)

interface Row {
  readonly phase: string
  readonly nth: number
  readonly session: number
  readonly turn: number
  readonly intended_us: number
  readonly done_us: number
  readonly prompt: number
}

test('the requests of recorded sessions wait for the answers before them, and then for the gap', {
  tags: 'whole',
}, async () => {
  const words: number[] = []
  const target = await startTarget((_, response, body) => {
    const { messages, stream } = JSON.parse(body)
    words.push(messages[0].content.split(' ').length)
    setTimeout(() => (stream === true ? streamChat(response) : answerChat(response)), 40)
  })
  const scenario = scenarioOf('{ cap: 30ms }')
  const plans = planOf({ ...scenario, threads: 1 }, defaultContract, 1)
  await withStorePath(async (dbPath) => {
    const { counts } = await run(scenario, {
      ...{ dbPath, baseUrl: target.baseUrl, keys: { default: key } },
    })
    const planned = plans.map(({ requests }) => requests!)
    expect(counts.ok).toBe(planned[0]! + planned[1]!)
    const rows = await query<Row>(
      dbPath,
      `SELECT phase, slot::INTEGER AS nth, session, turn, intended_us, done_us FROM attempts ORDER BY slot`,
    )
    expect(rows.map(({ nth }) => nth)).toEqual([...rows.keys()])
    for (const [at, { phase, trace }] of plans.entries()) {
      const mine = rows.filter((row) => row.phase === phase)
      expect(mine).toHaveLength(planned[at]!)
      const recorded = trace!.firstRequests
      const waiting = recorded.filter(({ after }) => after !== null)
      expect(waiting.length).toBeGreaterThan(1)
      for (const [index, { after, gapMs }] of recorded.entries()) {
        if (after === null) continue
        const [row, before] = [mine[index]!, mine[after]!]
        expect(row.session).toBe(before.session)
        const servedUs = recorded[after]!.serviceUs ?? 0
        const gapUs = Math.min(30_000, Math.max(0, gapMs! * 1000 - servedUs) / 100)
        const waitedUs = row.intended_us - before.done_us
        expect(waitedUs).toBeGreaterThanOrEqual(gapUs - 1)
      }
    }
    // A session goes on after the end of its phase, so requests of both arrive in any order.
    const tokens = plans.flatMap(({ trace }) =>
      trace!.firstRequests.map(({ promptTokens }) => promptTokens),
    )
    expect(words.toSorted((a, b) => a - b)).toEqual(tokens.toSorted((a, b) => a - b))
    const tasks = await query<{ outcome: string; task: string; n: number; requests: number }>(
      dbPath,
      `SELECT outcome, task, count(*)::INTEGER AS n, sum(requests)::INTEGER AS requests FROM tasks GROUP BY ALL`,
    )
    const sessions = new Set(rows.map(({ session }) => session)).size
    expect(tasks).toEqual([
      { outcome: 'ok', task: 'session', n: sessions, requests: planned[0]! + planned[1]! },
    ])
  })
  target.close()
})

test('the sessions of any number of shards add up to the trace', () => {
  const scenario = { ...scenarioOf('recorded'), threads: 1 }
  const whole = planOf(scenario, defaultContract, 1)
  for (let of = 1; of <= 8; of++) {
    const parts = Array.from({ length: of }, (_, index) =>
      planOf(scenario, defaultContract, 1, { index, of }),
    )
    for (const [at, { requests }] of whole.entries()) {
      expect(parts.reduce((sum, part) => sum + part[at]!.requests!, 0)).toBe(requests)
    }
  }
})

test('users do every recorded session once, in order, each one after the other, with its gaps', {
  tags: 'whole',
}, async () => {
  let flying = 0
  let most = 0
  const target = await startTarget((_, response) => {
    most = Math.max(most, ++flying)
    setTimeout(() => {
      flying--
      answerChat(response)
    }, 20)
  })
  const folder = mkdtempSync(join(tmpdir(), 'users-'))
  const file = join(folder, 'trace.jsonl')
  // Twelve sessions of three requests that all began at once; the gaps of 100 ms are 10 ms at this speed.
  const lines = Array.from({ length: 36 }, (_, at) => ({
    timestamp: Math.floor(at / 12) * 100,
    input_length: 10,
    output_length: 5,
    session_id: `s${at % 12}`,
  }))
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const scenario = parseScenario(`
name: users
question: How long do three users take?
model: svc-k2
threads: 2
steps: { chat: { endpoint: chat } }
phases:
  - { name: sessions, load: replay, file: ${file}, format: mooncake, unit: ms, speed: 10, users: 3 }
  - { name: after, load: constant, rate: 20/s, max_requests: 2 }
`)
  const [plan] = planOf({ ...scenario, threads: 1 }, defaultContract, 1)
  expect(plan!.requests).toBe(36)
  await withStorePath(async (dbPath) => {
    await run(scenario, { ...{ dbPath, baseUrl: target.baseUrl, keys: { default: key } } })
    const rows = await query<Row>(
      dbPath,
      `SELECT slot::INTEGER AS nth, session, turn, intended_us, done_us FROM attempts
       WHERE phase = 'sessions' ORDER BY session, turn`,
    )
    expect(rows.map(({ nth }) => nth).toSorted((a, b) => a - b)).toEqual([...Array(36).keys()])
    const sessions = [...Map.groupBy(rows, ({ session }) => session).values()]
    expect(sessions).toHaveLength(12)
    for (const requests of sessions) {
      for (const [at, { intended_us }] of requests.entries()) {
        if (at === 0) continue
        expect(intended_us - requests[at - 1]!.done_us).toBeCloseTo(10_000, -1)
      }
    }
    expect(most).toBe(3)
    // At no time more sessions than users, counted from the starts and ends of the sessions.
    const moments = sessions.flatMap((requests) => [
      { atUs: requests[0]!.intended_us, change: 1 },
      { atUs: requests.at(-1)!.done_us, change: -1 },
    ])
    let busy = 0
    for (const { change } of moments.toSorted((a, b) => a.atUs - b.atUs || a.change - b.change)) {
      busy += change
      expect(busy).toBeLessThanOrEqual(3)
    }
    const after = await query<{ n: number }>(
      dbPath,
      `SELECT count(*)::INTEGER AS n FROM attempts WHERE phase = 'after' AND slot >= 36`,
    )
    expect(after).toEqual([{ n: 2 }])
  })
  target.close()
  rmSync(folder, { recursive: true })
})
