import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { run } from '../../src/run/run.ts'
import { readPackedBodies } from '../../src/store/attempts/packed-bodies.ts'
import { encodings, shows } from '../user/secrets/encodings.ts'
import {
  answerChat,
  chatScenario,
  key,
  query,
  refuse,
  startTarget,
  withStorePath,
} from './target.ts'

const keys = { default: key }

test('two sending threads share one plan: each slot once, the same as with one thread', {
  tags: 'whole',
}, async () => {
  const target = await startTarget((_, response) => answerChat(response))
  const sent = async (threads: number) =>
    withStorePath(async (dbPath) => {
      const scenario = chatScenario(
        '  - { name: steady, load: poisson, rate: 200/s, duration: 500ms }',
        `threads: ${threads}\nkeys: { one: { env: A }, two: { env: B, weight: 3 } }`,
        ', weight: 2 }\n  list: { endpoint: models }\n  long: { endpoint: chat, prompt: { synthetic: { uniform: { min: 5, max: 50 } } }',
      )
      const { counts } = await run(scenario, {
        baseUrl: target.baseUrl,
        dbPath,
        keys: { one: 'sk-one', two: 'sk-two' },
      })
      const rows = await query<{ slot: number; shard: number }>(
        dbPath,
        `SELECT slot, intended_us - min(intended_us) OVER () AS us, step, key_fp, template, shard
         FROM attempts ORDER BY slot`,
      )
      expect(rows.length).toBe(counts.planned)
      expect(new Set(rows.map((row) => row.shard)).size).toBe(threads)
      // The counts of both threads are in one histogram per metric, and none is lost.
      const counted = await query(
        dbPath,
        `SELECT metric, sum(samples)::INTEGER AS n FROM histograms GROUP BY metric ORDER BY metric`,
      )
      const n = counts.ok
      expect(counted).toEqual([
        { metric: 'response', n },
        { metric: 'service', n },
      ])
      return rows.map(({ shard: _, ...row }) => row)
    })
  expect(await sent(2)).toEqual(await sent(1))
  target.close()
})

test('phases follow each other without a gap, and their slots continue', {
  tags: 'whole',
}, async () => {
  const target = await startTarget((_, response) => answerChat(response))
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(
      `  - { name: warm, part: warmup, load: constant, rate: 50/s, duration: 500ms }
  - { name: steady, load: constant, rate: 100/s, duration: 500ms }
  - { name: closed, load: concurrency, users: 2, think: 10ms, duration: 1500ms }
  - { name: last, part: drain, load: constant, rate: 50/s, max_requests: 5 }`,
    )
    await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
    const rows = await query<{ phase: string; first: number; last: number; n: number; us: number }>(
      dbPath,
      `SELECT phase, min(slot) AS first, max(slot) AS last, count(*)::INTEGER AS n,
         min(intended_us) AS us FROM attempts GROUP BY phase ORDER BY first`,
    )
    expect(rows.map((row) => row.phase)).toEqual(['warm', 'steady', 'closed', 'last'])
    expect(rows.map((row) => row.last - row.first + 1)).toEqual(rows.map((row) => row.n))
    // After a closed phase, slots continue at the same point on every machine: a slot per
    // microsecond.
    expect(rows.map((row) => row.first)).toEqual([0, 25, 75, 75 + 1_500_000])
    expect(rows[1]!.us - rows[0]!.us).toBe(500_000)
    expect(rows[3]!.n).toBe(5)
  })
  target.close()
})

test('success is a 2xx with a whole body, distinct from errors and broken answers', {
  tags: 'whole',
}, async () => {
  let at = 0
  const target = await startTarget((_, response) => {
    switch (at++ % 4) {
      case 0:
        return answerChat(response)
      case 1:
        return refuse(response, 429, 'rate_limit_exceeded')
      case 2:
        response.writeHead(200, { 'content-type': 'application/json' })
        return response.end('{"choices": [')
      default:
        return response.destroy()
    }
  })
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(
      '  - { name: steady, load: constant, rate: 50/s, max_requests: 40 }',
    )
    const { counts } = await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
    expect(counts).toMatchObject({ planned: 40, ok: 10, httpError: 10, broken: 20 })
  })
  target.close()
})

