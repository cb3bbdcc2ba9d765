import { expect, test } from 'vitest'
import type { AttemptRow } from '../../../../src/attempt/columns.ts'
import type { BodyRow, TemplateRow } from '../../../../src/attempt/evidence.ts'
import { flags } from '../../../../src/attempt/flags.ts'
import {
  abandonments,
  type BalanceHistory,
  effects,
} from '../../../../src/audit/evidence/billing/history.ts'
import { loadHistories } from '../../../../src/audit/evidence/billing/load.ts'
import type { FullContract } from '../../../../src/contract/contract.ts'
import { defaultContract } from '../../../../src/contract/default.ts'
import { appendAttempts, Recorder } from '../../../../src/store/attempts/recorder.ts'
import { attempt, enterEndedRun } from '../../../report/attempts.ts'
import { inEmptyStore } from '../../../store/opened.ts'

const none = Number.NaN
const contract: FullContract = {
  ...defaultContract,
  timeouts: { connectMs: 1, readMs: 1_000, streamMs: 3_000 },
}
interface More {
  readonly templates?: readonly TemplateRow[]
  readonly bodies?: readonly BodyRow[]
  readonly contract?: FullContract
  readonly ledger?: object
  readonly runIds?: readonly string[]
  readonly timeScale?: number
}

async function loaded(rows: readonly AttemptRow[], more: More = {}) {
  const { templates = [], bodies = [], ledger = {}, runIds = ['a'], timeScale = 1 } = more
  return inEmptyStore(async (store) => {
    for (const runId of new Set(rows.map((row) => row.runId))) {
      // Each against a service of its own, so that no run is an earlier one of another.
      await enterEndedRun(store, runId, { baseUrl: `http://${runId}`, timeScale })
    }
    await store.execute('UPDATE runs SET attempt_counts_json = $1', [JSON.stringify(ledger)])
    await appendAttempts(store, rows)
    const recorder = await Recorder.open(store)
    recorder.append('templates', templates)
    recorder.appendBodies(bodies)
    recorder.flush()
    await recorder.close()
    return await loadHistories({ store, runIds, contract: more.contract ?? contract })
  })
}

/** The same of one account. */
async function columns<Name extends keyof BalanceHistory>(
  rows: readonly AttemptRow[],
  names: readonly Name[],
  more: More = {},
) {
  const [history, ...others] = await loaded(rows, more)
  expect(others).toEqual([])
  return Object.fromEntries(
    names.map((name) => [name, [...(history![name] as unknown as Float64Array)]]),
  )
}

test('each account of each audited run has a history, of what was sent', async () => {
  const rows = [
    attempt(0, { keyFp: 'one' }),
    attempt(1, { keyFp: 'two' }),
    attempt(2, { keyFp: 'own', account: null }),
    attempt(3, { keyFp: null, account: null }),
    attempt(4, { sentUs: null, outcome: 'not_sent', keyFp: 'one' }),
    attempt(5, { runId: 'b', keyFp: 'two' }),
    attempt(6, { runId: 'c' }),
  ]
  const histories = await loaded(rows, { runIds: ['a', 'b'] })
  expect(histories.map(({ runId, account, slot }) => [runId, account, [...slot]])).toEqual([
    ['a', '', [3]],
    ['a', 'main', [0, 1]],
    ['a', 'own', [2]],
    ['b', 'main', [5]],
  ])
  expect(histories.map(({ size, key }) => [size, [...key]])).toEqual([
    [1, [0]],
    [2, [1, 2]],
    [1, [1]],
    [1, [1]],
  ])
})

test('attempts are ordered by the time at which they were sent, then by slot and retry', async () => {
  const rows = [
    attempt(3, { sentUs: 10 }),
    attempt(2, { sentUs: 10, retry: 1 }),
    attempt(2, { sentUs: 10 }),
    attempt(9, { sentUs: 5 }),
  ]
  expect(await columns(rows, ['slot', 'retry'])).toEqual({
    slot: [9, 2, 2, 3],
    retry: [0, 0, 1, 0],
  })
})

test('an attempt ends as its response closed, or with its head, or as it was sent', {
  tags: 'whole',
}, async () => {
  const whole = { sentUs: 100, headersUs: 200, closedUs: 300 }
  const rows = [
    attempt(0, whole),
    attempt(1, { ...whole, closedUs: null }),
    attempt(2, { ...whole, closedUs: null, headersUs: null }),
    attempt(3, { ...whole, outcome: 'aborted' }),
  ]
  const names = ['callUs', 'readUs', 'endUs', 'settlesByUs'] as const
  // The longer of the two deadlines settles it, in the time of a run that goes twice as fast.
  expect(await columns(rows, names, { timeScale: 2 })).toEqual({
    callUs: [100, 100, 100, 100],
    readUs: [200, 200, none, 200],
    endUs: [300, 200, 100, 300],
    settlesByUs: [300, 200, 100, 100 + 1_500_000],
  })
  // Clocks that may be 7 us apart make each begin as much earlier and end as much later.
  expect(await columns(rows, names, { ledger: { clockErrorUs: 7 } })).toEqual({
    callUs: [93, 93, 93, 93],
    readUs: [207, 207, none, 207],
    endUs: [307, 207, 107, 307],
    settlesByUs: [307, 207, 107, 107 + 3_000_000],
  })
  const [history] = await loaded(rows, { timeScale: 2 })
  expect(history!.lifetimeUs).toBe(1_500_000)
})

