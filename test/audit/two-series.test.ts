import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import type { Verdict } from '../../src/audit/verdict.ts'
import { inFlight, read } from './in-flight.ts'
import { verdictOver } from './verdict-over.ts'

/** Requests in turn whose headers are right, and after each a page that shows `page(balance)`. */
function turns(page: (balance: number, nth: number) => number) {
  const rows: AttemptRow[] = []
  const bodies = []
  for (let nth = 0; nth < 8; nth++) {
    const [own, slot] = [99 - nth, 2 * nth]
    rows.push(inFlight(slot, 4 * nth, 4 * nth + 1, own))
    rows.push(read(slot + 1, 4 * nth + 2, null, { template: 2 }))
    const body = JSON.stringify({ remaining: page(own, nth) })
    bodies.push({ runId: 'a', slot: slot + 1, retry: 0, headers: '', body, truncated: false })
  }
  const template = {
    ...{ runId: 'a', template: 2, step: 's', method: 'GET', path: '/user/credits' },
    ...{ headers: '{}', body: null, maxTokens: null, n: null, promptHash: null },
  }
  return { rows, more: { bodies, templates: [template] } }
}

async function verdictOf(rule: string, page: Parameters<typeof turns>[0]): Promise<Verdict> {
  const { rows, more } = turns(page)
  return verdictOver(rule, rows, more)
}

test.each([
  ['a page that is late', (balance: number, nth: number) => balance + Math.min(nth, 5)],
  ['the page of another account', () => 4_321],
])('%s fails BILL-12, and no other rule accuses a charge', { tags: 'whole' }, async (_, page) => {
  expect(await verdictOf('BILL-12', page)).toMatchObject({
    verdict: 'fail',
    expected: expect.stringContaining('by the header before it'),
  })
  for (const rule of ['BILL-01', 'BILL-10', 'BILL-11', 'BILL-19']) {
    expect([rule, (await verdictOf(rule, page)).verdict]).not.toContain('fail')
  }
})

test('a page that agrees with the headers passes', { tags: 'whole' }, async () => {
  expect(await verdictOf('BILL-12', (balance) => balance)).toMatchObject({ verdict: 'pass' })
  expect(await verdictOf('BILL-10', (balance) => balance)).toMatchObject({ verdict: 'pass' })
})

test('a page between two headers is no expired package, though it shows far less', async () => {
  expect(await verdictOf('BILL-12', () => 2)).toMatchObject({ verdict: 'fail' })
})