test('a conversation repeats its earlier turns, on one key, turn by turn', {
  tags: 'whole',
}, async () => {
  const asked: { auth: string; messages: readonly { role: string; content: string }[] }[] = []
  const target = await startTarget((request, response, body) => {
    const { messages } = JSON.parse(body)
    asked.push({ auth: String(request.headers.authorization), messages })
    answerChat(response, `answer ${messages.length}`)
  })
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(
      '  - { name: steady, load: constant, rate: 20/s, max_requests: 4 }',
      'keys: { one: { env: A }, two: { env: B } }',
      ', session: { turns: 3, think: 20ms }',
    )
    const { counts } = await run(scenario, {
      baseUrl: target.baseUrl,
      dbPath,
      keys: { one: 'sk-one', two: 'sk-two' },
    })
    expect(counts).toMatchObject({ planned: 12, ok: 12 })
    const last = asked.filter(({ messages }) => messages.length === 5)
    expect(last.length).toBe(4)
    expect(last[0]!.messages.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      'user: Hello',
      'assistant: answer 1',
      'user: Hello',
      'assistant: answer 3',
      'user: Hello',
    ])
    const sessions = await query<{ session: number; turns: readonly number[]; keys: number }>(
      dbPath,
      `SELECT session, list(turn ORDER BY slot) AS turns, count(DISTINCT key_fp)::INTEGER AS keys
       FROM attempts GROUP BY session`,
    )
    expect(sessions.map(({ turns, keys }) => ({ turns, keys }))).toEqual(
      Array(4).fill({ turns: [0, 1, 2], keys: 1 }),
    )
  })
  target.close()
})

test.each(['its own key', 'the key of another request'])(
  'no key is in the store, in any encoding, if a service answers with %s',
  { tags: 'whole' },
  async (whose) => {
    const own = { one: 'sk-live-Zx8/q+R0vT5wY2mN7pL4', two: 'sk-test-9GhK3bVc1XsW8nQe5Rt2' }
    const encode = Object.values(encodings)
    let sent = 0
    const target = await startTarget((request, response) => {
      const came = String(request.headers.authorization).replace('Bearer ', '')
      const other = came === own.one ? own.two : own.one
      const echo = encode[sent++ % encode.length]!(whose === 'its own key' ? came : other)
      response.writeHead(400, {
        'content-type': 'application/json',
        'x-echo': encodeURIComponent(echo),
      })
      const error = { message: `bad ${other} ${came}`, code: echo, type: echo }
      response.end(JSON.stringify({ id: echo, model: echo, error }))
    })
    await withStorePath(async (dbPath) => {
      const scenario = chatScenario(
        `  - { name: steady, load: constant, rate: 100/s, max_requests: ${2 * encode.length} }`,
        'capture: all\nkeys: { one: { env: A }, two: { env: B } }',
      )
      const summary = await run(scenario, { baseUrl: target.baseUrl, dbPath, keys: own })
      expect(summary.counts.httpError).toBe(2 * encode.length)
      const rows = await query<Record<string, unknown>>(
        dbPath,
        'SELECT * FROM attempts JOIN bodies USING (run_id, slot, retry)',
      )
      expect(rows).toHaveLength(2 * encode.length)
      const texts = rows.flatMap((row) =>
        Object.values(row).filter((value): value is string => typeof value === 'string'),
      )
      for (const key of Object.values(own)) {
        expect(texts.filter((text) => shows(text, key))).toEqual([])
        expect(readFileSync(dbPath).includes(key.slice(8, 16))).toBe(false)
        expect(JSON.stringify(summary)).not.toContain(key.slice(8, 16))
      }
      expect(texts.filter((text) => text.includes('[key]')).length).toBeGreaterThan(encode.length)
    })
    target.close()
  },
)

test('capture: all keeps long answers in a file next to the store, and each reads back unchanged', {
  tags: 'whole',
}, async () => {
  const body = JSON.stringify({ error: { message: 'a long story '.repeat(4000), code: 'c' } })
  const target = await startTarget((_, response) => {
    response.writeHead(400, { 'content-type': 'application/json' })
    response.end(body)
  })
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(
      '  - { name: steady, load: constant, rate: 100/s, max_requests: 60 }',
      'capture: all',
    )
    const { verdict } = await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
    expect(verdict.tests.find(({ name }) => name === 'captures')).toBe(undefined)
    const rows = await query<{ body: string | null; at: number }>(
      dbPath,
      'SELECT body, packed_at AS at FROM bodies',
    )
    expect(rows.map((row) => row.body)).toEqual(Array(60).fill(null))
    const places = rows.map(({ at }) => at)
    expect(readPackedBodies(dbPath, places)).toEqual(Array(60).fill(body))
  })
  target.close()
})

