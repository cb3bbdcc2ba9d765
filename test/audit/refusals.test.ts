import { describe, expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { attempt } from '../report/attempts.ts'
import { verdictOver } from './verdict-over.ts'

/** A failure of the chat shape whose code is not a string. */
const failed = (status: number, change: Partial<AttemptRow> = {}): AttemptRow =>
  attempt(0, {
    outcome: 'http_error',
    status,
    errorShape: 'chat',
    errorType: 'invalid_request_error',
    ...change,
  })
const noPath = { endpoint: 'other', expects: 'unknown-path' } as const

describe('ERR-02 decides nothing where the table has no code (G-28)', () => {
  test.each([
    ['404 with code null on an unknown path', failed(404, noPath)],
    ['404 with code null on a missing chat path', failed(404)],
    ['500 with code null on chat', failed(500, { errorType: 'server_error' })],
    ['503 with a numeric code on chat', failed(503, { errorType: null })],
    ['401 with only a message on the models', failed(401, { endpoint: 'models', errorType: null })],
  ])('%s', { tags: 'whole' }, async (_, row) => {
    expect((await verdictOver('ERR-02', [row])).verdict).toBe('not-observed')
  })

  test.each([
    ['400 with code null on chat', failed(400)],
    ['404 with code null for an unknown model', failed(404, { expects: 'unknown-model' })],
    ['400 of another shape on chat', failed(400, { errorShape: 'messages' })],
    [
      '401 on the models with a code of the table but no type',
      failed(401, { endpoint: 'models', errorCode: 'invalid_api_key', errorType: null }),
    ],
  ])('but it fails on %s', async (_, row) => {
    expect((await verdictOver('ERR-02', [row])).verdict).toBe('fail')
  })
})

test('ERR-02 fails on a 404 with code null on a path that serves other requests', async () => {
  const rows = [attempt(1), failed(404)]
  expect(await verdictOver('ERR-02', rows)).toMatchObject({ verdict: 'fail', observations: 1 })
})

describe('ERR-03 decides nothing where the table has no type (G-28)', () => {
  const shape = { errorShape: 'messages', errorType: null } as const
  test.each([
    ['404 without a type on an unknown path', failed(404, { ...shape, ...noPath })],
    ['404 of the chat shape on the path of messages', failed(404, { endpoint: 'messages' })],
    ['500 without a type on messages', failed(500, { ...shape, endpoint: 'messages' })],
    ['401 without a type on the models', failed(401, { ...shape, endpoint: 'models' })],
  ])('%s', async (_, row) => {
    expect((await verdictOver('ERR-03', [row])).verdict).toBe('not-observed')
  })

  test.each([
    ['400 without a type on messages', failed(400, { ...shape, endpoint: 'messages' })],
    ['400 of the chat shape on messages', failed(400, { endpoint: 'messages' })],
  ])('but it fails on %s', async (_, row) => {
    expect((await verdictOver('ERR-03', [row])).verdict).toBe('fail')
  })

  test('but it fails on an error without a message on the models, if the table has its type', async () => {
    const row = failed(401, { ...shape, endpoint: 'models', errorType: 'authentication_error' })
    const { runId, slot, retry } = row
    const body = '{"type":"error","error":{"type":"authentication_error"}}'
    const bodies = [{ runId, slot, retry, headers: '', body, truncated: false }]
    expect((await verdictOver('ERR-03', [row], { bodies })).verdict).toBe('fail')
  })
})

describe('an error that may come before the 404 of an unknown path decides nothing (G-26)', () => {
  const credits = { errorCode: 'insufficient_credits', errorType: 'insufficient_quota' }
  test.each([
    ['500', failed(500, noPath)],
    ['502', failed(502, noPath)],
    ['503', failed(503, noPath)],
    ['403 for insufficient credits', failed(403, { ...noPath, ...credits })],
    ['403 of the messages shape', failed(403, { ...noPath, errorShape: 'messages' })],
  ])('%s', async (_, row) => {
    expect((await verdictOver('TRN-06', [row])).verdict).toBe('not-observed')
    expect((await verdictOver('ERR-05', [row])).verdict).not.toBe('fail')
  })

  test.each([
    ['a 200', attempt(0, noPath)],
    ['a 400', failed(400, noPath)],
    ['another 403', failed(403, noPath)],
  ])('%s in place of the 404 is a failure', async (_, row) => {
    expect((await verdictOver('TRN-06', [row])).verdict).toBe('fail')
  })
})

describe('ERR-05 asks a request that is invalid on purpose for a code of the table with status 400', () => {
  const chat = (errorCode: string, expects: 'invalid-parameter' | 'ok') =>
    failed(400, {
      endpoint: 'chat',
      errorShape: 'chat',
      errorCode,
      errorType: 'invalid_request_error',
      expects,
    })
  test.each([
    ['invalid_request', 'invalid-parameter', 'pass'],
    ['other', 'invalid-parameter', 'fail'],
    // Its status is open (gap G-27).
    ['context_length_exceeded', 'invalid-parameter', 'pass'],
    // What is wrong with it is not known.
    ['other', 'ok', 'not-observed'],
  ] as const)('%s for %s: %s', async (code, expects, verdict) => {
    expect((await verdictOver('ERR-05', [chat(code, expects)])).verdict).toBe(verdict)
  })

  test('the messages table names no type for 400, so it decides nothing', async () => {
    const row = failed(400, {
      endpoint: 'messages',
      errorShape: 'messages',
      errorType: 'other',
      expects: 'malformed-json',
    })
    expect((await verdictOver('ERR-05', [row])).verdict).toBe('not-observed')
  })
})

describe('ERR-05 allows a type of the messages table only with the statuses of the table', () => {
  const typed = (status: number, errorType: string) =>
    failed(status, { endpoint: 'messages', errorShape: 'messages', errorType })
  test.each([
    [400, 'invalid_request_error', 'pass'],
    [403, 'invalid_request_error', 'pass'],
    [500, 'invalid_request_error', 'fail'],
    [503, 'api_error', 'pass'],
    [401, 'api_error', 'fail'],
    // A type that is not in the table has no meaning to check.
    [503, 'overloaded_error', 'not-observed'],
  ])('%i with %s: %s', async (status, type, expected) => {
    expect((await verdictOver('ERR-05', [typed(status, type)])).verdict).toBe(expected)
  })
})
