import { expect, test } from 'vitest'
import { audited, chat, contractOf, row, type Sent } from './paid.ts'

/** Rows of a log that give back a charge, with the counts of the charge. */

const contract = contractOf({
  charged: { success: 'full', refused: 'none', broken: 'none', abort: 'received' },
})
const broken = (id: string): Sent => ({
  ...chat(id),
  ended: { outcome: 'broken', reason: 'error-in-stream', status: 200 },
})
const sends = [chat('a'), broken('b'), chat('c'), broken('d')]
const charges = ['a', 'b', 'c', 'd'].map((id, nth) => row(id, 0.00014, nth + 1))

/** The verdicts on the log, where these rows follow the charges. */
async function verdicts(...refunds: readonly object[]) {
  const spent = (0.00056 - 0.00014 * refunds.length).toFixed(5)
  const found = await audited(sends, ['0', spent], { log: [...charges, ...refunds], contract })
  return ['PRICE-04', 'PRICE-05', 'PRICE-06'].map((rule) => found[rule]!.verdict)
}

const all = (verdict: string) => [verdict, verdict, verdict]

test('a refund may repeat the id and the counts of its charge', async () => {
  expect(await verdicts(row('b', -0.00014, 3), row('d', -0.00014, 5))).toEqual(all('pass'))
})

test('a refund may have an id of its own', async () => {
  expect(await verdicts(row('r1', -0.00014, 3), row('r2', -0.00014, 5))).toEqual(all('pass'))
})

test('a charge that is given back and made again is one row of its request', async () => {
  const again = [
    row('a', -0.00014, 1),
    row('a', 0.00014, 1),
    row('b', -0.00014, 3),
    row('d', -0.00014, 5),
  ]
  const found = await audited(sends, null, { log: [...charges, ...again], contract })
  expect([found['PRICE-04'], found['PRICE-05']]).toMatchObject([
    { verdict: 'pass' },
    { verdict: 'pass' },
  ])
})

test('a log may begin with its newest rows', async () => {
  const refund = row('b', -0.00014, 90)
  const found = await audited(sends, null, {
    log: [row('d', -0.00014, 5), refund, ...charges],
    contract,
  })
  expect(found['PRICE-05']).toMatchObject({ verdict: 'pass' })
})

test('a refund of what was held by itself is no refund of a request', async () => {
  const held = [row('hold', 0.00014, 2), row('back', -0.00014, 3)]
  const ofAll = [row('b', -0.00014, 3), row('d', -0.00014, 5)]
  const found = await audited(sends, null, { log: [...charges, ...ofAll, ...held], contract })
  expect([found['PRICE-04'], found['PRICE-05']]).toMatchObject([
    { verdict: 'pass' },
    { verdict: 'pass' },
  ])
})

test('a second charge, and a refund that is missing, fail beside refunds', async () => {
  expect(await verdicts(row('b', -0.00014, 3))).toEqual(['fail', 'pass', 'fail'])
  const twice = [row('a', 0.00014, 1), row('b', -0.00014, 3), row('d', -0.00014, 5)]
  const found = await audited(sends, null, { log: [...charges, ...twice], contract })
  expect(found['PRICE-05']).toMatchObject({
    verdict: 'fail',
    observed: expect.stringMatching(/^2 rows/),
  })
})
