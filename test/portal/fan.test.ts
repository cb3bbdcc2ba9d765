import { afterEach, expect, test } from 'vitest'
import type { Answers } from '../../src/portal/api/shapes.ts'
import { type EventChange, enterEvents, utc } from '../report/usage-events.ts'
import { type Served, served, settingsOf, tokenOf } from './portal.ts'

const whole = { tags: 'whole', timeout: 60_000 }
let service: Served | undefined
afterEach(async () => {
  await service?.close()
  service = undefined
})

/** Four credits at six hours of each day from 1 October to noon of 28 November: 1,404 in all, and 24 a day. */
const even = (change: (at: number) => EventChange = () => ({})) =>
  Array.from({ length: 58 * 6 + 3 }, (_, at) => ({
    ...{ atUs: utc(2026, 10, 1, 1) + at * 4 * 3600e6, account: 'a', credits: '4' },
    ...change(at),
  }))

async function outlookOf(grants: string, events = even()): Promise<Answers['outlook']> {
  service = await served([], settingsOf(`accounts: { a: { grants: [${grants}] } }\n`), (store) =>
    enterEvents(store, events),
  )
  const answer = await service.ask('/v1/credits/outlook?days=60', await tokenOf('a'))
  return (await answer.json()) as Answers['outlook']
}
/** What is left at noon of a day, in the median and in 80 % of the futures. */
const leftOn = ({ fan }: Answers['outlook'], day: string) => {
  const { p10, p50, p90 } = fan.find(({ at }) => at.startsWith(day))!
  return [p10, p50, p90].map((each) => Math.round(Number(each)))
}

test('the fan ends where the credits expire, and has before that what expires', whole, async () => {
  const outlook = await outlookOf(
    '{ name: Pack, credits: 2000, from: 2026-10-01, expires: 2026-12-10 }',
  )
  expect(outlook.runsOut!.median).toBe('2026-12-10T00:00:00+00:00')
  const unused = Number(outlook.expiries[0]!.median)
  // 596 less 24 a day until the 9th at noon.
  const [, median] = leftOn(outlook, '2026-12-09')
  expect(median).toBeGreaterThanOrEqual(unused)
  expect(median! - unused).toBeLessThan(24)
  expect(leftOn(outlook, '2026-12-10')).toEqual([0, 0, 0])
  expect(leftOn(outlook, '2027-01-10')).toEqual([0, 0, 0])
})

test(
  'a grant that begins later is in the fan from its start, also after the credits ran out',
  whole,
  async () => {
    const outlook = await outlookOf(
      '{ name: Pack, credits: 1500, from: 2026-10-01 }, { name: Next, credits: 1000, from: 2026-12-20 }',
    )
    // 96 last until 2 December at noon.
    expect(outlook.runsOut!.median).toMatch(/^2026-12-02/)
    expect(leftOn(outlook, '2026-12-15')).toEqual([0, 0, 0])
    for (const each of leftOn(outlook, '2026-12-25')) {
      // Five and a half days of 24.
      expect(each).toBeGreaterThan(860)
      expect(each).toBeLessThan(876)
    }
  },
)

test('a grant for one model burns with that model alone in the fan', whole, async () => {
  const outlook = await outlookOf(
    '{ name: Own, credits: 1000, models: [nova], from: 2026-10-01 }, { name: Pack, credits: 2000, from: 2026-10-01 }',
    even((at) => ({ model: at % 2 === 0 ? 'nova' : 'lyra' })),
  )
  // 704 of nova's 1,000 and 700 of the pack are used: 296 and 1,300 are left, and each model uses 12 a day.
  const [, now] = leftOn(outlook, '2026-11-28')
  expect(now).toBeGreaterThan(1_580)
  const [, later] = leftOn(outlook, '2026-12-18')
  expect(Math.abs(now! - later! - 480)).toBeLessThan(30)
  expect(outlook.runsOut!.median! > '2027-01-27').toBe(true)
})
