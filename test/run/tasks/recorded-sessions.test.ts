import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { defaultContract } from '../../../src/contract/default.ts'
import { planOf } from '../../../src/run/plan.ts'
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

test('the requests of recorded sessions wait for the answers before them, and then for the gap', async () => {
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
