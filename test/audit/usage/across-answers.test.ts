import { expect, test } from 'vitest'
import { attempt } from '../../report/attempts.ts'
import { verdictOver } from '../verdict-over.ts'

const accounts = {
  main: { account: 'main', keyFp: '0123456789ab' },
  other: { account: 'other', keyFp: 'ba9876543210' },
}
type Account = keyof typeof accounts

const prices: Readonly<Record<string, number>> = { 'svc-k2': 1, 'svc-k2.5': 2 }

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
      templates: [0, 1].map((template) => ({
        ...{ runId: 'a', template, step: 's', headers: '{}', body: null },
        ...(template === 0
          ? { method: 'GET', path: '/user/credits' }
          : { method: 'POST', path: '/chat/completions' }),
        ...{ maxTokens: null, n: null, promptHash: null },
      })),
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