const { charge, ambiguous, failure, read } = effects
test.each([
  ['a success is charged its price', {}, [charge, 1, 0]],
  ['a model may be named in another case', { model: 'SVC-K2.5' }, [charge, 2, 3]],
  ['one that the contract does not know may cost the most', { model: 'svc' }, [ambiguous, 2, -1]],
  ['a read costs nothing', { endpoint: 'models', model: null }, [read, 0, -1]],
  ['embeddings may cost the price of their model', { endpoint: 'embeddings' }, [ambiguous, 1, 0]],
  ['a refused request is a failure', { outcome: 'http_error', status: 500 }, [failure, 1, 0]],
  ['a refused read is a read', { endpoint: 'credits', outcome: 'http_error' }, [read, 0, 0]],
  ['a broken one may be charged', { outcome: 'broken' }, [ambiguous, 1, 0]],
] as const)('%s', { tags: 'whole' }, async (_, change, [effect, cost, model]) => {
  expect(await columns([attempt(0, change)], ['effect', 'costCredits', 'model'])).toEqual({
    ...{ effect: [effect], costCredits: [cost], model: [model] },
  })
})

test('how an attempt was left, streamed and answered is kept', async () => {
  const rows = (['ok', 'broken', 'aborted', 'timeout'] as const).map((outcome, slot) =>
    attempt(slot, { outcome, streamed: slot % 2, contentEvents: slot, status: 200 + slot }),
  )
  const names = ['abandonment', 'streamed', 'contentEvents', 'status'] as const
  expect(await columns(rows, names)).toEqual({
    abandonment: [abandonments.no, abandonments.no, abandonments.aborted, abandonments.timeout],
    ...{ streamed: [0, 1, 0, 1], contentEvents: [0, 1, 2, 3], status: [200, 201, 202, 203] },
  })
})

const refused = { outcome: 'http_error', status: 403 } as const
test.each([
  ['by its code', { ...refused, errorCode: 'insufficient_credits' }, 1],
  ['by its type', { ...refused, errorType: 'insufficient_quota' }, 1],
  ['by a 402, whatever its words', { ...refused, status: 402 }, 1],
  ['not by a 403 of other words', { ...refused, errorCode: 'forbidden' }, 0],
  ['not by its words alone', { ...refused, status: 400, errorCode: 'insufficient_credits' }, 0],
  ['not if it was served', { status: 402, errorCode: 'insufficient_credits' }, 0],
] as const)('a request is refused for its price %s', async (_, change, is) => {
  expect(await columns([attempt(0, change)], ['insufficient'])).toEqual({ insufficient: [is] })
})

test('the words for a lack of credits are those that the contract has for a 403 alone', {
  tags: 'whole',
}, async () => {
  const types = ['quota_error', 'credit_error', 'balance_error', 'permission_error']
  const rows = [
    ...types.map((errorType, slot) => attempt(slot, { ...refused, errorType })),
    attempt(4, { ...refused, errorCode: 'insufficient_credits' }),
    attempt(5, { ...refused, status: 402 }),
  ]
  const own = { ...contract, chatErrors: [] }
  const messagesErrors = [[403], [402, 403], [400], [403]].map((statuses, at) => ({
    ...{ type: types[at]!, statuses },
  }))
  expect(await columns(rows, ['insufficient'], { contract: { ...own, messagesErrors } })).toEqual({
    insufficient: [1, 0, 0, 0, 0, 1],
  })
  expect(
    await columns(rows, ['insufficient'], { contract: { ...own, messagesErrors: [] } }),
  ).toEqual({ insufficient: [0, 0, 0, 0, 0, 1] })
})

