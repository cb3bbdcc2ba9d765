import { expect, test } from 'vitest'
import { defaultContract } from '../../../src/contract/default.ts'
import type { Grant } from '../../../src/contract/grant.ts'
import { planFor } from '../../../src/report/usage/plan.ts'
import type { Forecast } from '../../../src/report/usage/shape.ts'
import { mondayUs, pastDays } from '../usage-days.ts'

const dayUs = 86_400e6
const past = pastDays([100, 100, 100, 100, 100, 100, 100])
const month = Array.from({ length: 30 }, (_, day) => ({
  startUs: mondayUs + (7 + day) * dayUs,
  endUs: mondayUs + (8 + day) * dayUs,
  weekday: (day % 7) + 1,
  share: 1,
}))
const burn = { known: true } as Forecast
/** A grant that expires this many days after the start of the month. */
const grant = (credits: number, day: number | null): Grant => ({
  name: 'held',
  credits,
  expiresUs: day === null ? null : month[0]!.startUs + day * dayUs,
})
const peak = { minute: 1, hour: 1, day: 1 }

test.each<[string, readonly Grant[], number]>([
  ['nothing is held', [], 3_000],
  ['a grant never expires', [grant(1_000, null)], 2_000],
  ['a grant expires at the end of the month', [grant(1_000, 30)], 2_000],
  ['a grant expires on the last day', [grant(5_000, 29)], 100],
  ['a grant that expires on the tenth day is spent before', [grant(400, 10)], 2_600],
  ['the rest of a grant on the tenth day is not spent', [grant(5_000, 10)], 2_000],
  ['two grants expire one after the other', [grant(1_500, 20), grant(1_500, 10)], 1_000],
  [
    'two grants expire one after the other, in any order',
    [grant(1_500, 10), grant(800, 20)],
    1_200,
  ],
  [
    'a grant begins in a year',
    [{ ...grant(9_000, null), fromUs: month[0]!.startUs + 365 * dayUs }],
    3_000,
  ],
  [
    'a grant begins on the twentieth day',
    [{ ...grant(9_000, null), fromUs: month[0]!.startUs + 20 * dayUs }],
    2_000,
  ],
  [
    'a grant is there from the twentieth to the twenty-fifth day',
    [{ ...grant(9_000, 25), fromUs: month[0]!.startUs + 20 * dayUs }],
    2_500,
  ],
  [
    'two grants begin on the twentieth day',
    Array(2).fill({ ...grant(1_000, null), fromUs: month[0]!.startUs + 20 * dayUs }),
    2_000,
  ],
  [
    'one is there from the twentieth to the twenty-fifth day, and one from the twenty-second',
    [
      { ...grant(9_000, 25), fromUs: month[0]!.startUs + 20 * dayUs },
      { ...grant(9_000, null), fromUs: month[0]!.startUs + 22 * dayUs },
    ],
    2_000,
  ],
  ['a grant pays for another model', [{ ...grant(9_000, null), models: ['other'] }], 3_000],
  ['a grant has expired', [grant(1_000, -1)], 3_000],
  ['more is held than is burned', [grant(9_000, null)], 0],
])('of 3,000 credits for a month, if %s, %d are to be bought', (...[, grants, need]) => {
  const plan = planFor(defaultContract, past, burn, month, grants, peak)
  if (!plan.known) throw new Error(plan.summary)
  expect(plan.needCredits).toBeCloseTo(need, 6)
  expect(plan.reasons[0]).not.toMatch(/not known/)
})

test('an unknown balance counts as none, and the reasons begin with it', () => {
  const plan = planFor(defaultContract, past, burn, month, null, peak)
  expect(plan).toMatchObject({
    reasons: [
      'The balance is not known, so the plan counts on none.',
      '6 Starter (29.94 USD, 3,000 credits) is the cheapest that covers 3,000 credits.',
    ],
  })
  const none = planFor({ ...defaultContract, packages: [] }, past, burn, month, null, peak)
  expect(none).toEqual({ known: false, summary: 'The contract "svc" lists no packages.' })
})

test('without a forecast there is no plan', () => {
  const few: Forecast = { known: false, fullDays: 1, summary: 'Too few days.' }
  expect(planFor(defaultContract, past, few, month, null, peak)).toEqual({
    known: false,
    summary: 'A plan needs a forecast.',
  })
})
