import { describe, expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { flags } from '../../src/attempt/flags.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { loadScenario } from '../../src/scenario/parse.ts'
import { attempt } from '../report/attempts.ts'
import { verdictOver } from './verdict-over.ts'

const page = { origin: 'https://example.com' }
const template = (headers: Readonly<Record<string, string>>, more: object = {}) => ({
  runId: 'a',
  template: 0,
  step: 'chat',
  method: 'POST',
  path: defaultContract.paths.chat,
  headers: JSON.stringify(headers),
  body: null,
  maxTokens: null,
  n: null,
  promptHash: null,
  ...more,
})
const answer = (change: Partial<AttemptRow> = {}) => attempt(0, { template: 0, ...change })

describe('TRN-03 requires Access-Control-Allow-Origin if the request had an Origin', () => {
  test('a request without Origin is not a cross-origin request', async () => {
    const templates = [template({ accept: 'application/json' })]
    expect((await verdictOver('TRN-03', [answer()], { templates })).verdict).toBe('not-observed')
  })

  test('a request whose template was lost is not a cross-origin request', async () => {
    expect((await verdictOver('TRN-03', [answer()])).verdict).toBe('not-observed')
  })

  test.each([200, 401, 429, 503])(
    'a response with %i must allow the origin',
    { tags: 'whole' },
    async (status) => {
      const templates = [template(page)]
      const verdictOf = (row: AttemptRow) => verdictOver('TRN-03', [row], { templates })
      expect((await verdictOf(answer({ status }))).verdict).toBe('fail')
      expect((await verdictOf(answer({ status, flags: flags.allowOrigin }))).verdict).toBe('pass')
    },
  )
})

describe('TRN-03 requires of a preflight the headers that the format of its path needs', () => {
  /** The verdict on a preflight of chat, or of another path, that allows these headers. */
  async function verdictOf(
    allowed: string | null,
    status = 204,
    path = defaultContract.paths.chat,
  ) {
    const asked = { 'access-control-request-headers': 'authorization, x-api-key, content-type' }
    const row = answer({ endpoint: 'other', status, flags: flags.allowOrigin })
    const { runId, slot, retry } = row
    const lines = allowed === null ? '' : `\nAccess-Control-Allow-Headers: ${allowed}`
    const headers = `HTTP/1.1 ${status} No Content\nAccess-Control-Allow-Origin: *${lines}`
    return verdictOver('TRN-03', [row], {
      templates: [template({ ...page, ...asked }, { method: 'OPTIONS', path })],
      bodies: [{ runId, slot, retry, headers, body: '', truncated: false }],
    })
  }

  test.each([
    ['no headers at all', null, 'authorization'],
    ['all but authorization, which * does not cover', '*', 'authorization'],
    ['another header ending with authorization', 'x-authorization, content-type', 'authorization'],
    ['no content type', 'Authorization', 'content-type'],
  ])('a preflight that allows %s fails', async (_, allowed, missing) => {
    expect(await verdictOf(allowed)).toMatchObject({
      verdict: 'fail',
      observed: `a preflight that does not allow ${missing}`,
    })
  })

  test.each([
    'Authorization, Content-Type',
    'x-api-key,authorization ,content-type',
    '*, Authorization',
  ])('a preflight that allows %s passes', async (allowed) => {
    expect((await verdictOf(allowed)).verdict).toBe('pass')
  })

  test('a preflight of messages must also allow x-api-key', async () => {
    const { messages } = defaultContract.paths
    expect((await verdictOf('authorization, content-type', 200, messages)).verdict).toBe('fail')
    expect((await verdictOf('*', 200, messages)).verdict).toBe('pass')
  })

  test('a refused preflight fails, an outage decides nothing', { tags: 'whole' }, async () => {
    expect((await verdictOf(null, 405)).verdict).toBe('fail')
    for (const status of [429, 503]) {
      expect((await verdictOf(null, status)).verdict).toBe('not-observed')
    }
  })
})

test('the audit scenarios send an Origin with successes, streams and errors', async () => {
  const scenarios = await Promise.all(
    ['billing', 'errors', 'limits', 'streams'].map((name) =>
      loadScenario(`scenarios/audit-${name}.yaml`),
    ),
  )
  const asked = scenarios
    .flatMap(({ steps }) => steps)
    .filter(({ headers, endpoint }) => headers.origin !== undefined && endpoint !== 'other')
  const shares = (found: (step: (typeof asked)[number]) => boolean) => asked.some(found)
  expect(new Set(asked.map(({ endpoint }) => endpoint))).toEqual(
    new Set(['chat', 'messages', 'models', 'credits']),
  )
  expect(shares(({ stream }) => stream)).toBe(true)
  expect(shares(({ wrong }) => wrong === 'missing-key')).toBe(true)
  expect(shares(({ wrong }) => wrong === 'missing-messages')).toBe(true)
})

test('TRN-04 reads Access-Control-Expose-Headers from all of its lines', async () => {
  const verdictOf = async (exposed: string) => {
    const body = {
      ...{ runId: 'a', slot: 0, retry: 0, body: '{}', truncated: false },
      headers: `access-control-allow-origin: *\nx-credits-remaining: 9\nx-ratelimit-limit: 60\n${exposed}`,
    }
    return (
      await verdictOver('TRN-04', [answer()], { templates: [template(page)], bodies: [body] })
    ).verdict
  }
  const line = (name: string) => `access-control-expose-headers: ${name}\n`
  const [credits, limit] = [line('X-Credits-Remaining'), line('X-RateLimit-Limit')]
  expect(await verdictOf(credits + limit)).toBe('pass')
  expect(await verdictOf(credits)).toBe('fail')
})
