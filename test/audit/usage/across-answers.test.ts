import { expect, test } from 'vitest'
import type { AttemptRow } from '../../../src/attempt/columns.ts'
import { attempt } from '../../report/attempts.ts'
import { verdictOver } from '../verdict-over.ts'

const accounts = {
  main: { account: 'main', keyFp: '0123456789ab' },
  other: { account: 'other', keyFp: 'ba9876543210' },
}
type Account = keyof typeof accounts

const prices: Readonly<Record<string, number>> = { 'svc-k2': 1, 'svc-k2.5': 2 }

const templates = [0, 1].map((template) => ({
  ...{ runId: 'a', template, step: 's', headers: '{}', body: null },
  ...(template === 0
    ? { method: 'GET', path: '/user/credits' }
    : { method: 'POST', path: '/chat/completions' }),
  ...{ maxTokens: null, n: null, promptHash: null },
}))

/** Requests of two accounts in turns, each of a second; a number is what the account has consumed by then. */
function verdictOf(sent: readonly (readonly [Account, number | string])[]) {
  const balances = { main: 500, other: 500 }
  const reads = sent.flatMap(([, what], slot) => (typeof what === 'number' ? [[slot, what]] : []))
  return verdictOver(
    'USE-04',
    sent.map(([account, what], slot) => {
      balances[account] -= typeof what === 'number' ? 0 : prices[what]!
      const told = { ...accounts[account], creditsRemaining: balances[account] }
      return typeof what === 'number'
        ? attempt(slot, { ...told, model: null, endpoint: 'credits', template: 0 })
        : attempt(slot, { ...told, model: what, template: 1 })
    }),
    {
      templates,
      bodies: reads.map(([slot, consumed]) => ({
        ...{ runId: 'a', slot: slot!, retry: 0, headers: '', truncated: false },
        body: JSON.stringify({ consumed }),
      })),
    },
  )
}

const honest = [
  ['main', 10],
  ['other', 70],
  ['main', 'svc-k2'],
  ['other', 'svc-k2.5'],
  ['main', 11],
  ['other', 'svc-k2'],
  ['main', 'svc-k2.5'],
  ['main', 'svc-k2'],
  ['other', 73],
  ['main', 14],
  // Two in a row show that a read is free.
  ['main', 14],
] as const

test('USE-04 compares each reading with what its own account sent since the one before', async () => {
  expect(await verdictOf(honest)).toMatchObject({ verdict: 'pass', observations: 3 })
})

test('USE-04 names the reading whose account was charged for a request of the other', {
  tags: 'whole',
}, async () => {
  const wrong = honest.map((each, slot) => (slot === 8 ? (['other', 74] as const) : each))
  expect(await verdictOf(wrong)).toMatchObject({
    verdict: 'fail',
    observed: 'consumed grew by 4, our successes cost 3',
    witnesses: [{ slot: 8 }],
  })
})

/** Reads of a page by one account, and between them a request that was refused and a success. */
const refusals = (rule: string, before: object, after: object, refused: number | null = 400) => {
  const of = accounts.main
  const read = (slot: number) =>
    attempt(slot, { ...of, model: null, endpoint: 'credits', template: 0, creditsRemaining: null })
  const rows = [
    read(0),
    ...(refused === null
      ? []
      : [
          attempt(1, {
            ...of,
            template: 1,
            model: 'svc-k2',
            outcome: 'http_error' as const,
            status: refused,
          }),
        ]),
    attempt(2, { ...of, template: 1, model: 'svc-k2' }),
    read(3),
    read(4),
  ]
  return verdictOver(rule, rows, {
    templates,
    bodies: [before, after, after].map((body, at) => ({
      ...{ runId: 'a', slot: [0, 3, 4][at]!, retry: 0, headers: '', truncated: false },
      body: JSON.stringify(body),
    })),
  })
}

test('USE-04: a service may count what it refuses as requests, and nothing that was not sent', async () => {
  const counts = (requests: number) => ({ total_requests: requests })
  const verdict = async (grew: number, refused: number | null = 400) =>
    (await refusals('USE-04', counts(5), counts(5 + grew), refused)).verdict
  expect(await verdict(2)).toBe('not-observed')
  expect(await verdict(1)).toBe('pass')
  expect(await verdict(3)).toBe('fail')
  expect(await verdict(2, null)).toBe('fail')
})

/** Two reads of a page with a fall from 6 to 5, of the main account, beside a request that did not succeed. */
const fallBeside = async (failed: Partial<AttemptRow>) => {
  const read = (slot: number) =>
    attempt(slot, { ...accounts.main, model: null, endpoint: 'credits', template: 0 })
  const rows = [
    attempt(9, { ...accounts.main, slot: 0, template: 1, ...failed }),
    ...[10, 20].map((slot) => read(slot)),
  ]
  const found = await verdictOver('USE-07', rows, {
    templates,
    bodies: [6, 5].map((consumed, at) => ({
      ...{ runId: 'a', slot: [10, 20][at]!, retry: 0, headers: '', truncated: false },
      body: JSON.stringify({ consumed }),
    })),
  })
  return found.verdict
}
const second = 1e6
const refusedWith = (status: number) => ({ outcome: 'http_error' as const, status })

test('USE-07: what was held for a request in flight that fails may be given back', async () => {
  const open = { sentUs: 9 * second, closedUs: 12 * second }
  for (const status of [400, 429, 503])
    expect(await fallBeside({ ...open, ...refusedWith(status) })).toBe('not-observed')
  expect(await fallBeside({ ...open, outcome: 'aborted', status: null })).toBe('not-observed')
  // The charge of a request that was given up, or failed, may come back later.
  const over = { sentUs: 1 * second, closedUs: 2 * second }
  expect(await fallBeside({ ...over, outcome: 'aborted', status: null })).toBe('not-observed')
  expect(await fallBeside({ ...over, ...refusedWith(503) })).toBe('not-observed')
})

test('USE-07: a request that was refused before, or sent after, or by another account, gives nothing back', async () => {
  const over = { sentUs: 1 * second, closedUs: 2 * second }
  for (const status of [401, 402, 429])
    expect(await fallBeside({ ...over, ...refusedWith(status) })).toBe('fail')
  const after = { sentUs: 12 * second, closedUs: 13 * second }
  expect(await fallBeside({ ...after, ...refusedWith(503) })).toBe('fail')
  const open = { sentUs: 9 * second, closedUs: 12 * second }
  expect(await fallBeside({ ...open, ...refusedWith(503), ...accounts.other })).toBe('fail')
  expect(await fallBeside({ sentUs: -3600 * second, outcome: 'aborted', status: null })).toBe(
    'fail',
  )
  expect(await fallBeside(over)).toBe('fail')
})
