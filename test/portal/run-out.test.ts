import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answers } from '../../src/portal/api/shapes.ts'
import { type EventChange, enterEvents } from '../report/usage-events.ts'
import { nowMs, type Served, served, settingsOf, tokenOf } from './portal.ts'

const zones = [
  ...['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe'],
] as const
const dayMs = 86_400_000
const minuteMs = 60_000
/** Credits of each day: with no day unlike another, all futures are one. */
const perDay = 24
const firstMs = Date.UTC(2026, 9, 1)

interface Grant {
  readonly name: string
  readonly credits: string
  readonly from: string
  readonly expires?: string
  readonly priority: number
}
interface World {
  readonly account: string
  readonly zone: (typeof zones)[number]
  readonly grants: readonly Grant[]
}

/** The first minute of a date in a zone, found by looking at every quarter of an hour: no arithmetic of offsets. */
function midnight(date: string, zone: string): number {
  const days = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' })
  let at = Date.parse(`${date}T00:00Z`) - 16 * 60 * minuteMs
  while (days.format(at) !== date) at += 15 * minuteMs
  return at
}

const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

/** Four uses of each local day, so that days on which clocks change are like the others; and one just now, where the forecast begins. */
const usesIn = (zone: string) =>
  Array.from({ length: 59 }, (_, day) => midnight(dateOf(firstMs + day * dayMs), zone))
    .flatMap((start) => [3, 9, 15, 21].map((hour) => start + hour * 60 * minuteMs))
    .filter((atMs) => atMs < nowMs)
    .map((atMs) => ({ atMs, credits: perDay / 4 }))
    .concat({ atMs: nowMs - minuteMs, credits: 0.01 })

function worldsOf(seed: number): readonly World[] {
  let state = seed
  const draw = (below: number) => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
  const starts = ['2026-10-01', '2026-10-12', '2026-11-01', '2026-11-16']
  const ends = ['2026-12-01', '2026-12-03', '2026-12-10', '2026-12-24', '2027-01-05']
  return Array.from({ length: 10 }, (_, nth) => ({
    account: `w${seed}-${nth}`,
    zone: zones[nth % zones.length]!,
    grants: Array.from({ length: 2 + draw(4) }, (_, at) => ({
      name: `lot ${at}`,
      credits: String(100 + draw(900)),
      from: starts[draw(starts.length)]!,
      ...(draw(3) === 0 ? {} : { expires: ends[draw(ends.length)]! }),
      priority: draw(3) === 0 ? 1 : 0,
    })),
  }))
}

/** What a person with a pencil gets, minute after minute: when a credit is first due and none is there; null for not in 200 days. */
function penciled({ zone, grants }: World, order: 'expiry' | 'purchase'): number | null {
  const lots = grants.map((grant, at) => ({
    ...{ at, priority: grant.priority, left: Number(grant.credits) },
    from: midnight(grant.from, zone),
    until: grant.expires === undefined ? Infinity : midnight(grant.expires, zone),
  }))
  const [first, second] =
    order === 'expiry' ? (['until', 'from'] as const) : (['from', 'until'] as const)
  const compared = (a: number, b: number) => (a === b ? 0 : a < b ? -1 : 1)
  lots.sort(
    (a, b) =>
      a.priority - b.priority ||
      compared(a[first], b[first]) ||
      compared(a[second], b[second]) ||
      a.at - b.at,
  )
  const take = (due: number, atMs: number) => {
    for (const lot of lots) {
      if (lot.from > atMs || lot.until <= atMs) continue
      const taken = Math.min(lot.left, due)
      lot.left -= taken
      due -= taken
    }
    return due
  }
  for (const { atMs, credits } of usesIn(zone)) take(credits, atMs)
  const perMinute = (perDay * minuteMs) / dayMs
  for (let atMs = nowMs; atMs < nowMs + 200 * dayMs; atMs += minuteMs)
    if (take(perMinute, atMs) > perMinute / 2) return atMs
  return null
}

describe.each([
  ['expiry', 11],
  ['purchase', 12],
] as const)('credits that burn in order of %s', (burnOrder, seed) => {
  const all = worldsOf(seed)
  let service: Served
  beforeAll(async () => {
    const accounts = Object.fromEntries(
      all.map(({ account, zone, grants }) => [account, { timezone: zone, grants }]),
    )
    const settings = settingsOf(`burnOrder: ${burnOrder}\naccounts: ${JSON.stringify(accounts)}\n`)
    const events = all.flatMap(({ account, zone }) =>
      usesIn(zone).map(({ atMs, credits }): EventChange & { atUs: number } => ({
        ...{ account, atUs: atMs * 1000, credits },
      })),
    )
    service = await served([], settings, (store) => enterEvents(store, events))
  }, 60_000)
  afterAll(() => service.close())

  test('run out when a pencil says, in five zones', {
    tags: 'whole',
    timeout: 400_000,
  }, async () => {
    const found: string[] = []
    const expected: string[] = []
    // Futures are drawn and differ a little, though all days are alike. Another order of lots is days apart.
    const mostApart = 0.02
    const said = ({ account }: World, isThen: boolean | null) =>
      `${account}: ${isThen === null ? 'never' : isThen ? 'then' : 'another day'}`
    for (const world of all) {
      const answer = await service.ask('/v1/credits/outlook', await tokenOf(world.account))
      const { runsOut } = (await answer.json()) as Answers['outlook']
      const median = runsOut?.median ?? null
      const emptyMs = penciled(world, burnOrder)
      const isThen =
        median !== null &&
        emptyMs !== null &&
        Math.abs(Date.parse(median) - emptyMs) <=
          Math.max(dayMs / 48, mostApart * (emptyMs - nowMs))
      found.push(said(world, median === null ? null : isThen))
      expected.push(said(world, emptyMs === null ? null : true))
    }
    expect(found).toEqual(expected)
  })
})
