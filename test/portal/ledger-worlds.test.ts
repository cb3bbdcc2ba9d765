import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answers } from '../../src/portal/api/shapes.ts'
import { type EventChange, enterEvents } from '../report/usage-events.ts'
import { nowMs, type Served, served, settingsOf, tokenOf } from './portal.ts'

const zones = [
  ...['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe'],
] as const
/** Dates around which grants begin and end: clocks change on some, and months end on others. */
const dates = [
  ...['2026-10-04', '2026-10-05', '2026-10-25', '2026-10-26', '2026-10-31', '2026-11-01'],
  ...['2026-11-02', '2026-11-15', '2026-11-27', '2026-11-28', '2026-12-10'],
] as const
const worlds = 1000
const minuteMs = 60_000

interface Grant {
  readonly name: string
  readonly credits: string
  readonly from?: string
  readonly expires?: string
  readonly priority: number
}
interface World {
  readonly account: string
  readonly zone: (typeof zones)[number]
  readonly grants: readonly Grant[]
  readonly events: readonly { readonly atMs: number; readonly cents: number }[]
}

const known = new Map<string, number>()
/** The first minute of a date in a zone, found by looking at every quarter of an hour: no arithmetic of offsets. */
function midnight(date: string, zone: string): number {
  const name = `${date} ${zone}`
  const before = known.get(name)
  if (before !== undefined) return before
  const days = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' })
  let at = Date.parse(`${date}T00:00Z`) - 16 * 60 * minuteMs
  while (days.format(at) !== date) at += 15 * minuteMs
  known.set(name, at)
  return at
}

function worldsOf(seed: number): readonly World[] {
  let state = seed
  const draw = (below: number) => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
  const pick = <T>(of: readonly T[]): T => of[draw(of.length)]!
  return Array.from({ length: worlds / 2 }, (_, nth): World => {
    const zone = pick(zones)
    const moment = (date: string) => (draw(3) === 0 ? `${date}T09:30Z` : date)
    const grants = Array.from({ length: 1 + draw(5) }, (_, at): Grant => {
      const start = draw(dates.length - 1)
      const end = start + 1 + draw(dates.length - 1 - start)
      return {
        name: `lot ${at}`,
        credits: (draw(4000) / 100).toFixed(2),
        ...(draw(5) === 0 ? {} : { from: moment(dates[start]!) }),
        ...(draw(3) === 0 ? {} : { expires: moment(dates[end]!) }),
        priority: draw(4) === 0 ? draw(3) - 1 : 0,
      }
    })
    const events = Array.from({ length: draw(14) }, () => {
      const atMs = midnight(pick(dates), zone) + (draw(9) - 4) * 15 * minuteMs + draw(900) * 1000
      const cents = draw(5) === 0 ? -draw(900) : draw(1800)
      return { atMs, cents }
    }).filter(({ atMs }) => atMs < nowMs)
    return { account: `w${seed}-${nth}`, zone, grants, events }
  })
}

/**
 * What a person with a pencil gets, cent after cent, from the lots that are open, the first in order first. Of a stretch in which
 * the same lots are open, use and refunds are offset first.
 */
