import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readCreditsBody } from '../../src/probe/usage-body.ts'
import { type CreditsAnswer, keepPolls, type Poll, watchCredits } from '../../src/probe/watch.ts'
import { parseGrants } from '../../src/report/usage/grants.ts'
import { openStore } from '../../src/store/session/open.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-polls-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('figures are found by common names, the shallowest first', () => {
  expect(
    readCreditsBody({
      object: 'credits',
      total_consumed: 7,
      remaining: 93,
      requests: 5,
      average_tokens_per_request: 12.5,
      by_day: [{ consumed: 1, remaining: 2 }],
    }),
  ).toEqual({ consumed: 7, remaining: 93, requests: 5, averageTokens: 12.5, grants: [] })
  expect(
    readCreditsBody({ data: { creditsUsed: 3, balance: { remaining: 9 } }, used: 4 }),
  ).toMatchObject({
    consumed: 4,
    remaining: 9,
    requests: null,
  })
  expect(readCreditsBody({ a: { b: 3 }, consumed: 1 }, { consumed: 'a.b' }).consumed).toBe(3)
  for (const nothing of [null, 'text', [], { consumed: 'seven' }]) {
    expect(readCreditsBody(nothing).consumed).toBeNull()
  }
})

test('credits with an expiry are grants, with times in any common unit', () => {
  const body = {
    grants: [
      { package: 'Standard', remaining: 400, expires_at: '2026-12-01T00:00:00Z' },
      { package: 'Starter', remaining: 50, expires_at: null },
      { package: 'Premium', remaining: 1, expires_at: 1_796_083_200 },
    ],
  }
  const at = Date.UTC(2026, 11, 1) * 1000
  expect(readCreditsBody(body).grants).toEqual([
    { name: 'Standard', credits: 400, expiresUs: at },
    { name: 'Starter', credits: 50, expiresUs: null },
    { name: 'Premium', credits: 1, expiresUs: at },
  ])
  expect(parseGrants('- { name: a, credits: 5, expires: 2026-12-01 }', 'g.yaml', 'UTC')).toEqual([
    { name: 'a', credits: 5, expiresUs: at },
  ])
  expect(() => parseGrants('- { name: a }', 'g.yaml', 'UTC')).toThrow(
    /g\.yaml is not a list of grants/,
  )
})

test('every answer is kept, also if it is not JSON, and a missing answer is not a row', async () => {
  const dbPath = join(folder, 'polls.duckdb')
  let polls = 0
  const answer = (): CreditsAnswer => ({
    polledUs: 1e15 + polls,
    serviceUs: null,
    status: polls === 1 ? null : 200,
    body: polls === 2 ? '<html>not json' : `{"total_consumed": ${polls}, "remaining": 5}`,
  })
  const watch = {
    keep: (some: readonly Poll[]) => keepPolls(dbPath, some),
    baseUrl: 'http://127.0.0.1',
    keyFp: 'abc',
    fields: {},
    ask: async () => answer(),
    next: async () => ++polls < 4,
  }
  const kept: boolean[] = []
  expect(await watchCredits({ ...watch, onPoll: (_, isKept) => kept.push(isKept) })).toEqual([])
  expect(kept).toEqual([true, true, true, true])
  const store = await openStore(dbPath)
  expect(await store.rows('SELECT consumed, body FROM usage_polls ORDER BY polled_us')).toEqual([
    { consumed: 0, body: '{"total_consumed": 0, "remaining": 5}' },
    { consumed: null, body: '<html>not json' },
    { consumed: 3, body: '{"total_consumed": 3, "remaining": 5}' },
  ])
  store.close()
})

test('polls wait in memory while another process holds the file, and none is lost', {
  tags: 'whole',
}, async () => {
  const dbPath = join(folder, 'held.duckdb')
  ;(await openStore(dbPath)).close()
  const holder = spawn(process.execPath, [
    '--input-type=module',
    '-e',
    `import { openStore } from ${JSON.stringify(new URL('../../src/store/session/open.ts', import.meta.url).href)}
     const store = await openStore(${JSON.stringify(dbPath)})
     process.stdout.write('held')
     process.stdin.resume()`,
  ])
  await once(holder.stdout, 'data')
  let polls = 0
  const kept: boolean[] = []
  await watchCredits({
    keep: (some: readonly Poll[]) => keepPolls(dbPath, some),
    baseUrl: 'http://127.0.0.1',
    keyFp: 'abc',
    fields: {},
    ask: async () => ({ polledUs: polls, serviceUs: null, status: 200, body: '{"used": 1}' }),
    next: async () => {
      if (++polls === 2) {
        holder.kill()
        await once(holder, 'exit')
      }
      return polls < 3
    },
    onPoll: (_, isKept) => kept.push(isKept),
  })
  expect(kept).toEqual([false, false, true])
  const store = await openStore(dbPath)
  expect(await store.rows('SELECT count(*) AS n FROM usage_polls')).toEqual([{ n: 3 }])
  store.close()
})
