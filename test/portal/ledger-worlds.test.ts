import { expect, test } from 'vitest'
import type { Answers } from '../../src/portal/api/shapes.ts'
import { accountView } from '../../src/portal/settings/account-view.ts'
import { readUsage } from '../../src/report/usage/read.ts'
import { enterEvents, usageOptions } from '../report/usage-events.ts'
import { openStore } from '../store/opened.ts'
import {
  creditsOf,
  eventsOf,
  inTime,
  isTold,
  type Order,
  rowsOf,
  runsOutMs,
  type World,
  worldsOf,
} from './ledger-world.ts'
import { nowMs, served, settingsOf, tokenOf } from './portal.ts'

const centsOf = (text: string | null) => Math.round(Number(text) * 100)
const textOf = (html: string) =>
  html
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()

/** The table of what is held, and the sentence of how long it lasts. */
function ofPage(page: string) {
  const table = page.includes('id="lots"') ? page.slice(page.indexOf('id="lots"')) : ''
  const rows = [...table.slice(0, table.indexOf('</table>')).matchAll(/<tr>([\s\S]*?)<\/tr>/g)]
    .slice(1)
    .map(([, row]) =>
      [...row!.matchAll(/<t[hd][^>]*>([\s\S]*?)<\/t[hd]>/g)].slice(0, 4).map(([, cell]) => cell!),
    )
    .map(([name, ...figures]) => [
      textOf(name!.split('<small')[0]!),
      ...figures.map((each) => Number(textOf(each).replaceAll(',', '')) * 100).map(Math.round),
    ])
  const [, until] =
    /<dt>Your credits (?:last until|expire)<\/dt><dd><b[^>]*>(?:about )?([^<]+)</.exec(page) ?? []
  return { rows, until: until ?? null }
}

/** Whether two moments are one, to the minute. */
const isSame = (a: number | null, b: number | null) =>
  a === null || b === null ? a === b : Math.abs(a - b) <= 60_000

interface Seen {
  worlds: number
  scoped: number
  /** Worlds whose grants are rows of an import. */
  told: number
  refunds: number
  /** Worlds whose credits run out within a year, and others. */
  dates: number
  never: number
  readonly zones: Set<string>
  /** Accounts whose date differs. */
  readonly others: string[]
}
const nothing = (): Seen => ({
  ...{
    worlds: 0,
    scoped: 0,
    told: 0,
    refunds: 0,
    dates: 0,
    never: 0,
    zones: new Set(),
    others: [],
  },
})

/** Compares every answer about these worlds with the pencil, and counts them. */
async function compare(some: readonly World[], burnOrder: Order, seen: Seen): Promise<void> {
  const told = some.filter(isTold)
  const accounts = Object.fromEntries(
    some.map((world) => [
      world.account,
      { timezone: world.zone, ...(isTold(world) ? {} : { grants: world.grants }) },
    ]),
  )
  const settings = settingsOf(`burnOrder: ${burnOrder}\naccounts: ${JSON.stringify(accounts)}\n`)
  const service = await served([], settings, (filled) =>
    enterEvents(filled, [...eventsOf(some), ...rowsOf(told)]),
  )
  const store = await openStore(service.file)
  const ask = async (path: string, { account }: World) => service.ask(path, await tokenOf(account))
  try {
    for (const world of some.map((each) => (isTold(each) ? inTime(each) : each))) {
      const { account, zone } = world
      const credits = (await (await ask('/v1/credits', world)).json()) as Answers['credits']
      const expected = creditsOf(world, burnOrder)
      const figures = {
        ...{ held: centsOf(credits.held), used: centsOf(credits.used) },
        ...{ left: centsOf(credits.remaining), expired: centsOf(credits.expired) },
        uncovered: centsOf(credits.uncovered),
        lots: credits.grants.map((lot) => [
          lot.name,
          ...[lot.credits, lot.used, lot.remaining].map(centsOf),
        ]),
      }
      expect({ account, ...figures }).toEqual({ account, ...expected })
      seen.worlds++
      seen.zones.add(zone)
      if (isTold(world)) seen.told++
      if (world.grants.some(({ models }) => models !== undefined)) seen.scoped++
      if (world.events.some(({ cents }) => cents < 0)) seen.refunds++
      if (world.events.length === 0) continue
      const { holdings } = accountView(settings, account)
      const json = await readUsage(
        store,
        usageOptions({
          ...{ account, timezone: zone, nowUs: nowMs * 1000, holdings, burnOrder },
          contract: null,
        }),
        undefined,
        ['credits', 'depletion'],
      )
      const { source, asOf, ...api } = credits
      const { grants, ...sums } = json.credits!
      expect({ account, ...sums }).toEqual({ account, ...api, grants: undefined })
      expect([account, grants.map(({ fromUs, expiresUs, ...grant }) => grant)]).toEqual([
        account,
        api.grants.map(({ from, expires, ...grant }) => grant),
      ])
      const answer = await ask('/v1/credits/outlook', world)
      const { runsOut } = (await answer.json()) as Answers['outlook']
      const page = await ask('/page', world)
      expect([account, page.status]).toEqual([account, 200])
      const { rows, until } = ofPage(await page.text())
      if (expected.lots.length > 0)
        expect([account, rows]).toEqual([
          account,
          [...expected.lots, ['Total', expected.held, expected.used, expected.left]],
        ])
      // Without regular use, days differ and so do futures.
      if (world.perDay.length === 0) continue
      const found = runsOutMs(world, burnOrder)
      const given = json.depletion.known ? (json.depletion.runsOut.medianUs ?? null) : null
      const dates = [runsOut?.median ?? null, given].map((at) =>
        at === null ? null : typeof at === 'string' ? Date.parse(at) : at / 1000,
      )
      expect([account, isSame(dates[0]!, dates[1]!)]).toEqual([account, true])
      if (!isSame(dates[0]!, found)) {
        seen.others.push(account)
        continue
      }
      if (found === null) seen.never++
      else seen.dates++
      if (found === null || expected.left === 0 || found < nowMs + 60_000) continue
      const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: zone })
      expect([account, until]).toEqual([account, day.format(found)])
    }
  } finally {
    store.close()
    await service.close()
  }
}

test('some worlds are what a pencil says, on the page, in the API and for programs', {
  timeout: 120_000,
}, async () => {
  const seen = nothing()
  await compare(worldsOf(9, 2), 'expiry', seen)
  expect(seen).toMatchObject({ worlds: 2, scoped: 1, refunds: 1, dates: 2, others: [] })
})

/** By day, the first hundred of each order, and one in which a grant with nothing left ends (decision 0741). */
const isNightly = process.env.NIGHTLY !== undefined
const firstByDay = 100

test.each([
  ['expiry', 1, 453],
  ['purchase', 2, 323],
] as const)(
  'worlds of grants, refunds, expiries and scopes in order of %s, in five zones, are what a pencil says',
  {
    tags: 'whole',
    timeout: 7_200_000,
  },
  async (burnOrder, seed, odd) => {
    const all = worldsOf(seed, 500).filter((_, at) => isNightly || at < firstByDay || at === odd)
    const seen = nothing()
    // Small stores are read in less time.
    for (let from = 0; from < all.length; from += 50)
      await compare(all.slice(from, from + 50), burnOrder, seen)
    const { zones, others, ...counts } = seen
    console.log(`in order of ${burnOrder}: ${JSON.stringify({ ...counts, others })}`)
    expect([counts.worlds, zones.size]).toEqual([all.length, 5])
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(all.length / 50)
    expect(others).toEqual([])
  },
)