function penciled({ zone, grants, events }: World, order: 'expiry' | 'purchase') {
  const us = (text: string | undefined, otherwise: number) =>
    text === undefined ? otherwise : text.includes('T') ? Date.parse(text) : midnight(text, zone)
  const lots = grants.map((grant, at) => ({
    ...{
      at,
      name: grant.name,
      priority: grant.priority,
      cents: Math.round(Number(grant.credits) * 100),
    },
    ...{ from: us(grant.from, -Infinity), until: us(grant.expires, Infinity), used: 0 },
  }))
  const isBefore = (a: (typeof lots)[number], b: (typeof lots)[number]) => {
    if (a.priority !== b.priority) return a.priority < b.priority
    const [first, second] =
      order === 'expiry' ? (['until', 'from'] as const) : (['from', 'until'] as const)
    if (a[first] !== b[first]) return a[first] < b[first]
    if (a[second] !== b[second]) return a[second] < b[second]
    return a.at < b.at
  }
  let uncovered = 0
  const edges = lots.flatMap(({ from, until }) => [from, until])
  const stretches: { atMs: number; cents: number }[] = []
  for (const { atMs, cents } of [...events].sort((a, b) => a.atMs - b.atMs)) {
    const last = stretches.at(-1)
    const isSame = last !== undefined && !edges.some((edge) => last.atMs < edge && edge <= atMs)
    if (isSame) last.cents += cents
    else stretches.push({ atMs, cents })
  }
  for (const { atMs, cents } of stretches) {
    const open = lots.filter(({ from, until }) => from <= atMs && atMs < until)
    for (let cent = 0; cent < Math.abs(cents); cent++) {
      if (cents > 0) {
        if (uncovered < 0) {
          uncovered++
          continue
        }
        let first: (typeof lots)[number] | null = null
        for (const lot of open)
          if (lot.used < lot.cents && (first === null || isBefore(lot, first))) first = lot
        if (first === null) uncovered++
        else first.used++
      } else {
        if (uncovered > 0) {
          uncovered--
          continue
        }
        let last: (typeof lots)[number] | null = null
        for (const lot of open)
          if (lot.used > 0 && (last === null || isBefore(last, lot))) last = lot
        if (last === null) uncovered--
        else last.used--
      }
    }
  }
  const begun = lots.filter(({ from }) => from <= nowMs)
  const held = begun.filter(({ until }) => until > nowMs)
  const sum = (values: readonly number[]) => values.reduce((all, each) => all + each, 0)
  return {
    held: sum(held.map(({ cents }) => cents)),
    used: sum(held.map(({ used }) => used)),
    left: sum(held.map(({ cents, used }) => cents - used)),
    expired: sum(
      begun.filter(({ until }) => until <= nowMs).map(({ cents, used }) => cents - used),
    ),
    uncovered,
    lots: held.map(({ name, cents, used }) => [name, cents, used, cents - used]),
  }
}

const centsOf = (text: string | null) => Math.round(Number(text) * 100)
const textOf = (html: string) => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')

describe.each([
  ['expiry', 1],
  ['purchase', 2],
] as const)('in order of %s', (burnOrder, seed) => {
  const all = worldsOf(seed)
  let service: Served
  beforeAll(async () => {
    const accounts = Object.fromEntries(
      all.map(({ account, zone, grants }) => [account, { timezone: zone, grants }]),
    )
    const settings = settingsOf(`burnOrder: ${burnOrder}\naccounts: ${JSON.stringify(accounts)}\n`)
    const events = all.flatMap(({ account, events: some }) =>
      some.map(({ atMs, cents }): EventChange & { atUs: number } => ({
        ...{ account, atUs: atMs * 1000, credits: (cents / 100).toFixed(2) },
        ...(cents < 0 ? { type: 'refund', requests: 0, model: null } : {}),
      })),
    )
    service = await served([], settings, (store) => enterEvents(store, events))
  }, 60_000)
  afterAll(() => service.close())

  test('500 worlds of grants, refunds and expiries in five zones are what a pencil says', {
    tags: 'whole',
    timeout: 300_000,
  }, async () => {
    for (const world of all) {
      const answer = await service.ask('/v1/credits', await tokenOf(world.account))
      const credits = (await answer.json()) as Answers['credits']
      expect({
        account: world.account,
        ...{ held: centsOf(credits.held), used: centsOf(credits.used) },
        ...{ left: centsOf(credits.remaining), expired: centsOf(credits.expired) },
        uncovered: centsOf(credits.uncovered),
        lots: credits.grants.map((lot) => [
          lot.name,
          ...[lot.credits, lot.used, lot.remaining].map(centsOf),
        ]),
      }).toEqual({ account: world.account, ...penciled(world, burnOrder) })
    }
  })

  test('the page has the same figures, and they add up', {
    tags: 'whole',
    timeout: 300_000,
  }, async () => {
    const some = all
      .filter((world) => world.events.length > 0 && penciled(world, burnOrder).lots.length > 1)
      .slice(0, 8)
    expect(some.length).toBe(8)
    for (const world of some) {
      const page = await (await service.ask('/page', await tokenOf(world.account))).text()
      const rows = [...page.slice(page.indexOf('id="lots"')).matchAll(/<tr>([\s\S]*?)<\/tr>/g)]
        .slice(1)
        .map(([, row]) =>
          [...row!.matchAll(/<t[hd][^>]*>([\s\S]*?)<\/t[hd]>/g)]
            .slice(0, 4)
            .map(([, cell]) => textOf(cell!).trim()),
        )
        .map(([name, ...figures]) => [name, ...figures.map(centsOf)])
      const { lots, held, used, left } = penciled(world, burnOrder)
      expect(rows).toEqual([...lots, ['Total', held, used, left]])
    }
  })
})