test('if nothing listens, a run ends at once with one sentence and leaves no run behind', async () => {
  // Not a port that was just released: another test may get it.
  const baseUrl = 'http://127.0.0.1:1'
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario('  - { name: steady, load: constant, rate: 5/s, duration: 60s }')
    await expect(run(scenario, { baseUrl, dbPath, keys })).rejects.toThrow(
      /was never reached: nothing listens there \(connection refused\)\. Start the service, or correct the base URL\./,
    )
  })
})

test('a missing key is named by its variable, never by its value', async () => {
  const scenario = chatScenario(
    '  - { name: steady, load: constant, rate: 5/s, duration: 1s }',
    'keys: { gold: { env: ASSAY_TEST_NO_SUCH_KEY } }',
  )
  await expect(
    run(scenario, { baseUrl: 'http://127.0.0.1:9', dbPath: 'unused.duckdb' }),
  ).rejects.toThrow(
    'The key gold comes from the variable ASSAY_TEST_NO_SUCH_KEY, which is not set.',
  )
})

test('histograms of intervals add up to the rows, and failures have their own', {
  tags: 'whole',
}, async () => {
  let at = 0
  const target = await startTarget((_, response) =>
    at++ % 3 === 0 ? refuse(response, 429, 'rate_limit_exceeded') : answerChat(response),
  )
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(
      '  - { name: steady, load: constant, rate: 300/s, max_requests: 90 }',
    )
    await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
    const rows = await query(
      dbPath,
      'SELECT metric, sum(samples)::INTEGER AS n FROM histograms GROUP BY metric ORDER BY metric',
    )
    expect(rows).toEqual([
      { metric: 'failed_response', n: 30 },
      { metric: 'failed_service', n: 30 },
      { metric: 'response', n: 60 },
      { metric: 'service', n: 60 },
    ])
  })
  target.close()
})

test('a saturating load keeps one request on each connection and writes a row for each answer', {
  tags: 'whole',
}, async () => {
  const target = await startTarget((_, response) => void setTimeout(() => answerChat(response), 20))
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(
      `  - { name: flat-out, load: saturate, connections: 8, duration: 2s }
  - { name: after, load: constant, rate: 20/s, max_requests: 4 }`,
    )
    const { counts, verdict } = await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
    // Eight connections of 20 ms each: at most 400 in a second. A busy machine does less.
    expect(counts.ok).toBeGreaterThan(150)
    expect(counts.ok).toBeLessThanOrEqual(820)
    expect(counts.sent).toBe(counts.ok)
    expect(target.requests).toBe(counts.sent)
    expect(verdict.tests.find((each) => each.name === 'counts')!.result).toBe('held')
    const [row] = await query<{ fast: number; n: number; slots: number }>(
      dbPath,
      `SELECT min(service_us) AS fast, count(*)::INTEGER AS n, count(DISTINCT slot)::INTEGER AS slots
       FROM attempt_times WHERE outcome = 'ok' AND completion_tokens = 2 AND credits_remaining = 99`,
    )
    expect(row!.fast).toBeGreaterThan(19_000)
    expect(row!.slots).toBe(row!.n)
    const [most] = await query<{ n: number }>(
      dbPath,
      `SELECT max(n)::INTEGER AS n FROM (SELECT sum(step) OVER (ORDER BY us, step) AS n FROM (
         SELECT dispatched_us AS us, 1 AS step FROM attempts WHERE phase = 'flat-out'
         UNION ALL SELECT closed_us, -1 FROM attempts WHERE phase = 'flat-out'))`,
    )
    expect(most!.n).toBe(8)
  })
  target.close()
})

test('a saturating load sends steps, keys and prompts by weight, and a wrong step is not a failure', {
  tags: 'whole',
}, async () => {
  const target = await startTarget((_, response, body) =>
    body.includes('"messages"')
      ? setTimeout(() => answerChat(response), 2)
      : setTimeout(() => refuse(response, 400, 'invalid_request'), 2),
  )
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(
      '  - { name: flat-out, load: saturate, connections: 4, duration: 2s }',
      'keys: { one: { env: A }, two: { env: B, weight: 2 } }\nstop: { consecutive_failures: 3 }',
      ', weight: 3 }\n  wrong: { endpoint: chat, wrong: missing-messages, keys: [one] }\n  long: { endpoint: chat, weight: 2, prompt: { synthetic: 5, pool: 7 }',
    )
    const { counts, stopped } = await run(scenario, {
      baseUrl: target.baseUrl,
      dbPath,
      keys: { one: 'sk-one', two: 'sk-two' },
    })
    expect([stopped, counts.broken]).toEqual([null, 0])
    const shares = await query<{ what: string; share: number }>(
      dbPath,
      `SELECT step || ' ' || dense_rank() OVER (ORDER BY key_fp) AS what,
         count(*) / sum(count(*)) OVER () AS share FROM attempts GROUP BY step, key_fp ORDER BY step, share`,
    )
    const expected = [1 / 6, 2 / 6, 1 / 9, 2 / 9, 1 / 6]
    expect(shares).toHaveLength(expected.length)
    for (const [at, { share }] of shares.entries()) expect(share).toBeCloseTo(expected[at]!, 1)
    const [seen] = await query(
      dbPath,
      `SELECT count(DISTINCT template) FILTER (step = 'long')::INTEGER AS prompts,
         bool_and(outcome = 'http_error') FILTER (step = 'wrong') AS refused,
         count(error_code) FILTER (error_code = 'invalid_request') > 0 AS told,
         bool_and(outcome <> 'http_error') FILTER (step <> 'wrong') AS right
       FROM attempts`,
    )
    expect(seen).toEqual({ prompts: 7, refused: true, told: true, right: true })
  })
  target.close()
})

