import { describe, expect, test } from 'vitest'
import { readPriceLog, timeOf } from '../../../src/audit/evidence/prices/log.ts'
import { strayCharges } from '../../../src/audit/rules/prices/stray-charges.ts'
import { readUsage } from '../../../src/tokens/read-usage.ts'
import { audited, chat, contractOf, left, row } from './paid.ts'

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

test.each(['$0.00042', '0,00042 USD', '$ 0.0004', '$0.00'])(
  'a total whose cost is written as %s is no charge',
  async (spend) => {
    expect(await judged([...rows, { request_id: 'Total', spend }])).toBe('pass')
  },
)

test('a total of thousands may have marks between them', () => {
  const read = (all: readonly object[]) =>
    readPriceLog(all.map((each) => JSON.stringify(each)).join('\n'), 'log', null)
  const joined = read([1000, 234.5].map((spend, at) => row(`r-${at}`, spend, at)))
  const left = (spend: string, more: object = {}) => {
    const strays = read([row('r', 1, 1), { request_id: 'Total', spend, ...more }]).slice(1)
    return strayCharges(strays, joined, { name: 'USD', digits: 2 }).unreadable.length
  }
  for (const spend of ['$1,234.50', '1.234,50 €', "CHF 1'234.50"]) expect(left(spend)).toBe(0)
  expect(left('$1,234.50', { prompt_tokens: 20 })).toBe(0)
  // Another sum, other tokens, a model, or no sum at all.
  expect(left('$1,234.60')).toBe(1)
  expect(left('$1,234.50', { prompt_tokens: 21 })).toBe(1)
  expect(left('$1,234.50', { model: 'big' })).toBe(1)
  expect(left('see invoice')).toBe(1)
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
  expect(await judged([...settled, row('by-hand', 0.00014, 27)])).toMatch(/by-hand.* belongs to no/)
  // The request of this one was before the run, if it is as late as the others.
  expect(await judged([...settled, log.at(-1)!])).toBe('inconclusive')
})

describe('a charge of no request in a log that comes late', () => {
  const promised = (within: string) =>
    contractOf({
      evidence: {
        log: { cost: 'spend', id: 'request_id', model: 'model', at: 'startTime', within },
      },
    })
  /** The verdict on a log whose rows of requests are late, and of one row beside them. */
  const beside = async (lateS: readonly number[], atS: number, within = '10m') => {
    const late = ids.map((id, at) => row(id, 0.00014, at + 1 + lateS[at]!))
    const log = [...late, row('by-hand', 0.00014, atS)]
    return (await audited(ids.map(chat), null, { log, contract: promised(within) }))['PRICE-05']!
  }

  test('is one of the run if rows of requests are as late', async () => {
    expect(await beside([200, 200, 200], 202)).toMatchObject({
      verdict: 'fail',
      observed: expect.stringMatching(/by-hand.* belongs to no request/),
    })
  })

  const untold = {
    verdict: 'inconclusive',
    why: 'line 4 of the log (by-hand) charges 0.00014, belongs to no request, and its time does not tell whether it is of the run: the key may have been used before or after',
  }

  test('is open if it is written in one batch with those of the run, which may have another use of the key', async () => {
    expect(await beside([3599, 3598, 3597], 3600, '1h')).toMatchObject(untold)
    // All rows of the day are written at its end.
    expect(await beside([80_000, 79_999, 79_998], 80_001, '24h')).toMatchObject(untold)
  })

  test('is one of the run in a batch between others of the run, and open in the first and the last', async () => {
    // Batches every ten seconds, of requests a second apart.
    const batched = async (atS: number) => {
      const names = Array.from({ length: 35 }, (_, at) => `many-${at}`)
      const late = names.map((id, at) => row(id, 0.00014, Math.floor(at / 10) * 10 + 10))
      const log = [...late, row('by-hand', 0.00014, atS)]
      const verdicts = await audited(names.map(chat), null, { log, contract: promised('1m') })
      return verdicts['PRICE-05']!.verdict
    }
    expect(await batched(20)).toBe('fail')
    expect(await batched(10)).toBe('inconclusive')
    expect(await batched(40)).toBe('inconclusive')
  })

  test('is open, near or far, if no row of a request has a time', async () => {
    const timeless = rows.map(({ startTime: _, ...each }) => each)
    for (const atS of [1.5, 20, 31_536_000])
      expect(await judged([...timeless, row('by-hand', 0.00014, atS)])).toBe('inconclusive')
  })

  test('is one of another use if it is far earlier than the rows of requests, or far later', async () => {
    expect((await beside([200, 200, 200], 100)).verdict).toBe('pass')
    expect((await beside([200, 200, 200], 300)).verdict).toBe('pass')
    expect((await beside([0, 0, 0], 90)).verdict).toBe('pass')
  })

  test('is open if only some rows are as late, or none is, though the contract allows it', async () => {
    const open = { verdict: 'inconclusive', why: expect.stringContaining('later than the last') }
    expect(await beside([0, 100, 200], 150)).toMatchObject(open)
    expect(await beside([0, 0, 0], 20)).toMatchObject(open)
  })
})

