import { expect, test } from 'vitest'
import { outlookPoints, usedSince } from '../../../../src/report/usage/board/outlook.ts'
import { readUsage } from '../../../../src/report/usage/read.ts'
import { inEmptyStore } from '../../../store/opened.ts'
import { enterEvents, usageOptions, utc } from '../../usage-events.ts'

const [fromUs, toUs] = [utc(2026, 11, 11), utc(2026, 12, 1)]

/** Twenty days of four credits, and so many left. */
const pointsOf = (left: number) =>
  inEmptyStore(async (store) => {
    const quarters = Array.from({ length: 80 }, (_, nth) => fromUs + nth * 6 * 3600e6)
    await enterEvents(store, [
      ...quarters.map((atUs) => ({ atUs })),
      { atUs: toUs - 60e6, credits: 0 },
    ])
    const grants = [{ name: 'Pack', credits: left, expiresUs: null }]
    const page = await readUsage(store, usageOptions({ fromUs, toUs, nowUs: toUs, grants }))
    return outlookPoints(page)
  })

test.each([
  ['until it is empty', 40, 10],
  ['for 45 days if it lasts longer', 10_000, 45],
] as const)('a balance burns evenly %s', { tags: 'whole' }, async (_, left, days) => {
  const points = await pointsOf(left)
  const at = (share: number) => points[Math.round((points.length - 1) * share)]!
  expect((at(1).atUs - toUs) / 86_400e6).toBeCloseTo(days, 0)
  for (const share of [0, 0.5, 1]) {
    const { balance, used } = at(share)
    expect([balance.median, used.median].map(Math.round)).toEqual([
      left - 4 * days * share,
      4 * days * share,
    ])
  }
})

test('use that the median future had before a moment is not to come', () => {
  const days = [
    { endUs: 110, low: 4, median: 10, high: 20 },
    { endUs: 120, low: 8, median: 20, high: 40 },
  ]
  const since = (sinceUs: number) =>
    usedSince(days, ({ endUs }) => endUs, { fromUs: 100, sinceUs }).map(Object.values)
  expect(since(105)).toEqual([
    [110, 0, 5, 15],
    [120, 3, 15, 35],
  ])
  expect(since(112)).toEqual([[120, 0, 8, 28]])
  expect(since(120)).toEqual([])
})
