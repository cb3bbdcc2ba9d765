import { describe, expect, test } from 'vitest'
import type { Verdict } from '../../../src/audit/verdict.ts'
import { row, rows, verdicts, verdictsOf } from './litellm-rows.ts'

const words = (found: ReadonlyMap<string, Verdict>) =>
  Object.fromEntries([...found].map(([rule, { verdict }]) => [rule, verdict]))

test('costs that are no number are no pass, and a wrong cost beside them still fails', async () => {
  const unreadable = row(3, { spend: '0,0005' })
  expect((await verdicts([...rows.slice(0, 3), unreadable])).get('PRICE-04')).toMatchObject({
    verdict: 'inconclusive',
    why: '1 of 4 costs at the log is no number: "0,0005"',
  })
  const wrong = row(4, { spend: '0.5' })
  expect((await verdicts([...rows.slice(0, 3), unreadable, wrong])).get('PRICE-04')).toMatchObject({
    verdict: 'fail',
  })
})

test('an honest log passes what it shows, and rules that need answers are not observed', async () => {
  expect(words(await verdicts(rows))).toEqual({
    'PRICE-01': 'pass',
    'PRICE-02': 'not-observed',
    'PRICE-03': 'not-observed',
    'PRICE-04': 'pass',
    'PRICE-05': 'pass',
    'PRICE-06': 'not-observed',
    'PRICE-07': 'not-observed',
    'PRICE-08': 'pass',
  })
})

describe('a fault is told by the ids and times of the service', () => {
  test('reads from a cache at the price of input', async () => {
    const wrong = rows.map((each, nth) => {
      const tenths = (100 + nth) * 40 + (20 + (nth % 7)) * 200
      return { ...each, spend: `0.${String(tenths).padStart(7, '0')}` }
    })
    const found = await verdicts(wrong)
    // Sums that differ are no pass, and no second accusation.
    expect(found.get('PRICE-08')).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringMatching(/^the sums differ by what PRICE-04 found: large: /),
      tables: [{ head: ['model', 'rows', 'logged', 'by the contract', 'difference', 'wrong'] }],
    })
    const verdict = found.get('PRICE-04')!
    expect(verdict).toMatchObject({
      verdict: 'fail',
      observations: 40,
      observed:
        '0.0008000 USD; 14 of 40 costs are wrong: cache_read at the price of input. 0.00252 USD too much in these requests',
    })
    expect(verdict.verdict === 'fail' && verdict.witnesses[0]).toMatchObject({
      service: {
        at: '2026-11-09T10:00:00.123Z',
        ids: ['chatcmpl-0'],
        line: 1,
        model: 'large',
        unit: 'USD',
        logged: '0.0008000',
        expected: '0.00062',
        difference: '0.00018',
        formula:
          '50 input tokens x 4 USD per million + 50 tokens read from a cache x 0.4 USD per million + 20 output tokens x 20 USD per million',
      },
    })
  })

  test('a request that is charged twice', async () => {
    expect((await verdicts([...rows, row(7)])).get('PRICE-05')).toMatchObject({
      verdict: 'fail',
      observed: '1 request is charged more than once, by 1 further row with the same id',
      witnesses: [
        { service: { ids: ['chatcmpl-7'] }, shows: 'large: lines 8 and 41 charge 0.0008280 each' },
      ],
    })
  })

  test('a charge that is given back whole is none, and one that is made again is one', async () => {
    const back = (nth: number, spend = `-${row(nth).spend}`) => row(nth, { spend })
    const found = await verdicts([...rows, back(3), back(5), row(5)])
    expect([found.get('PRICE-04'), found.get('PRICE-05')]).toMatchObject([
      { verdict: 'pass' },
      { verdict: 'pass' },
    ])
    const half = await verdicts([...rows, back(3, '-0.0000001')])
    expect(half.get('PRICE-04')).toMatchObject({ verdict: 'fail' })
  })

  test('a refusal that costs', async () => {
    const failed = row(41, { status: 'failure', spend: '0.0010000' })
    expect((await verdicts([...rows, failed])).get('PRICE-04')).toMatchObject({ verdict: 'fail' })
  })

  test('costs that are all rounded up, of which each is right by itself', async () => {
    const rounded = (by: (cost: number) => number) =>
      rows.map((each) => ({
        ...each,
        spend: (by(Number(each.spend) * 1e5 - 1e-6) / 1e5).toFixed(5),
      }))
    expect((await verdicts(rounded(Math.ceil))).get('PRICE-04')).toMatchObject({
      verdict: 'fail',
      observed: expect.stringContaining('rounded up to 0.00001'),
      witnesses: [
        { service: { line: expect.any(Number), ids: [expect.any(String)] } },
        {},
        {},
        {},
        {},
      ],
    })
    expect((await verdicts(rounded(Math.round))).get('PRICE-04')).toMatchObject({ verdict: 'pass' })
  })

  test('a negative amount', async () => {
    expect(
      (await verdicts([...rows, row(41, { spend: '-0.0010000' })])).get('PRICE-04'),
    ).toMatchObject({
      verdict: 'fail',
    })
  })

  test('more cached tokens than input', async () => {
    const metadata = { usage_object: { prompt_tokens_details: { cached_tokens: 5000 } } }
    expect((await verdicts([...rows, row(41, { metadata })])).get('PRICE-01')).toMatchObject({
      verdict: 'fail',
      observed: 'cached and other parts of the prompt exceed the prompt; 1 of 41 rows',
    })
  })

  test('a row that ends before it starts', async () => {
    const early = row(41, { endTime: '2026-11-09T09:00:00.000Z' })
    expect((await verdicts([...rows, early])).get('PRICE-05')).toMatchObject({
      verdict: 'fail',
      observed: 'it ends before it starts (1)',
    })
  })
})

test('what is no fault raises no alarm: an answer from the cache, passes of one answer, a model without a price', async () => {
  const honest = [
    ...rows,
    row(50, { cache_hit: 'True', spend: 0 }),
    row(51),
    row(51, { prompt_tokens: 10, completion_tokens: 1, spend: '0.0000600', metadata: {} }),
    row(52, { model: 'unknown', spend: 7 }),
  ]
  const found = await verdicts(honest)
  expect(Object.values(words(found)).filter((word) => word === 'fail')).toEqual([])
  expect(found.get('PRICE-04')).toMatchObject({
    verdict: 'pass',
    note: expect.stringContaining('a price of unknown'),
  })
})

test('a log that is cut is refused, and so is one without a cost', async () => {
  const cut = `${JSON.stringify(rows[0])}\n${JSON.stringify(rows[1]).slice(0, 40)}`
  await expect(verdictsOf(cut)).rejects.toThrow(/ends in the middle/)
  await expect(verdicts([row(0, { spend: null })])).rejects.toThrow(/has no cost in any row/)
})