test('a value is that of the header, else a balance or remaining number in the body', async () => {
  const malformed = { flags: flags.malformedCredits }
  const page = { endpoint: 'credits', model: null }
  const rows = [
    attempt(0, { creditsRemaining: 7 }),
    attempt(1, { creditsRemaining: 8, ...malformed }),
    ...[2, 3].map((slot) => attempt(slot, page)),
    attempt(4, { ...page, ...malformed }),
    ...[5, 6, 7, 8, 9, 10, 11].map((slot) => attempt(slot, page)),
    ...[12, 13, 14, 15, 16].map((slot) => attempt(slot)),
  ]
  const body = (slot: number, text: string): BodyRow => ({
    ...{ runId: 'a', slot, retry: 0, headers: '', body: text, truncated: false },
  })
  const bodies = [
    ...[body(0, '{"balance":1}'), body(2, '{"credits_remaining": 42}'), body(3, '{"Balance":-3}')],
    ...[body(4, '{"balance":5}'), body(5, '{"credits":6}'), body(6, '{"balance":"6"}')],
    ...[body(8, '{"low_balance_threshold":10,"balance":99}'), body(9, '{"balance":97.9}')],
    body(10, '{"limits":{"remaining":20},"balance_updated_at":1790000002,"balance":99}'),
    ...[body(11, '{"remaining_days":10,"balance":99}'), body(12, '{"balance":5}')],
    body(13, '{"rate":{"requests_remaining":99},"balance":50}'),
    body(14, '{"requests_remaining":99}'),
    body(15, 'data: {"choices":[{"left":7}]}\n\ndata: {"requests_remaining":99,"balance":40}\n\n'),
    body(16, '{"choices":[{"message":{"content":"\\"balance\\": 3"}}]}'),
  ]
  expect(await columns(rows, ['value'], { bodies })).toEqual({
    value: [7, none, 42, -3, none, none, 6, none, 99, none, 99, 99, 5, 50, none, 40, none],
  })
})

test('the body of another run with the same slot tells no balance', async () => {
  const bodies = ['a', 'b'].map((runId, at) => ({
    ...{ runId, slot: 1, retry: 0, headers: '', body: `{"balance":${at + 3}}`, truncated: false },
  }))
  const rows = bodies.map(({ runId }) => attempt(1, { runId }))
  const histories = await loaded(rows, { bodies, runIds: ['a', 'b'] })
  expect(histories.map(({ runId, value }) => [runId, ...value])).toEqual([
    ['a', 3],
    ['b', 4],
  ])
})

test('beside a generation, only what is named as credits, money or a balance is a value', async () => {
  const cases: readonly (readonly [body: string, value: number])[] = [
    ...['{"choices":[],"queue":{"seconds_left":12}}', '{"context_left":190000}'].map(
      (body) => [body, none] as const,
    ),
    ['{"error":{"attempts_left":2}}', none],
    ['{"error":{"remaining":0}}', none],
    ['{"queue":{"remaining":3},"load_balancer":4}', none],
    ['{"left":5}', none],
    ['{"queue":{"seconds_left":12},"account":{"balance":97}}', 97],
    ['{"usage":{"creditsLeft":"96"},"context_left":190000}', 96],
    ['{"credits":{"left":95}}', 95],
    ['{"remaining":94}', 94],
    ['{"left_credits":93,"time_left":30}', 93],
    ['data: {"usage":{"remaining_credits":92}}\n\ndata: {"time_left":30}\n\n', 92],
  ]
  const rows = cases.map((_, slot) => attempt(slot))
  const bodies = cases.map(([body], slot) => ({
    ...{ runId: 'a', slot, retry: 0, headers: '', body, truncated: false },
  }))
  expect(await columns(rows, ['value'], { bodies })).toEqual({
    value: cases.map(([, value]) => value),
  })
})

test('steps that send the same have one number', async () => {
  const template = (nth: number, step: string, body: string | null): TemplateRow => ({
    ...{ runId: 'a', template: nth, step, method: 'POST', path: '/v1', headers: '{}', body },
    ...{ maxTokens: null, n: null, promptHash: null },
  })
  const templates = [template(1, 'one', 'x'), template(2, 'two', 'x'), template(3, 'three', 'y')]
  const rows = [
    attempt(0, { step: 'one', template: 1 }),
    attempt(1, { step: 'two', template: 2 }),
    attempt(2, { step: 'three', template: 3 }),
    attempt(3, { step: 'zero' }),
  ]
  expect(await columns(rows, ['step'], { templates })).toEqual({ step: [1, 1, 2, 3] })
})

test('a success that repeats an Idempotency-Key may be free', async () => {
  const template = (nth: number, headers: object): TemplateRow => ({
    ...{ runId: 'a', template: nth, step: 'chat', method: 'POST', path: '/v1', body: 'x' },
    ...{ maxTokens: null, n: null, promptHash: null, headers: JSON.stringify(headers) },
  })
  const templates = [
    ...[template(1, { 'Idempotency-Key': 'k' }), template(2, { 'idempotency-key': 'k' })],
    ...[template(3, { 'idempotency-key': 'other' }), template(4, {})],
  ]
  const rows = [2, 1, 3, 4, 4].map((nth, slot) => attempt(slot, { template: nth }))
  expect(await columns(rows, ['effect'], { templates })).toEqual({
    effect: [charge, ambiguous, charge, charge, charge],
  })
  // So it may where every request of the run has a key.
  expect(await columns(rows.slice(0, 3), ['effect'], { templates: templates.slice(0, 3) })).toEqual(
    { effect: [charge, ambiguous, charge] },
  )
})
