import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { pageDocument } from '../../src/portal/page/document.ts'
import { offlinePage } from '../../src/portal/page/offline.ts'
import { wordsFor } from '../../src/portal/page/words.ts'
import { storeSource } from '../../src/portal/source/store-source.ts'
import { boardScript } from '../../src/report/usage/board/board.ts'
import { type EventChange, enterEvents, utc } from '../report/usage-events.ts'
import type { Store } from '../store/opened.ts'
import { nowMs, type Served, served, settingsOf, tokenOf } from './portal.ts'

let service: Served | undefined
afterEach(async () => {
  await service?.close()
  service = undefined
})

const event = (atUs: number, change: EventChange = {}) => ({
  atUs,
  account: 'a',
  keyFp: '0123456789ab',
  ...change,
})
const hourly = (from: number, hours: number, change: EventChange = {}) =>
  Array.from({ length: hours }, (_, at) => event(from + at * 3600e6, change))

async function pageOf(
  events: readonly (EventChange & { atUs: number })[],
  more = '',
  query = '',
  also: (store: Store) => Promise<void> = async () => {},
): Promise<string> {
  await service?.close()
  service = await served([], settingsOf(more), async (store) => {
    await enterEvents(store, [event(utc(2026, 11, 1), { account: 'other' }), ...events])
    await also(store)
  })
  const answer = await service.ask(`/page${query}`, await tokenOf('a'))
  expect(answer.status).toBe(200)
  return answer.text()
}

/** What the reader sees, without markup. */
const textOf = (page: string) =>
  page
    .replace(/<(style|script)\b[\s\S]*?<\/\1>|<[^>]+>/g, ' ')
    .replace(/&#39;/g, "'")
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replace(/\s+/g, ' ')

/** Words of an operator, of statistics and of programs. */
const operators =
  /\b(poll|polls|store|import|imported|sigma|median|SHA|429|http_error|null|undefined|NaN|reconciliation|not measured)\b|GET \/|--|X-|\{\w+[|}]/

const states: readonly (readonly [string, () => Promise<string>, readonly RegExp[]])[] = [
  ['nothing ever', () => pageOf([]), [/There is no use to show yet/, /Help/]],
  ['one request', () => pageOf([event(utc(2026, 11, 27, 9))]), [/Requests 1 /, /Tokens 30 /]],
  [
    'all failed',
    () => pageOf(hourly(utc(2026, 11, 27), 9, { outcome: 'http_error', status: 500, credits: 0 })),
    [/Used Nov 1 – 27 0 credits /, /Failed or limited 100%/, /100% of your requests failed/],
  ],
  [
    'no use in the period',
    () => pageOf(hourly(utc(2026, 10, 1), 9)),
    [/^(?!.*No use in this time).*Used Nov 1 – 28 no data /, /Your usage since .* is not here yet/],
  ],
  [
    'no credits left',
    () =>
      pageOf(
        hourly(utc(2026, 11, 20), 150),
        'accounts: { a: { grants: [{ name: Pack, credits: 0 }] } }\n',
      ),
    [/You have no credits left/],
  ],
  [
    'a month of use with a balance',
    () =>
      pageOf(
        hourly(utc(2026, 11, 1), 27 * 24),
        'accounts: { a: { grants: [{ name: Pack, credits: 900, from: 2026-11-28 }, { name: Gift, credits: 500, from: 2026-11-28, expires: 2026-12-02 }], budget: "600" } }\n',
      ),
    [
      /Your credits last until about \w+ \d+, 20\d\d [\d,.]+ credits left /,
      /Use \d+ credits before December 2, 2026, or they expire/,
      /Over budget: 648 of 600 credits this month\./,
      /Budget for November 648 of 600 credits resets on Dec 1 /,
    ],
  ],
  [
    'credits that run out soon, on one day',
    () =>
      pageOf(
        hourly(utc(2026, 11, 1), 27 * 24),
        'accounts: { a: { grants: [{ name: Pack, credits: 60, from: 2026-11-28 }] } }\n',
      ),
    // The state says it, and the figure; without a range of one day.
    [
      /^(?=.*Your credits probably run out on November 30, 2026)(?!.*between (.+?) and \1\.).*Your credits last until about Nov 30, 2026/,
    ],
  ],
  [
    'credits that would be used up by now',
    () =>
      pageOf(
        hourly(utc(2026, 10, 20), 30 * 24),
        'accounts: { a: { grants: [{ name: Pack, credits: 90, from: 2026-11-19 }] } }\n',
      ),
    [/^(?!.*At your usual pace).*Your last usage was on November 18, 2026/],
  ],
  [
    'stale for two days',
    () => pageOf(hourly(utc(2026, 11, 20), 48)),
    [/Your usage since Nov 21, 2026, 11:00 PM is not here yet/],
  ],
  [
    'requests that report nothing',
    () =>
      pageOf(
        hourly(utc(2026, 11, 27), 5, { credits: null, promptTokens: null, completionTokens: null }),
      ),
    [/Requests 5 /, /Tokens no data/, /Failed or limited 0%/],
  ],
]

test.each(states)(
  'the page of %s says so, in the words of a customer',
  { tags: 'whole', timeout: 30_000 },
  async (_, made, summary) => {
    const text = textOf(await made())
    for (const each of summary) expect(text).toMatch(each)
    expect(text.match(operators)?.[0] ?? '').toBe('')
  },
)

test('the words of every language have none of an operator', () => {
  for (const locale of ['en', 'de', 'fr', 'es', 'ja']) {
    for (const word of Object.values(wordsFor(locale, settingsOf()))) {
      expect(word.replace(/\{\w+(\|[^}]*)?\}/g, '').match(operators)?.[0] ?? '').toBe('')
    }
  }
})

