import { describe, expect, test } from 'vitest'
import type { LoggedRequest } from '../../../src/audit/log-alone/log-lines.ts'
import { SharedIds, unheldText } from '../../../src/audit/log-alone/shared-ids.ts'
import { row, rows, verdicts } from './litellm-rows.ts'

/** A row of the request 3 without counts. */
const settling = (spend: string) => ({
  ...{ request_id: 'chatcmpl-3', call_type: 'acompletion', api_key: 'k', model: 'large' },
  ...{ spend, startTime: '2026-11-09T10:00:03.123Z' },
})
/** Tenths of a microdollar as an amount. */
const amount = (tenths: number) =>
  `${tenths < 0 ? '-' : ''}0.${String(Math.abs(tenths)).padStart(7, '0')}`
const tenthsOf = (nth: number) => Number(row(nth).spend) * 1e7
const others = rows.filter(({ request_id }) => request_id !== 'chatcmpl-3')

/** One charge of the request 3: ten times its cost in advance, and what is too much given back in so many rows. */
function givenBackIn(parts: number, first = 0) {
  const cost = Math.round(tenthsOf(3))
  const most = Math.floor((cost * 9) / parts)
  const rest = cost * 9 - most * (parts - 1)
  const back = Array.from({ length: parts }, (_, at) => settling(amount(at === 0 ? -rest : -most)))
  return [...others, row(3, { spend: amount(cost * 10 + first) }), ...back]
}

describe('an id that many rows share', () => {
  const shared = (length: number, spend: (nth: number) => unknown) =>
    Array.from({ length }, (_, nth) => row(nth, { request_id: 'session-1', spend: spend(nth) }))

  async function areJudged(length: number) {
    const right = await verdicts(shared(length, (nth) => row(nth).spend))
    expect(right.get('PRICE-04')).toEqual({ verdict: 'pass', observations: length })
    const wrong = await verdicts(shared(length, (nth) => (nth < 20 ? row(nth).spend : '0.9')))
    expect(wrong.get('PRICE-04')).toMatchObject({
      verdict: 'fail',
      observed: expect.stringContaining(`; ${length - 20} of ${length} costs are wrong`),
    })
  }

  test('is no reason not to judge them', () => areJudged(50))
  test.each([1_000, 1_200])('is none in %i rows', { tags: 'whole' }, areJudged)

  test('may be one charge in many rows, which is judged by the sum of all', async () => {
    for (const parts of [15, 24])
      expect((await verdicts(givenBackIn(parts))).get('PRICE-04')).toEqual({
        verdict: 'pass',
        observations: 40,
      })
    expect((await verdicts(givenBackIn(24, 100))).get('PRICE-04')).toMatchObject({
      verdict: 'fail',
      observed: expect.stringContaining('1 of 40 costs are wrong'),
    })
  })

  test('is open where a charge has more rows than are held', { tags: 'whole' }, async () => {
    expect((await verdicts(givenBackIn(900))).get('PRICE-04')).toMatchObject({ verdict: 'pass' })
    const found = await verdicts(givenBackIn(1_100))
    expect(found.get('PRICE-04')).toMatchObject({
      verdict: 'inconclusive',
      why: '1,101 of 1,140 costs are in rows of an id with more than 1,000 rows, which may be one charge and are not added up',
      witnesses: [{ service: { ids: ['chatcmpl-3'] } }, {}, {}],
    })
  })

  test('has equal rows that are no repeats if it names more than one request', async () => {
    const twice = [...shared(30, (nth) => row(nth).spend), ...shared(30, (nth) => row(nth).spend)]
    expect((await verdicts(twice)).get('PRICE-05')).toMatchObject({
      verdict: 'pass',
      note: expect.stringContaining(
        '1 id has rows with more than 5 different counts, so equal ones may be several requests',
      ),
    })
  })

  test('is compared with rows that come late', async () => {
    const again = Array.from({ length: 6 }, () => row(3))
    const back = Array.from({ length: 6 }, () => row(3, { spend: `-${row(3).spend}` }))
    expect((await verdicts([...rows, ...again, ...back])).get('PRICE-05')).toMatchObject({
      verdict: 'pass',
    })
    const passes = [1, 2, 3, 4].map((of) => row(3, { completion_tokens: of, spend: 0 }))
    expect((await verdicts([...rows, ...passes, row(3)])).get('PRICE-05')).toMatchObject({
      verdict: 'fail',
      observed: '1 request is charged more than once, by 1 further row with the same id',
    })
  })
})

test('a cost that is no number makes the charge of its id unknown', async () => {
  for (const spend of ['0,5', '4,25 USD']) {
    expect((await verdicts([...rows, settling(spend)])).get('PRICE-04')).toMatchObject({
      verdict: 'inconclusive',
      why: `1 of 40 costs at the log is no number: ${JSON.stringify(spend)}`,
    })
  }
})

describe('rows that are held', () => {
  const line = { request: { usage: null }, statement: null } as LoggedRequest
  const most = { rows: 30, held: 100 }

  test('are at most so many, of all ids, however many rows each id has', () => {
    const shared = new SharedIds(() => 30, most)
    let [handedOut, mostHeld] = [0, 0]
    for (let nth = 0; nth < 30; nth++)
      for (let id = 0; id < 99; id++) {
        if (shared.add(`${id}`, line) !== null) handedOut++
        mostHeld = Math.max(mostHeld, [...shared.rest()].flat().length)
      }
    expect(mostHeld).toBe(100)
    // Ids that are given up leave room for others.
    expect(handedOut).toBe(3)
    expect(shared.unheld).toBe(96)
    expect([...shared.rest()]).toEqual([])
  })

  test('do not hinder the last row of an id', () => {
    const shared = new SharedIds(() => 2, most)
    const ids = Array.from({ length: 101 }, (_, nth) => `${nth}`)
    for (const id of ids) shared.add(id, line)
    expect(ids.filter((id) => shared.add(id, line) !== null)).toHaveLength(100)
    expect(['0', '100'].map((id) => shared.unheldAs(id))).toEqual([null, 'full'])
    expect([...shared.unheldWhy]).toEqual(['full'])
  })

  test('are told apart from an id with too many rows', () => {
    const shared = new SharedIds(() => 31, most)
    shared.add('a', line)
    expect(shared.unheldAs('a')).toBe('long')
    expect(unheldText(shared.unheldWhy)).toBe('rows of an id with more than 1,000 rows')
    expect(unheldText(new Set(['full', 'long']))).toBe(
      'rows of an id with more than 1,000 rows, and rows of ids that are too many to be held at once (order the log by id)',
    )
  })
})
