import { afterEach, expect, test } from 'vitest'
import type { PageData } from '../../src/portal/page/page-shape.ts'
import { speechOf } from '../../src/portal/page/speech.ts'
import { renderState } from '../../src/portal/page/state-bar.ts'
import { en } from '../../src/portal/page/words/en.ts'
import { type EventChange, enterEvents, utc } from '../report/usage-events.ts'
import { type Served, served, settingsOf, tokenOf } from './portal.ts'

let service: Served | undefined
afterEach(async () => {
  await service?.close()
  service = undefined
})

const keys = ['3f2a91c04d7e', '9b00c4d2e1f7']
/** Ten requests a day, and on 19 November twelve at four times the price of a token. */
const events: readonly (EventChange & { readonly atUs: number })[] = [
  ...Array.from({ length: 27 * 10 }, (_, at) => ({
    atUs: utc(2026, 11, 1, 8) + Math.floor(at / 10) * 86_400e6 + (at % 10) * 3600e6,
    ...{ account: 'a', unit: 'EUR', credits: '0.02', model: at % 2 === 0 ? 'nova' : 'lyra' },
    ...{ promptTokens: 800, completionTokens: 200, keyFp: keys[at % 10 < 7 ? 0 : 1]! },
  })),
  ...Array.from({ length: 12 }, (_, at) => ({
    ...{ atUs: utc(2026, 11, 19, 9) + at * 60e6, account: 'a', unit: 'EUR', credits: '0.08' },
    ...{ model: 'nova', promptTokens: 800, completionTokens: 200, keyFp: keys[1]! },
  })),
]
/** Amounts and times are in one piece. */
const plain = (text: string) => text.replaceAll('\u00a0', ' ')
const decoded = (html: string) =>
  plain(html.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code))))

/** The place to ask about a day, of a page with this contact. */
async function askOf(support: string | null, claims = {}): Promise<string> {
  const { support: _, ...base } = settingsOf("accounts: { a: { label: 'A & B' } }\n")
  const settings = support === null ? base : { ...base, support }
  service = await served([], settings, (store) => enterEvents(store, events))
  const page = await (await service.ask('/page', await tokenOf('a', claims))).text()
  const [, place = ''] = /<div class="unexplained">([\s\S]*?)<\/div>/.exec(page) ?? []
  return decoded(place)
}

const whole = { tags: 'whole', timeout: 60_000 }
const lines = [
  'Thursday, Nov 19: €1.16 instead of about €0.20, mostly 9–10 AM.',
  'Price of nova 4× (“key 2”)',
  'nova: €80.00 instead of €20.00 for a million tokens; usually no requests',
  '82.8% of that day’s cost: “key 2” with nova, 9–10 AM (UTC)',
  '€0.96 more than on a usual weekday: unusual price +€0.72 and more requests +€0.24',
]

test(
  'a price that nothing explains is asked about by a mail with the day, the key, the model and both prices',
  whole,
  async () => {
    const place = await askOf('mailto:help@example.com?cc=b@example.com')
    const [, href] = /href="([^"]*)"/.exec(place)!
    const { pathname, searchParams } = new URL(href!)
    expect(pathname).toBe('help@example.com')
    const given = [...searchParams].map(([name, value]) => [name, plain(value)])
    expect(Object.fromEntries(given)).toEqual({
      cc: 'b@example.com',
      subject: 'Example Text API · A & B · November 19, 2026',
      body: lines.map((each) => `${each}\r\n`).join(''),
    })
    expect(href).not.toContain('+')
  },
)

test('a mail has one subject, keeps a plus of its address, and no sign that turns a text around', async () => {
  const dear = {
    ...{ fromUs: utc(2026, 11, 18), toUs: utc(2026, 11, 19), unit: 'credits', amount: '200' },
    ...{ usual: 100, kind: 'weekday' as const },
    cause: {
      ...{ amount: '200', spans: [], none: [], mostly: null },
      names: [{ of: 'key' as const, name: 'a\u202eb', tag: null }],
      why: [{ of: 'price' as const, model: null, now: 2, usual: 1, amount: 100 }],
    },
    request: null,
  }
  const data = {
    ...{ dears: [dear], around: [dear], dearest: [], credits: null, notices: [], budgets: [] },
    ...{ fromUs: utc(2026, 11, 1), toUs: utc(2026, 11, 29) },
    units: [{ unit: 'credits' }],
  }
  const page = renderState(
    data as unknown as PageData,
    speechOf(en, { locale: 'en', timezone: 'UTC' }),
    { support: 'mailto:a+b@example.com?subject=x&cc=c+d@example.com', product: 'P', label: 'A' },
  ).text
  const { href, searchParams } = new URL(decoded(/href="(mailto:[^"]*)"/.exec(page)![1]!))
  expect(href).toMatch(/^mailto:a%2Bb@example\.com\?/)
  expect(searchParams.getAll('subject')).toEqual(['P · A · November 18, 2026'])
  expect(searchParams.get('cc')).toBe('c+d@example.com')
  expect(searchParams.get('body')).toContain('(key\u00a0“a\ufffdb”)')
})

test('where the contact is a page, the same text is copied', whole, async () => {
  const place = await askOf('https://example.com/help')
  expect(/<pre>([\s\S]*)<\/pre>/.exec(place)![1]).toBe(
    ['Example Text API · A & B · November 19, 2026', ...lines].join('\n'),
  )
  expect(place).toContain('<a href="https://example.com/help"')
})

test('without a contact, nothing is to press', whole, async () => {
  expect(await askOf(null)).toBe('<span>The reason for this price is not known.</span>')
})

test('a text to ask with has no name that the token does not show', whole, async () => {
  const place = await askOf('https://example.com/help', { shows: ['cost'] })
  expect(place).toContain(
    '€80.00 instead of €20.00 for a million tokens; 13 requests in these hours instead of about 1',
  )
  expect(place).toContain('Price 4× the usual one\n')
  expect(place).not.toMatch(/key|nova|lyra|3f2a|9b00/)
})
