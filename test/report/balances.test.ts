import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { makeReport } from '../../src/report/page.ts'
import { markdownSummary } from '../../src/report/summary/markdown.ts'
import { summarise } from '../../src/report/summary/summarise.ts'
import { terminalSummary } from '../../src/report/summary/terminal.ts'
import { makeText } from '../../src/report/text.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { openStore } from '../store/opened.ts'
import { attempt, enterRun } from './attempts.ts'

const price = defaultContract.models!.find(({ id }) => id === 'svc-k2')!.costCredits!

const at = (us: number) => ({
  ...{ intendedUs: us, dispatchedUs: us, sentUs: us, headersUs: us + 9, doneUs: us + 9 },
  closedUs: us + 9,
})

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

async function stored(rows: readonly AttemptRow[]) {
  const store = await openStore(':memory:')
  await enterRun(store, 'a')
  await appendAttempts(
    store,
    rows.map((row) => ({ ...row, runId: 'a' })),
  )
  return store
}

async function read(rows: readonly AttemptRow[]) {
  const store = await stored(rows)
  const summary = await summarise(store, 'a', defaultContract)
  store.close()
  return {
    balances: summary.credits.balances,
    text: terminalSummary(summary),
    markdown: markdownSummary(summary),
  }
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

test('one credit too much in the middle is not explained, and too little neither', {
  tags: 'whole',
}, async () => {
  for (const [more, unexplained] of [
    [1, 1],
    [-1, -1],
  ] as const) {
    const { balances } = await read(inTurn(10, (at) => (at === 5 ? price + more : price)))
    expect(balances).toMatchObject([{ unexplained }])
  }
})

/** The same, with reads of the balance alone before and after. */
function betweenReads(rows: readonly AttemptRow[], first: number, last: number): AttemptRow[] {
  const read = (slot: number, us: number, creditsRemaining: number) =>
    attempt(slot, {
      ...{ endpoint: 'credits', model: null, responseModel: null, creditsRemaining },
      ...at(us),
    })
  return [read(1000, -1000, first), ...rows, read(1001, 10_000_000, last)]
}

test('a header that holds its own charge, as a free read shows, leaves no credit open', {
  tags: 'whole',
}, async () => {
  const rows = inTurn(10)
  const last = rows.at(-1)!.creditsRemaining!
  const free = betweenReads(rows.slice(0, 5), 1000, rows[4]!.creditsRemaining!)
  const later = rows.slice(5).map((row) => ({
    ...row,
    sentUs: row.sentUs! + 20_000_000,
    headersUs: row.headersUs! + 20_000_000,
    doneUs: row.doneUs! + 20_000_000,
    closedUs: row.closedUs! + 20_000_000,
  }))
  const all = [
    ...free.slice(1),
    ...later,
    { ...free.at(-1)!, slot: 1002, creditsRemaining: last, ...at(60_000_000) },
  ]
  const { balances } = await read(all)
  expect(balances).toMatchObject([
    { taken: 9 * price, expected: 9 * price, expectedAtMost: 9 * price, unexplained: 0 },
  ])
  // One credit more for the third request: the first reading no longer hides it.
  const wrong = all.map((row, place) =>
    place < 2 ? row : { ...row, creditsRemaining: row.creditsRemaining! - 1 },
  )
  expect((await read(wrong)).balances).toMatchObject([{ unexplained: 1 }])
})

test('a header without its own charge counts the first one, and not the last', async () => {
  const rows = inTurn(10).map((row) => ({
    ...row,
    creditsRemaining: row.creditsRemaining! + price,
  }))
  const { balances } = await read(betweenReads(rows, 1000, 1000 - 10 * price).slice(1))
  expect(balances).toMatchObject([
    { taken: 10 * price, expected: 10 * price, expectedAtMost: 10 * price, unexplained: 0 },
  ])
})

test('a request in flight at the last reading may be in it or not', { tags: 'whole' }, async () => {
  const rows = inTurn(10)
  const last = rows.at(-1)!
  const flying = { ...last, slot: 10, creditsRemaining: null, headersUs: last.headersUs! + 9000 }
  const { balances } = await read([...rows, { ...flying, closedUs: last.closedUs! + 10_000 }])
  expect(balances).toMatchObject([
    { expected: 9 * price, expectedAtMost: 10 * price, unexplained: 0 },
  ])
})

test('an aborted request may be charged, and a failure may not', { tags: 'whole' }, async () => {
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

test('pages and Markdown show the same stretch, with what nothing explains', {
  tags: 'whole',
}, async () => {
  const summary = `between the first and the last balance: ${9 * price + 1} taken, ${9 * price} expected, 1 unexplained`
  const rows = inTurn(10, (at) => (at === 5 ? price + 1 : price))
  expect((await read(rows)).markdown).toContain(`; ${summary}.`)
  const store = await stored(rows)
  const told = { store, runIds: ['a'], contract: defaultContract, timeZone: 'UTC', nowUs: 0 }
  expect(await makeText({ ...told, page: 'audit' }, 'md')).toContain(`Credits ${summary}.`)
  for (const page of ['launch', 'audit'] as const) {
    const { html } = await makeReport({ ...told, page })
    expect(html).toContain(`Credits ${summary}.`)
    expect(html).toContain('<h3>Credits between the first and the last balance</h3>')
    expect(html.includes('Credits that nothing explains:')).toBe(page === 'launch')
  }
  store.close()
})

test('explained credits are no doubt on the launch page', { tags: 'whole' }, async () => {
  const store = await stored(inTurn(10))
  const told = { store, runIds: ['a'], contract: defaultContract, timeZone: 'UTC', nowUs: 0 }
  const { html } = await makeReport({ ...told, page: 'launch' })
  expect(html).toContain('0 unexplained')
  expect(html).not.toContain('Credits that nothing explains:')
  store.close()
})
