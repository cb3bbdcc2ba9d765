import { expect, test } from 'vitest'
import { placeVerdict } from '../../../src/audit/evidence/prices/place-verdict.ts'
import { currency } from '../../../src/money/money.ts'
import { decimalText, type Rounding, rational, roundTo } from '../../../src/money/rational.ts'
import { judgePlace } from '../../../src/price/judge/judge.ts'
import { readUsage } from '../../../src/tokens/read-usage.ts'
import { modelOf, request, statement } from '../../price/made-requests.ts'

/** Costs that are all rounded up, with no other place that shows the sum, are told by a sign test. */

const price = { input: 4, output: 20 }
/** @returns the verdict over so many costs, each rounded to 5 decimals */
function verdictOf(
  mode: Rounding | ((nth: number) => Rounding),
  count: number,
  model = modelOf({ price }),
  step = 37,
  lengths = 29,
) {
  const judge = {
    ...{ currency: currency('USD'), priceOf: () => model, choices: {}, clockErrorMs: 0 },
    twinOf: () => null,
  }
  const judged = judgePlace(
    Array.from({ length: count }, (_, at) => {
      const [input, output] = [3 + ((at * step) % lengths), 1 + ((at * 11) % 7)]
      const exact = rational(BigInt(4 * input + 20 * output), 1_000_000n)
      return {
        request: request({
          slot: at,
          isStream: at % 2 === 0,
          usage: readUsage({ prompt_tokens: input, completion_tokens: output }, 'openai-chat'),
        }),
        statement: statement(
          decimalText(roundTo(exact, 5, typeof mode === 'string' ? mode : mode(at))),
        ),
      }
    }),
    judge,
  )
  const prices = {
    currency: currency('USD'),
    is: {},
    allowance: null,
    models: [],
    evidence: null as never,
  }
  return placeVerdict(judged, prices, judge, 'requests').verdict
}

test('costs that are rounded up fail, with the chance that an honest service does the same', () => {
  expect(verdictOf('up', 60)).toMatchObject({
    verdict: 'fail',
    observed: expect.stringMatching(
      /^all \d\d different costs are above the exact one, by \d+(\.\d)? % together: each is rounded up to 0\.00001\. By chance this happens once in 2\^\d\d$/,
    ),
  })
})

test.each(['half_even', 'half_up', 'half_down'] as const)(
  'costs rounded to the nearest, %s, do not fail',
  (mode) => {
    for (const step of [37, 5, 25, 10])
      expect(verdictOf(mode, 60, undefined, step).verdict).toBe('pass')
  },
)

test('few costs, and costs whose contract promises to round up, do not fail', () => {
  expect(verdictOf('up', 10).verdict).toBe('inconclusive')
  const promised = modelOf({ price, round: { at: 'request', digits: 5, mode: 'up' } })
  expect(verdictOf('up', 60, promised).verdict).toBe('pass')
})

test.each(['half_even', 'down'] as const)(
  'streams that are rounded up fail beside plain answers rounded %s',
  (others) => {
    expect(verdictOf((at) => (at % 2 === 0 ? 'up' : others), 120)).toMatchObject({
      verdict: 'fail',
      observed: expect.stringMatching(
        /^of streams: all \d\d different costs are above the exact one/,
      ),
    })
    expect(verdictOf((at) => (at % 2 === 0 ? 'half_up' : others), 120).verdict).toBe('pass')
  },
)

test('costs that are mostly rounded up fail, whatever the others do, with the chance', () => {
  for (const others of ['half_even', 'down'] as const)
    expect(
      verdictOf((at) => (at % 11 === 0 ? others : 'up'), 150, undefined, 37, 997),
    ).toMatchObject({
      verdict: 'fail',
      observed: expect.stringMatching(
        /rounded up to 0\.00001 more often than down\. By chance this happens once in 2\^\d\d/,
      ),
    })
})

test('costs that are rounded up as often as down do not fail', () => {
  expect(verdictOf((at) => (at % 4 < 2 ? 'up' : 'down'), 150, undefined, 37, 997).verdict).not.toBe(
    'fail',
  )
  expect(verdictOf('down', 150, undefined, 37, 997).verdict).toBe('pass')
})

test('a few different costs that are all rounded up are no pass', () => {
  for (const count of [8, 12])
    expect(verdictOf('up', count)).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringMatching(
        /^all \d+ different costs are above the exact one, .* by chance once in 2\^\d+/,
      ),
    })
  for (const mode of ['half_even', 'half_up'] as const)
    expect(verdictOf(mode, 12).verdict).toBe('pass')
})
