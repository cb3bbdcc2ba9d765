import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answers } from '../../src/portal/api/shapes.ts'
import { mostAnswers, mostKeyLine } from '../../src/portal/page/most-answers.ts'
import type { PageData } from '../../src/portal/page/page-shape.ts'
import { speechOf } from '../../src/portal/page/speech.ts'
import { en } from '../../src/portal/page/words/en.ts'
import { type EventChange, enterEvents, utc } from '../report/usage-events.ts'
import { type Served, served, settingsOf, tokenOf } from './portal.ts'

const dayUs = 86_400e6
const locales = ['de', 'fr', 'es', 'ja']
const [billing, search] = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb']

/** Two dollars a day until 14 November, three euros a day since; on the 26th a key used thirty more. */
const events: readonly (EventChange & { readonly atUs: number })[] = [
  ...Array.from({ length: 58 }, (_, day) => {
    const unit = day < 45 ? 'USD' : 'EUR'
    return Array.from({ length: 4 }, (_, at) => ({
      ...{ atUs: utc(2026, 10, 1, 3 + at * 6) + day * dayUs, account: 'a', unit },
      ...{ keyFp: billing, model: at === 0 ? 'nova' : 'lyra' },
      credits: unit === 'USD' ? '0.5' : '0.75',
    }))
  }).flat(),
  ...[{ atUs: utc(2026, 11, 26, 9), account: 'a', keyFp: search, model: 'orion', credits: '30' }],
  {
    ...{ atUs: utc(2026, 11, 27, 9), account: 'a', credits: '-1', unit: 'USD', type: 'refund' },
    ...{ keyFp: null, model: null, endpoint: null, requests: 0 },
  },
].map((event) => ({ unit: 'EUR', ...event }) as EventChange & { readonly atUs: number })

const textOf = (html: string) =>
  html
    .replace(/<(style|script)\b[\s\S]*?<\/\1>|<[^>]+>/g, ' ')
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replace(/\s+/g, ' ')
    .replaceAll(' ,', ',')

test.each([
  ['9', '1', ['USD: one', '$9.00 · 90.0%']],
  ['1', '9', ['USD: two', '$9.00 · 90.0%']],
])(
  'the first key of each currency stands with it above its amount, also if it is the same: %s and %s',
  (one, two, last) => {
    const row = (name: string, ...amounts: string[]) => ({
      ...{ name, amounts, requests: 1, failed: 0 },
      before: null,
    })
    const table = {
      ...{ by: 'key', units: ['EUR', 'USD'], refunds: [null, null] },
      rows: [row('one', '30', one), row('two', '10', two)],
      total: { amounts: ['40', '10'], requests: 2 },
    }
    const data = {
      ...{ tables: [table], unit: 'EUR', units: [{ unit: 'EUR' }, { unit: 'USD' }], dears: [] },
      ...{ seesOneKey: false, toUs: utc(2026, 11, 29) },
    }
    const [key] = mostAnswers(
      data as unknown as PageData,
      speechOf(en, { locale: 'en', timezone: 'UTC' }),
    )
    const said = key!.under.map((each) => (typeof each === 'object' ? textOf(each.text) : each))
    // Each amount says its currency.
    expect([key!.label, key!.ofUnits, key!.value]).toEqual(['Key that cost most', '', 'EUR: one'])
    expect(said.filter(Boolean).map((each) => String(each).replace(/ +/g, ' ').trim())).toEqual([
      ...['€30.00 · 75.0%', ...last],
    ])
  },
)

test('the line of the key on a phone has that of each currency, and none of one key that is seen alone', () => {
  const row = (name: string, ...amounts: string[]) => ({
    ...{ name, amounts, requests: 1, failed: 0 },
    before: null,
  })
  const lineOf = (units: readonly string[], seesOneKey = false) => {
    const table = {
      ...{ by: 'key', units, refunds: units.map(() => null) },
      rows: [row('one', '30', '1'), row('two', '10', '9')],
      total: { amounts: ['40', '10'], requests: 2 },
    }
    const data = {
      ...{ tables: [table], unit: 'EUR', units: units.map((unit) => ({ unit })), dears: [] },
      ...{ seesOneKey, toUs: utc(2026, 11, 29) },
    }
    const line = mostKeyLine(
      data as unknown as PageData,
      speechOf(en, { locale: 'en', timezone: 'UTC' }),
    )
    return line && textOf(line.text).replace(/ +/g, ' ').trim()
  }
  expect(lineOf(['EUR'])).toBe('Key that cost most one 75.0%')
  expect(lineOf(['EUR', 'USD'])).toBe('Key that cost most EUR: one 75.0% USD: two 90.0%')
  expect(lineOf(['EUR'], true)).toBe(false)
})

