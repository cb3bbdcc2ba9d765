import { afterEach, expect, test } from 'vitest'
import { enterEvents, utc } from '../report/usage-events.ts'
import { type Served, served, settingsOf, tokenOf } from './portal.ts'

interface Budget {
  readonly amount: string
  readonly used: string
  readonly crosses: string | null
}

let service: Served | undefined
afterEach(async () => {
  await service?.close()
  service = undefined
})

const hourUs = 3600e6
const nowUs = utc(2026, 11, 28, 12)
const zones = ['UTC', 'America/Los_Angeles', 'Asia/Kathmandu', 'Europe/Berlin', 'Pacific/Auckland']
/** Half a credit each hour since October, until now. */
const hourly = (account: string) =>
  Array.from({ length: (nowUs - utc(2026, 10, 1)) / hourUs }, (_, hour) => ({
    ...{ atUs: utc(2026, 10, 1) + hour * hourUs, account, credits: '0.5' },
  }))

const dayIn = (timeZone: string, us: number) =>
  new Intl.DateTimeFormat('sv', { timeZone }).format(us / 1000)
const hourIn = (timeZone: string, us: number) =>
  Number(
    new Intl.DateTimeFormat('en', { timeZone, hour: 'numeric', hourCycle: 'h23' }).format(
      us / 1000,
    ),
  )

interface Counted {
  /** Used until now. */
  readonly used: number
  /** The day on which an amount is reached, null if the month ends before, and its hour. */
  dayOf(amount: number): { readonly day: string | null; readonly hour: number }
}

/** Steady use of November in a zone, counted hour by hour by this test alone. */
function counted(zone: string): Counted {
  const hours = Array.from({ length: 32 * 24 }, (_, hour) => utc(2026, 10, 31) + hour * hourUs)
  const mine = hours.filter((us) => dayIn(zone, us).startsWith('2026-11'))
  return {
    used: mine.filter((us) => us < nowUs).length / 2,
    dayOf(amount) {
      const us = mine[Math.ceil(amount * 2) - 1]
      return us === undefined
        ? { day: null, hour: 12 }
        : { day: dayIn(zone, us), hour: hourIn(zone, us) }
    },
  }
}

test('the day on which a budget is used up is that of an hour by hour count, in five zones', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const ahead = [3, 8, 14, 20, 26, 32, 300]
  const lines = zones.map((timezone, at) => {
    const { used } = counted(timezone)
    const budget = [used - 1, ...ahead.map((more) => used + more)].map((amount) => `'${amount}'`)
    return `  a${at}: { timezone: ${timezone}, budget: [${budget}] }`
  })
  service = await served([], settingsOf(`accounts:\n${lines.join('\n')}\n`), (store) =>
    enterEvents(
      store,
      zones.flatMap((_, at) => hourly(`a${at}`)),
    ),
  )
  const days = new Set<string | null>()
  let compared = 0
  for (const [at, zone] of zones.entries()) {
    const { used, dayOf } = counted(zone)
    const answer = await service.ask('/v1/budgets', await tokenOf(`a${at}`))
    const { budgets } = (await answer.json()) as { budgets: readonly Budget[] }
    // What is used up already is not used up on a day to come.
    expect([budgets[0]!.used, budgets[0]!.crosses]).toEqual([String(used), null])
    for (const { amount, crosses } of budgets.slice(1)) {
      const { day, hour } = dayOf(Number(amount))
      // A forecast is of whole days, so an hour at midnight may be on either.
      if (hour >= 22 || hour < 2) continue
      expect([zone, amount, crosses]).toEqual([zone, amount, day])
      days.add(crosses)
      compared++
    }
  }
  expect(compared).toBeGreaterThan(25)
  expect(days).toContain(null)
  expect(days.size).toBeGreaterThanOrEqual(4)
})
