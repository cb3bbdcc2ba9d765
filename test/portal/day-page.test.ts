import { afterAll, beforeAll, expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { offlinePage } from '../../src/portal/page/offline.ts'
import { storeSource } from '../../src/portal/source/store-source.ts'
import { enterEvents, utc } from '../report/usage-events.ts'
import { openStore } from '../store/opened.ts'
import { november, type Served, served, settingsOf, tokenOf } from './portal.ts'

const dayUs = 86_400e6
const keys = ['3f2a91c04d7e', '9b00c4d2e1f7'] as const
/** Ten requests a day of two keys; on the 19th, the second one has a job of dear requests between 9 and 10. */
const events = [
  ...Array.from({ length: 27 * 10 }, (_, at) => ({
    atUs: utc(2026, 11, 1, 8) + Math.floor(at / 10) * dayUs + (at % 10) * 3600e6,
    ...{ account: 'a', credits: '2', model: at % 2 === 0 ? 'nova' : 'lyra' },
    keyFp: keys[at % 10 < 7 ? 0 : 1]!,
  })),
  ...Array.from({ length: 12 }, (_, at) => ({
    atUs: utc(2026, 11, 19, 9) + at * 60e6,
    ...{ account: 'a', credits: '40', model: 'nova', keyFp: keys[1] },
  })),
]

let service: Served
beforeAll(async () => {
  const settings = settingsOf('accounts: { a: { budget: "500" } }\n')
  service = await served([], settings, (store) => enterEvents(store, events))
}, 60_000)
afterAll(() => service.close())

async function pageOf(query: string) {
  const text = await (await service.ask(`/page?${query}`, await tokenOf('a'))).text()
  const [state] = /<section class="state[\s\S]*?<\/section>/.exec(text)!
  const [controls] = /<nav class="controls"[\s\S]*?<\/nav>/.exec(text)!
  const links = (of: string) =>
    [...of.matchAll(/<a [^>]*href="([^"]*)"[^>]*>([^<]*)<\/a>/g)].map(
      ([, href, words]) =>
        [words, href!.replaceAll('&#38;', '&').replaceAll('&amp;', '&')] as const,
    )
  return { state, links: links(state), controls: links(controls) }
}
const reason = (state: string) => /<strong>([\s\S]*?)<\/strong>/.exec(state)?.[1]

test('a dear day opened, and an hour of it, say why as its month does, with no link to themselves and a way up', async () => {
  const month = await pageOf(november)
  expect(reason(month.state)).toContain('Price of nova ')
  expect(month.links.find(([words]) => words === 'Show this day')?.[1]).toBe(
    '?from=2026-11-19&to=2026-11-20',
  )
  const day = await pageOf('from=2026-11-19&to=2026-11-20')
  expect(reason(day.state)).toBe(reason(month.state))
  expect(day.links.map(([words]) => words)).not.toContain('Show this day')
  expect(day.controls[0]).toEqual(['↑ November 2026', '?from=2026-11-01&to=2026-11-29'])
  const hour = await pageOf('from=2026-11-19T09:00&to=2026-11-19T10:00')
  expect(reason(hour.state)).toBe(reason(month.state))
  expect(hour.controls[0]).toEqual(['↑ Nov\u00a019', '?from=2026-11-19&to=2026-11-20'])
  // Of another day it says nothing.
  expect(reason((await pageOf('from=2026-11-18&to=2026-11-19')).state)).toBeUndefined()
})

test('a page of one key says no hours of the whole account, and ticks nothing off in a red box', async () => {
  const key = await pageOf(`${november}&model=lyra`)
  expect(key.state).toContain('class="state fail"')
  expect(key.state).not.toContain('One hour had much more use')
  expect(key.state).not.toContain('✓')
})

test('the period of a budget that is used up is that of the preset', async () => {
  const { links } = await pageOf(november)
  expect(links.find(([words]) => words === 'See which key')?.[1]).toBe(
    '?from=2026-11-01&to=2026-11-29&by=key',
  )
})

test('a dear day of a month that has just begun keeps its reason, too', async () => {
  const store = await openStore(':memory:')
  const hours = Array.from({ length: 50 * 24 }, (_, at) => utc(2026, 9, 15) + at * 3600e6)
  const isDear = (atUs: number) => atUs >= utc(2026, 11, 2) && atUs < utc(2026, 11, 3)
  const used = hours.flatMap((atUs) =>
    Array.from({ length: isDear(atUs) ? 6 : 1 }, (_, nth) => ({
      ...{ atUs: atUs + nth * 60e6, account: 'a', credits: '1', unit: 'USD' },
    })),
  )
  await enterEvents(store, used)
  try {
    const stateOf = async (from: string, to: string) => {
      const html = await offlinePage({
        ...{ source: storeSource(store, defaultContract), settings: settingsOf(), account: 'a' },
        ...{ keys: null, contract: null, nowMs: Date.UTC(2026, 10, 4, 0, 30) },
        search: new URLSearchParams(`from=2026-${from}&to=2026-${to}`),
      })
      return reason(/<section class="state[\s\S]*?<\/section>/.exec(html)![0])
    }
    expect(await stateOf('10-29', '11-05')).toContain('6× requests')
    expect(await stateOf('11-02', '11-03')).toContain('6× requests')
  } finally {
    store.close()
  }
})