describe('an account whose use went from dollars to euros', () => {
  let service: Served
  beforeAll(async () => {
    const budgets = `[{ amount: '90', unit: EUR }, { amount: '300', unit: USD }]`
    const others = locales.map((locale) => `, ${locale}: { locale: ${locale} }`).join('')
    const settings = settingsOf(`accounts: { a: { budget: ${budgets} }${others} }\n`)
    service = await served(
      [],
      { ...settings, keyNames: new Map([...settings.keyNames, [search, 'search']]) },
      (store) =>
        enterEvents(
          store,
          ['a', ...locales].flatMap((account) => events.map((each) => ({ ...each, account }))),
        ),
    )
  }, 60_000)
  afterAll(() => service.close())
  const ask = async (path: string, account = 'a') =>
    (await service.ask(path, await tokenOf(account))).text()
  const cellsOf = (page: string) =>
    [...page.matchAll(/<div class="[a-z ]+"><dt>([\s\S]*?)<\/dd><\/div>/g)].map(([, cell]) =>
      textOf(cell!).trim(),
    )

  test('opens in the unit of now, or of the end of the period; a late refund changes nothing', {
    tags: 'whole',
  }, async () => {
    const unitOf = async (query: string) =>
      /aria-current="true">(USD|EUR)</.exec(await ask(`/page${query}`))?.[1]
    expect(await unitOf('')).toBe('EUR')
    expect(await unitOf('?from=2026-10-01&to=2026-11-01')).toBe('USD')
    expect(await unitOf('?from=2026-11-01&to=2026-11-15')).toBe('USD')
    expect(await unitOf('?unit=USD')).toBe('USD')
    const seriesOf = async (period: string) =>
      JSON.parse(await ask(`/v1/usage/series?${period}&metric=cost`)) as Answers['series']
    const now = await seriesOf('from=2026-11-01&to=2026-12-01')
    expect([now.unit, now.units]).toEqual(['EUR', ['EUR', 'USD']])
    expect((await seriesOf('from=2026-10-01&to=2026-11-01')).unit).toBe('USD')
  })

  test('says on the first screen what was used, what will be paid and where the budget ends, in each unit', async () => {
    const [used, pay, limit, most] = cellsOf(await ask('/page'))
    // 13 days of 3 euros, and the 30; 14 days of 2 dollars less the refund.
    expect(used).toMatch(
      /^Used Nov 1 – 28 €69\.00 and \$27\.00 109 requests after refunds of \$1\.00 USD until Nov 14, EUR since Nov 15$/,
    )
    // In euros, 13 days of 0.75 by nova and 2.25 by lyra, and the 30 of orion; in dollars, 14 days of 0.5 and 1.5.
    expect(most).toBe(
      'Key that cost most EUR: key 1 €39.00 · 56.5% USD: key 1 $28.00 · 100.0% Model that cost most EUR: orion €30.00 · 43.5% · new USD: lyra $21.00 · 75.0% shares of $28.00, before refunds',
    )
    expect(pay).toMatch(
      /^To pay for November about €7[5-8] and \$27\.00 An estimate, not an invoice\.$/,
    )
    expect(limit).toMatch(
      /^Budget for November €69\.00 of €90\.00 resets on Dec 1 should last the month .*\$27\.00 of \$300\.00 no use after Nov 14$/,
    )
  })

  test('says until and since when in the cell of what was used alone, and has nothing of currencies before the figures', async () => {
    const page = await ask('/page')
    const places = ['<dl class="figures', 'class="state', 'Chart and lists in', 'id="board-use"']
    const found = places.map((each) => page.indexOf(each, page.indexOf('<main')))
    expect(found).toEqual(found.toSorted((a, b) => a - b))
    expect(textOf(page).split('USD until Nov 14, EUR since Nov 15')).toHaveLength(2)
    // In a period of one of them, nothing is apart.
    const october = await ask('/page?from=2026-10-01&to=2026-11-01')
    expect(textOf(october)).not.toContain('EUR since')
  })

  test.each([
    [
      'de',
      'USD bis 14. Nov., EUR seit 15. Nov.',
      /Zu zahlen für November etwa 7\d € und 27,00 \$ /,
      'EUR: key 1 39,00 € · 56,5 % USD: key 1 28,00 $ · 100,0 %',
    ],
    [
      'fr',
      'USD jusqu’au 14 nov., EUR depuis le 15 nov.',
      /À payer pour novembre environ 7\d € et 27,00 \$US /,
      'EUR : key 1 39,00 € · 56,5 % USD : key 1 28,00 $US · 100,0 %',
    ],
    [
      'es',
      'USD hasta el 14 nov, EUR desde el 15 nov',
      /A pagar por noviembre unos 7\d € y 27,00 US\$ /,
      'EUR: key 1 39,00 € · 56,5 % USD: key 1 28,00 US$ · 100,0 %',
    ],
    [
      'ja',
      'USDは11月14日まで、EURは11月15日から',
      /11月のお支払い 約€7\d および\$27\.00 /,
      'EUR：key 1 €39.00 · 56.5% USD：key 1 $28.00 · 100.0%',
    ],
  ])(
    'says the amounts of both first, the dates in one line, and both amounts of the first key, in %s',
    async (locale, dates, amounts, key) => {
      const text = textOf(await ask('/page', locale)).replaceAll('\u202f', ' ')
      expect(text).toContain(dates)
      expect(text).toMatch(amounts)
      expect(text).toContain(key)
    },
  )

  test('says of each amount of the state in which unit it is, and leads to that unit', async () => {
    const page = await ask('/page?unit=USD')
    const state = /<section class="state[\s\S]*?<\/section>/.exec(page)![0]
    expect(textOf(state)).toContain(
      'Thursday, Nov 26: €33.00 instead of about €3.00. Show it A single request of €30.00 at 9:00 AM (key “search”) orion instead of lyra 90.9% of that day’s cost: key “search” with orion, 9–10 AM (UTC)',
    )
    const [, query] = /href="(\?from=2026-11-26[^"]*)"/.exec(state)!
    const day = await ask(`/page${query!.replaceAll('&#38;', '&')}`)
    expect(/aria-current="true">(USD|EUR)</.exec(day)?.[1]).toBe('EUR')
    expect(textOf(/id="top-key">[\s\S]*?<\/section>/.exec(day)![0])).toContain('search €30.00')
  })

  test('a file has all currencies, as the page has them, and says so in its name and where it is asked for', async () => {
    const period = 'from=2026-11-01&to=2026-12-01'
    for (const path of ['/v1/export', '/v1/export/requests']) {
      const file = await service.ask(`${path}?${period}&format=jsonl`, await tokenOf('a'))
      expect(file.headers.get('content-disposition')).toContain(
        '-2026-11-01-2026-11-30-EUR-USD.jsonl',
      )
      const lines = (await file.text()).trimEnd().split('\n')
      expect(new Set(lines.map((line) => JSON.parse(line).unit))).toEqual(new Set(['EUR', 'USD']))
    }
    const labelOf = async (query: string) =>
      textOf(/<label>(Export[\s\S]*?)<select/.exec(await ask(`/page${query}`))![1]!).trim()
    expect(await labelOf('?unit=USD')).toBe('Export (EUR, USD)')
    // Of a period in one currency, neither says which.
    const october = 'from=2026-10-01&to=2026-11-01'
    const { headers } = await service.ask(`/v1/export?${october}`, await tokenOf('a'))
    expect(headers.get('content-disposition')).toContain('-2026-10-01-2026-10-31.csv')
    expect(await labelOf(`?${october}`)).toBe('Export')
  })

  test('has in the table of every key what it used in each unit, and a total of each', async () => {
    const table = /id="top-key">[\s\S]*?<\/section>/.exec(await ask('/page'))![0]
    const rows = [...table.matchAll(/<tr>([\s\S]*?)<\/tr>/g)].map(([, row]) =>
      [...row!.matchAll(/<t[hd][^>]*>([\s\S]*?)<\/t[hd]>/g)]
        .slice(0, 4)
        .map(([, cell]) => textOf(cell!).trim()),
    )
    expect(rows).toEqual([
      ['Key', 'Cost (EUR)', 'Change', 'Cost (USD)'],
      ['key 1', '€39.00', '', '$28.00'],
      ['search', '€30.00', 'new', '–'],
      ['Refunds', '–', '', '-$1.00'],
      ['Total', '€69.00', '', '$27.00'],
    ])
    expect(textOf(table.slice(table.indexOf('>') + 1))).toContain(' Keys (EUR) ')
  })
})