test.each([
  ['de-DE', /Verbraucht vom 1\. bis 27\. Nov\. 1\.234,5 Credits .*Anfragen 1 /, /15,43\s€/],
  ['fr', /Utilisé du 1er au 27 nov\. 1\s234,5 crédits /, /15,43\s€/],
  ['es', /Usado del 1 al 27 \S+ 1234,5 créditos /, /15,43\s€/],
  ['ja', /使用量（[^）]*） 1,234\.5クレジット /, /€15\.43/],
])(
  'numbers, money and dates are those of %s',
  { tags: 'whole', timeout: 30_000 },
  async (locale, credits, cost) => {
    const page = await pageOf(
      [event(utc(2026, 11, 27, 9), { credits: 1234.5 })],
      `accounts: { a: { locale: ${locale} } }\n`,
    )
    expect(page).toContain(`<html lang="${locale}">`)
    expect(textOf(page)).toMatch(credits)
    expect(textOf(page)).toMatch(cost)
  },
)

test('filters of the address are those of every figure', {
  tags: 'whole',
  timeout: 30_000,
}, async () => {
  const events = [
    ...hourly(utc(2026, 11, 27), 5, { model: 'large' }),
    ...hourly(utc(2026, 11, 27), 3, { model: 'small', credits: 2 }),
  ]
  const text = textOf(await pageOf(events, '', '?from=2026-11-27&to=2026-11-28&model=small'))
  expect(text).toMatch(/Used Nov 27 6 credits /)
  expect(text).toMatch(/Requests 3 /)
  expect(text).not.toContain('large')
  expect(text).toMatch(/Models.* small 6 3 30 60 0/)
})

test('ten years are months, within the budget of a page', {
  tags: 'whole',
  timeout: 30_000,
}, async () => {
  const years = Array.from({ length: 120 }, (_, month) =>
    event(utc(2017 + Math.floor(month / 12), 1 + (month % 12), 5), { model: `m${month % 12}` }),
  )
  const page = await pageOf(years, '', '?from=2017-01-01&to=2027-01-01&by=model')
  expect(gzipSync(page).length).toBeLessThan(60_000)
  expect(Buffer.byteLength(page)).toBeLessThan(400_000)
  expect(page).toContain('Other')
})

test('scripts keep to their budgets', () => {
  const size = (text: string) => gzipSync(text).length
  const own = (name: string) =>
    readFileSync(new URL(`../../src/portal/page/${name}`, import.meta.url), 'utf8')
  expect(size(own('embed.js'))).toBeLessThan(4096)
  // All that a page sends, with files and lists of requests (decision 0782).
  expect(size(boardScript(own('export.js'), own('page.js')))).toBeLessThan(22_000)
})

test('the style of a page is sent without what is for its writers', () => {
  const { text } = pageDocument(null, settingsOf(), { locale: 'en', say: (word) => word }, [])
  const [, style] = /<style>([\s\S]*?)<\/style>/.exec(text)!
  expect(style).not.toMatch(/\/\*|\n| {2}|[{};:,] |;\}/)
  expect(gzipSync(style!).length).toBeLessThan(6100)
  // A pseudo class of what is within stands apart.
  expect(style).toContain(' :is(')
})

test('the page of a file is the served one', { tags: 'whole', timeout: 30_000 }, async () => {
  const page = await pageOf(hourly(utc(2026, 11, 20), 100), '', '?from=2026-11-20&to=2026-11-25')
  const file = await offlinePage({
    ...{
      source: storeSource(service!.file, defaultContract),
      settings: settingsOf(),
      account: 'a',
      keys: null,
    },
    ...{ contract: null, nowMs, search: new URLSearchParams('from=2026-11-20&to=2026-11-25') },
  })
  const main = (text: string) =>
    /<main[\s\S]*<\/main>/.exec(text)![0].replace(/"requests":(null|\{[^}]*\}),"outlook"/, '')
  expect(main(file)).toBe(main(page))
  // The file has no server to ask for the requests of an hour.
  expect(page).toContain('"requests":null,"outlook"')
  expect(file).toContain('"requests":{"hour":[')
})

test('the shell has no data, and may be framed by the listed origins only', {
  tags: 'whole',
  timeout: 30_000,
}, async () => {
  await pageOf([event(utc(2026, 11, 27, 9), { model: 'secret-model' })])
  const shell = await service!.ask('/page', null)
  expect(await shell.text()).not.toContain('secret-model')
  expect(shell.headers.get('content-security-policy')).toContain(
    'frame-ancestors https://app.example.com',
  )
  expect(shell.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect((await service!.ask('/page?model=nobody', await tokenOf('a'))).status).toBe(404)
})