test('a saturating load stops after consecutive failures, like every load', {
  tags: 'whole',
}, async () => {
  const target = await startTarget((_, response) => refuse(response, 500, 'oops'))
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(
      '  - { name: flat-out, load: saturate, connections: 2, duration: 60s }',
      'stop: { consecutive_failures: 20 }',
    )
    const { stopped } = await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
    expect(stopped).toBe('errors')
  })
  target.close()
})

test('a saturating load never exceeds the budget, including requests in flight, and reports its end', {
  tags: 'whole',
}, async () => {
  const target = await startTarget((_, response) => void setTimeout(() => answerChat(response), 5))
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(
      '  - { name: flat-out, load: saturate, connections: 8, duration: 4s }',
      'max_credits: 40',
    )
    const { counts, stopped } = await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
    expect(target.requests).toBeLessThanOrEqual(40)
    expect(counts.ok).toBe(40)
    expect(stopped).toBe('budget')
    // Once for each connection, and again if the second was not over yet.
    expect(counts.notSent).toBeGreaterThanOrEqual(8)
    expect(counts.notSent).toBeLessThanOrEqual(16)
    const rows = await query(
      dbPath,
      `SELECT DISTINCT reason FROM attempts WHERE outcome = 'not_sent'`,
    )
    expect(rows).toEqual([{ reason: 'budget' }])
  })
  target.close()
})

test('a sample keeps one success in a hundred and twenty failures of each kind, and flags them', {
  tags: 'whole',
}, async () => {
  let seen = 0
  const target = await startTarget((_, response) =>
    ++seen % 4 === 0 ? refuse(response, 500, 'oops') : answerChat(response),
  )
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(
      '  - { name: steady, load: constant, rate: 400/s, max_requests: 201 }',
      'capture: sample',
    )
    await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
    const rows = await query<{ outcome: string; kept: number; flagged: number }>(
      dbPath,
      `SELECT outcome, count(bodies.slot)::INTEGER AS kept, sum(flags & 32768)::INTEGER // 32768 AS flagged
       FROM attempts LEFT JOIN bodies USING (run_id, slot, retry) GROUP BY outcome ORDER BY outcome`,
    )
    expect(rows[0]).toEqual({ outcome: 'http_error', kept: 20, flagged: 20 })
    expect(rows[1]!.kept).toBeGreaterThanOrEqual(1)
    expect(rows[1]!.kept).toBeLessThanOrEqual(3)
    expect(rows[1]!.flagged).toBe(rows[1]!.kept)
  })
  target.close()
})

test('neither a sweep nor the end of a run waits for users whose think time outlasts their phase', {
  tags: 'whole',
  timeout: 20_000,
}, async () => {
  const target = await startTarget((_, response) => answerChat(response))
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(
      `  - { name: users, load: concurrency, users: 2, think: 60s, duration: 300ms }
  - { name: search, load: sweep, start: 20/s, max: 20/s, trial: 300ms, goodput: 50%, hold: 100 }
  - { name: last, load: concurrency, users: 2, think: 60s, duration: 300ms }`,
      'objectives: { service: 100ms }',
    )
    await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
    const [ended] = await query<{ users: number; s: number }>(
      dbPath,
      `SELECT count(*) FILTER (phase IN ('users', 'last'))::INTEGER AS users, max(closed_us) / 1e6 AS s FROM attempts`,
    )
    expect(ended!.users).toBe(4)
    expect(ended!.s).toBeLessThan(20)
  })
  target.close()
})
