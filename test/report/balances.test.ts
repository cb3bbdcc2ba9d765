import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { terminalSummary } from '../../src/report/summary/formats.ts'
import { summarise } from '../../src/report/summary/summarise.ts'
import { appendAttempts } from '../../src/store/recorder.ts'
import { openStore } from '../store/opened.ts'
import { attempt, enterRun } from './attempts.ts'

const price = defaultContract.models!.find(({ id }) => id === 'svc-k2')!.costCredits!

/** Successes one after the other, each with the balance after its charge, from 1,000 on. */
function inTurn(count: number, chargeOf: (at: number) => number = () => price): AttemptRow[] {
  let balance = 1000
  return Array.from({ length: count }, (_, slot) => {
    balance -= chargeOf(slot)
    const us = slot * 100_000
    const end = us + 50_000
    return attempt(slot, {
      ...{
        intendedUs: us,
        dispatchedUs: us,
        sentUs: us,
        headersUs: end,
        doneUs: end,
        closedUs: end,
      },
      creditsRemaining: balance,
    })
  })
}

async function read(rows: readonly AttemptRow[]) {
  const store = await openStore(':memory:')
  await enterRun(store, 'a')
  await appendAttempts(
    store,
    rows.map((row) => ({ ...row, runId: 'a' })),
  )
  const summary = await summarise(store, 'a', defaultContract)
  store.close()
  return { balances: summary.credits.balances, text: terminalSummary(summary) }
}

test('between the first and the last balance lie all charges but the first', async () => {
  const { balances, text } = await read(inTurn(10))
  const expected = 9 * price
  expect(balances).toMatchObject([
    { first: 1000 - price, taken: expected, expected, expectedAtMost: expected, unexplained: 0 },
  ])
  expect(text.replace(/\s+/g, ' ')).toContain(
    `${expected} taken, ${expected} expected, 0 unexplained`,
  )
})

test('one credit too much in the middle is not explained, and too little neither', async () => {
  for (const [more, unexplained] of [
    [1, 1],
    [-1, -1],
  ] as const) {
    const { balances } = await read(inTurn(10, (at) => (at === 5 ? price + more : price)))
    expect(balances).toMatchObject([{ unexplained }])
  }
})

test('a request in flight at the last reading may be in it or not', async () => {
  const rows = inTurn(10)
  const last = rows.at(-1)!
  const flying = { ...last, slot: 10, creditsRemaining: null, headersUs: last.headersUs! + 9000 }
  const { balances } = await read([...rows, { ...flying, closedUs: last.closedUs! + 10_000 }])
  expect(balances).toMatchObject([
    { expected: 9 * price, expectedAtMost: 10 * price, unexplained: 0 },
  ])
})

test('an aborted request may be charged, and a failure may not', async () => {
  const rows = inTurn(10)
  rows[4] = { ...rows[4]!, outcome: 'aborted' }
  rows[6] = { ...rows[6]!, outcome: 'http_error', status: 500 }
  const { balances } = await read(rows)
  expect(balances).toMatchObject([
    { expected: 7 * price, expectedAtMost: 8 * price, unexplained: price },
  ])
})

test('one reading has no stretch to explain', async () => {
  const { balances } = await read(inTurn(1))
  expect(balances).toMatchObject([{ taken: 0, expected: 0, expectedAtMost: 0, unexplained: 0 }])
})