test.each(['1,499.00', '0.00014 USD', 'five'])(
  'a row of no request whose cost is %s leaves open what it charges',
  async (spend) => {
    const log = [...rows, { ...row('by-hand', 0, 2), spend }]
    expect((await audited(ids.map(chat), null, { log }))['PRICE-05']).toEqual({
      ...{ verdict: 'inconclusive', observations: 3 },
      why: `line 4 of the log (by-hand) belongs to no request, and its cost is no number: "${spend}"`,
    })
    const apart = [...rows, { ...row('by-hand', 0, 200), spend }]
    expect(await judged(apart)).toBe('pass')
  },
)

test('a total is found among many rows without a model and a time, in time that grows with them', {
  tags: 'whole',
}, () => {
  const shown = (id: string, spend: number, prompt: number) =>
    JSON.stringify({ request_id: id, spend, prompt_tokens: prompt, completion_tokens: 0 })
  const size = 2_000
  const text = [
    ...Array.from({ length: size }, (_, at) => shown(`r-${at}`, 0.001, 5)),
    shown('Total', size / 1000, 5 * size),
    shown('Half', size / 1000, 5),
  ].join('\n')
  const strays = readPriceLog(text, 'log', null)
  // The total of all rows is that without the half.
  const { charges } = strayCharges(strays.slice(0, -1), [], { name: 'USD', digits: 2 })
  expect(charges).toHaveLength(size)
  expect(strayCharges(strays, [], { name: 'USD', digits: 2 }).charges).toHaveLength(size + 2)
})

test('a log may name a model in another case, and its maker before it', {
  tags: 'whole',
}, async () => {
  for (const model of ['BIG', 'maker/big', 'maker.big', 'maker:big'])
    expect(await judged(changed({ model }))).toBe('pass')
  expect(await judged(changed({ model: 'big-2026-10-01' }))).toBe('inconclusive')
  expect(await judged(changed({ model: 'bigger' }))).toMatch(/^model bigger in the log, big asked/)
})

test('a row that names a dated release is told with the model that its own request asked for', async () => {
  const sent = [
    { ...chat(ids[0]!), model: 'embed', body: '{"model":"embed","messages":"Hello"}' },
    ...ids.slice(1).map(chat),
  ]
  const dated = (lines: readonly number[]) =>
    [{ ...rows[0]!, model: 'embed', spend: 0.00004 }, rows[1]!, rows[2]!].map((each, at) =>
      lines.includes(at) ? { ...each, model: 'big-2026-10-01' } : each,
    )
  const why = async (lines: readonly number[]) =>
    (await audited(sent, null, { log: dated(lines) }))['PRICE-05']
  expect(await why([1])).toMatchObject({
    why: '1 row of the log names a dated release, big-2026-10-01, where big was asked: nobody knows whether the name stands for it',
  })
  expect(await why([1, 2])).toMatchObject({
    why: '2 rows of the log name a dated release, such as big-2026-10-01, where big was asked: nobody knows whether the name stands for it',
  })
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

test.each(['12', '5', '0.25', '-3', 'soon', 'May 5', '2026-02-30', '2026-02-30T10:00:00Z'])(
  '%s of a log is no time',
  (text) => {
    expect(timeOf(text)).toBeNull()
  },
)

test('a usage may write its counts as texts with a fraction of 0', () => {
  const usage = { prompt_tokens: '10.0', completion_tokens: '5', total_tokens: 15 }
  const { parts, flags } = readUsage(usage, 'openai-chat')
  expect([parts.input_uncached, parts.output_visible, flags]).toEqual([10, 5, []])
  expect(readUsage({ ...usage, prompt_tokens: '1.5' }, 'openai-chat').flags).toContain(
    'not-a-count',
  )
})
