import { describe, expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { flags } from '../../src/attempt/flags.ts'
import { parseContract } from '../../src/contract/load.ts'
import { attempt } from '../report/attempts.ts'
import { inFlight, read } from './in-flight.ts'
import { verdictOn } from './usage/answers.ts'
import { verdictOver } from './verdict-over.ts'

/** A pass needs something that was compared, and names the parts of its promise that nothing tested. */

const notedBy = async (rule: string, rows: readonly AttemptRow[], more = {}) => {
  const verdict = await verdictOver(rule, rows, more)
  return verdict.verdict === 'pass' ? (verdict.note ?? 'all') : verdict.verdict
}

describe('a pass names what was not tested', () => {
  const stream = { streamed: 1, flags: flags.sseType } as const

  test('SSE-01: plain answers alone say nothing of streams', async () => {
    expect(await notedBy('SSE-01', [attempt(0)])).toBe('not tested: streams')
    expect(await notedBy('SSE-01', [attempt(0, stream)])).toBe('not tested: plain answers')
    expect(await notedBy('SSE-01', [attempt(0), attempt(1, stream)])).toBe('all')
  })

  test('AUTH-04: one form of a request of four', async () => {
    const refused = (slot: number, more: Partial<AttemptRow>) =>
      attempt(slot, { expects: 'invalid-key', outcome: 'http_error', status: 401, ...more })
    expect(await notedBy('AUTH-04', [refused(0, {})])).toBe(
      'not tested: streamed chat, plain messages, streamed messages',
    )
    const all = [
      {},
      { streamed: 1 },
      { endpoint: 'messages' },
      { endpoint: 'messages', streamed: 1 },
    ] as const
    expect(
      await notedBy(
        'AUTH-04',
        all.map((more, slot) => refused(slot, more)),
      ),
    ).toBe('all')
  })

  test('ERR-06: successes alone say nothing of failures', async () => {
    expect(await notedBy('ERR-06', [attempt(0)])).toBe('not tested: failures')
    const failed = attempt(1, { outcome: 'http_error', status: 400 })
    expect(await notedBy('ERR-06', [attempt(0), failed])).toBe('all')
  })

  test('BILL-07: streams that completed say nothing of those that fail midway', async () => {
    const rows = [
      read(0, 0, 100),
      inFlight(1, 1, 5, null, { streamed: 1 }),
      read(2, 2, 100),
      read(3, 6, 99),
    ]
    expect(await notedBy('BILL-07', rows)).toBe('not tested: streams that failed midway')
  })

  test('MODEL-04: one model of three, on one format of two', async () => {
    const contract = parseContract(
      { name: 'mine', models: [{ id: 'a', aliases: ['first'] }, { id: 'b' }, { id: 'c' }] },
      'mine.yaml',
    )
    const body = '{"model":"first","messages":[{"role":"user","content":"Hello"}]}'
    const templates = [
      {
        ...{ runId: 'a', template: 0, step: 's', method: 'POST', path: '/v1/chat/completions' },
        ...{ headers: '{}', body, maxTokens: null, n: null, promptHash: null },
      },
    ]
    const rows = [attempt(0, { model: 'first', template: 0 })]
    expect(await notedBy('MODEL-04', rows, { contract, templates })).toBe(
      'not tested: a on messages, b on chat, b on messages, c on chat, c on messages',
    )
  })

  test('RATE-06: the charge of a rejection that is not between two balances', {
    tags: 'whole',
  }, async () => {
    const rejected = attempt(1, {
      ...{ outcome: 'http_error', status: 429, errorShape: 'chat' },
      ...{ errorCode: 'rate_limit_exceeded', errorType: 'rate_limit_error' },
    })
    expect(await notedBy('RATE-06', [attempt(0), rejected])).toContain('was not tested')
    const shown = [
      attempt(0, { creditsRemaining: 9 }),
      rejected,
      attempt(2, { creditsRemaining: 8 }),
    ]
    expect(await notedBy('RATE-06', shown)).toBe('all')
  })
})

describe('what compares nothing is not observed', () => {
  test('CHAT-02: a single id', async () => {
    const answer = (slot: number) => attempt(slot, { responseId: `id-${slot}` })
    expect(await notedBy('CHAT-02', [answer(0)])).toBe('not-observed')
    expect(await notedBy('CHAT-02', [answer(0), answer(1)])).toBe('all')
  })

  test('BILL-11: one value, which fits any history', { tags: 'whole' }, async () => {
    const rows = (second: number | null) => [
      inFlight(0, 1, 3, 99),
      inFlight(1, 2, 4, second),
      inFlight(2, 2, 5, null),
    ]
    expect(await notedBy('BILL-11', rows(null))).toBe('not-observed')
    expect(await notedBy('BILL-11', rows(98))).not.toBe('not-observed')
  })

  test('AUTH-01: a refusal for something else, which may come before the key', async () => {
    const templates = [
      {
        ...{ runId: 'a', template: 0, step: 's', method: 'POST', path: '/v1/chat/completions' },
        headers: '{"authorization":"Bearer $ASSAY_API_KEY"}',
        ...{ body: '{}', maxTokens: null, n: null, promptHash: null },
      },
    ]
    const bad = attempt(0, { template: 0, outcome: 'http_error', status: 400 })
    expect(await notedBy('AUTH-01', [bad], { templates })).toBe('not-observed')
    expect(await notedBy('AUTH-01', [attempt(0, { template: 0 })], { templates })).toBe('all')
  })

  test('USE-02: two pages between which nothing was consumed', { tags: 'whole' }, async () => {
    const page = (consumed: number, remaining: number) => ({ granted: 100, consumed, remaining })
    expect((await verdictOn('USE-02', page(10, 90), page(10, 90))).verdict).toBe('not-observed')
    expect((await verdictOn('USE-02', page(10, 90), page(11, 89))).verdict).toBe('pass')
    expect((await verdictOn('USE-02', page(10, 90), page(11, 90))).verdict).toBe('fail')
  })

  test('USE-03: hours and days without any use', async () => {
    const page = (credits: number) => ({
      by_day: [{ date: '2026-11-01', credits }],
      by_hour: [{ hour: '2026-11-01T00:00:00Z', credits }],
    })
    expect((await verdictOn('USE-03', page(0))).verdict).toBe('not-observed')
    expect((await verdictOn('USE-03', page(5))).verdict).toBe('pass')
  })

  test('USE-05: an average of days that all have the same one', { tags: 'whole' }, async () => {
    const page = (
      average: number,
      ...days: readonly (readonly [requests: number, tokens: number])[]
    ) => ({
      requests: days.reduce((sum, [requests]) => sum + requests, 0),
      average_tokens: average,
      by_day: days.map(([requests, tokens], at) => ({
        ...{ date: `2026-11-0${at + 1}`, requests },
        ...{ prompt_tokens: tokens, completion_tokens: 0 },
      })),
    })
    expect((await verdictOn('USE-05', page(30, [2, 60]))).verdict).toBe('not-observed')
    expect((await verdictOn('USE-05', page(40, [2, 60]))).verdict).toBe('fail')
    expect((await verdictOn('USE-05', page(22, [1, 50], [4, 60]))).verdict).toBe('pass')
    expect((await verdictOn('USE-05', page(32.5, [1, 50], [4, 60]))).verdict).toBe('fail')
  })

  test('RATE-12: one answer, which has one unit in any case', { tags: 'whole' }, async () => {
    const epochS = Date.UTC(2026, 10, 1) / 1000
    const shown = (slot: number) =>
      attempt(slot, {
        ...{ rateLimit: 60, rateRemaining: 59 - slot },
        ...{ dateS: epochS + slot, rateReset: epochS + 60 },
      })
    expect(await notedBy('RATE-12', [shown(0)])).toBe('not-observed')
    expect(await notedBy('RATE-12', [shown(0), shown(5)])).toBe('unit: epoch-s')
  })
})

describe('a model, a status or an account that was not compared is no pass', () => {
  test('BILL-01: a model whose charges were seen among others alone', async () => {
    // The client left the last one, which may have been charged or not.
    const left = { outcome: 'aborted', reason: 'after-headers' } as const
    const rows = [
      ...[read(0, 0, 100), inFlight(1, 1, 2, 99, { model: 'svc-k2' }), read(2, 3, 99)],
      inFlight(3, 4, 6, null, { model: 'svc-k2-thinking' }),
      ...[inFlight(4, 5, 5.5, null, { model: 'svc-k2', ...left }), read(5, 8, 97)],
    ]
    expect(await verdictOver('BILL-01', rows)).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringMatching(/^no charge on svc-k2-thinking was seen by itself/),
    })
  })

  test('BILL-01: a model without a success is named', async () => {
    const rows = [read(0, 0, 100), inFlight(1, 1, 2, 99, { model: 'svc-k2' }), read(2, 3, 99)]
    expect(await notedBy('BILL-01', rows)).toBe('not tested: svc-k2-0905, svc-k2-thinking')
  })

  test('BILL-05: a status that was seen and not compared is named', { tags: 'whole' }, async () => {
    const refused = (slot: number, fromS: number, status: number, toS = fromS + 0.5) =>
      inFlight(slot, fromS, toS, null, { outcome: 'http_error', status })
    const rows = [read(0, 0, 100), refused(1, 1, 400), read(2, 3, 100)]
    expect(await notedBy('BILL-05', rows)).toBe('all')
    // After the last value, nothing shows whether it was charged.
    expect(await notedBy('BILL-05', [...rows, refused(3, 4, 404)])).toMatch(
      /^(?:all|not tested: 404)$/,
    )
  })
})
