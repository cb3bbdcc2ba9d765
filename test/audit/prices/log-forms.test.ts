import { expect, test } from 'vitest'
import { timeOf } from '../../../src/audit/evidence/prices/log.ts'
import { readUsage } from '../../../src/tokens/read-usage.ts'
import { audited, chat, left, row } from './paid.ts'

/** Forms that honest logs have, and faults beside them. */

const ids = ['aaaaaaaaaaa1', 'aaaaaaaaaaa2', 'aaaaaaaaaaa3']
const rows = ids.map((id, at) => row(id, 0.00014, at + 1))
const judged = async (log: readonly object[]) => {
  const { 'PRICE-05': verdict } = await audited(ids.map(chat), ['1', '1.00042'], { log })
  return verdict?.verdict === 'fail' ? verdict.observed : verdict?.verdict
}
const changed = (change: object) => rows.map((each) => ({ ...each, ...change }))

test('a row for the prompt and one for the output are one charge in parts', {
  tags: 'whole',
}, async () => {
  const inParts = (none: number | null) =>
    rows.flatMap((each) => [
      { ...each, spend: 0.00004, completion_tokens: none },
      { ...each, spend: 0.0001, prompt_tokens: none },
    ])
  expect(await judged(inParts(0))).toBe('pass')
  expect(await judged(inParts(null))).toBe('pass')
  expect(await judged([...rows, rows[0]!])).toMatch(/^2 rows with tokens for one request/)
})

test('rows by kind of token bound an answer that was left by all of their counts', async () => {
  // A row for the output comes first, and that of the prompt names its tokens.
  const judgedLeft = async (prompt: number) => {
    const { id = '' } = left(1)
    const log = [
      { ...row(id!, 0.00024, 1, 0, 12), prompt_tokens: null },
      { ...row(id!, (prompt * 4) / 1e6, 1, 14, 0), completion_tokens: null },
    ]
    return (await audited([left(1), chat('a')], null, { log: [...log, row('a', 0.00014, 2)] }))[
      'PRICE-04'
    ]!.verdict
  }
  expect(await judgedLeft(14)).toBe('pass')
  expect(await judgedLeft(350)).toBe('fail')
})

test('a total and a payment are no charge of a request, and a fee leaves it open', {
  tags: 'whole',
}, async () => {
  const total = { request_id: 'Total', spend: 0.00042, prompt_tokens: 30, completion_tokens: 15 }
  expect(await judged([...rows, total])).toBe('pass')
  expect(await judged([...rows, { ...total, spend: 0.0005 }])).toMatch(/Total.* belongs to no/)
  const { startTime } = rows[2]!
  const other = (spend: number) => ({ request_id: 'other', model: null, startTime, spend })
  expect(await judged([...rows, other(-10)])).toBe('pass')
  expect(await judged([...rows, other(5)])).toBe('inconclusive')
  expect(await judged([...rows, { ...rows[0]!, request_id: 'other' }])).toMatch(/belongs to no/)
})

test('a row that is older than the first request may be of another use of the key: inconclusive', async () => {
  // A request by hand, ten seconds before the run.
  const before = row('by-hand', 0.00014, -9)
  expect(await judged([before, ...rows])).toBe('inconclusive')
  expect(await judged([row('by-hand', 0.00014, 2), ...rows])).toMatch(/by-hand.* belongs to no/)
})

test('a row that is later than the last request may be of another use of the key: inconclusive', async () => {
  const after = { ...rows.at(-1)!, request_id: 'by-hand' }
  const atMs = Date.parse(after.startTime) + 20_000
  const log = [...rows, { ...after, startTime: new Date(atMs).toISOString() }]
  expect(await judged(log)).toBe('inconclusive')
  // Unless rows of requests are as late.
  const settled = rows.map((each) => ({
    ...each,
    startTime: new Date(Date.parse(each.startTime) + 25_000).toISOString(),
  }))
  expect(await judged([...settled, log.at(-1)!])).toMatch(/by-hand.* belongs to no/)
})

test('a log may name a model in another case, and its maker before it', {
  tags: 'whole',
}, async () => {
  for (const model of ['BIG', 'maker/big', 'maker.big', 'maker:big'])
    expect(await judged(changed({ model }))).toBe('pass')
  expect(await judged(changed({ model: 'big-2026-10-01' }))).toBe('inconclusive')
  expect(await judged(changed({ model: 'bigger' }))).toMatch(/^model bigger in the log, big asked/)
})

test.each([
  ['2026-10-01 18:00:00+00', '2026-10-01T18:00:00.000Z'],
  ['2026-10-01 18:00:00.25-04', '2026-10-01T22:00:00.250Z'],
  ['2026-10-01 18:00:00,123', '2026-10-01T18:00:00.123Z'],
  ['2026-10-01T18:00:00+0530', '2026-10-01T12:30:00.000Z'],
  ['2026-10-01 18:00:00.5 +0000 UTC', '2026-10-01T18:00:00.500Z'],
  ['2026-10-01 18:00:00 UTC', '2026-10-01T18:00:00.000Z'],
  ['Thu, 01 Oct 2026 18:00:00 GMT', '2026-10-01T18:00:00.000Z'],
  ['2026-10-01', '2026-10-01T00:00:00.000Z'],
  ['1790877600', '2026-10-01T18:00:00.000Z'],
  ['1790877600.5', '2026-10-01T18:00:00.500Z'],
  ['1790877600000', '2026-10-01T18:00:00.000Z'],
  ['1790877600000000', '2026-10-01T18:00:00.000Z'],
  ['1790877600000000000', '2026-10-01T18:00:00.000Z'],
])('the time %s of a log is %s', (text, iso) => {
  expect(new Date(timeOf(text)!).toISOString()).toBe(iso)
})

test.each(['12', '5', '0.25', '-3', 'soon', 'May 5'])('%s of a log is no time', (text) => {
  expect(timeOf(text)).toBeNull()
})

test('a usage may write its counts as texts with a fraction of 0', () => {
  const usage = { prompt_tokens: '10.0', completion_tokens: '5', total_tokens: 15 }
  const { parts, flags } = readUsage(usage, 'openai-chat')
  expect([parts.input_uncached, parts.output_visible, flags]).toEqual([10, 5, []])
  expect(readUsage({ ...usage, prompt_tokens: '1.5' }, 'openai-chat').flags).toContain(
    'not-a-count',
  )
})
