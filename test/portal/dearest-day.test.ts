import { afterAll, beforeAll, expect, test } from 'vitest'
import { type EventChange, enterEvents, utc } from '../report/usage-events.ts'
import { type Served, served, settingsOf, tokenOf } from './portal.ts'

const locales = ['en', 'de', 'fr', 'es', 'ja'] as const

/** One request at ten on each of the first 28 days of November, of these amounts. */
const daily = (account: string, amountOf: (day: number) => number | null, change: EventChange) =>
  Array.from({ length: 28 }, (_, at) => ({
    atUs: utc(2026, 11, at + 1, 10),
    ...{ account, credits: amountOf(at + 1)?.toFixed(2) ?? null, model: 'nova', ...change },
  }))

/** 5, 6, 7 or 8 on a day, and a little more on the 24th. */
const quiet = (day: number) => (day === 24 ? 8.5 : 5 + ((day * 3) % 4))
/** About 5 on a day, and 7 on the 24th: no other day is near it, and it is not twice as much. */
const steady = (day: number) => (day === 24 ? 7 : 5 + (day % 3) / 10)
/** 10 to 18 from Monday to Friday and 5 at the weekend; 25 on the 7th, a Saturday, and 27 on the 24th. */
function ofKinds(day: number): number {
  if (day === 7 || day === 24) return day === 7 ? 25 : 27
  return day % 7 < 2 ? 5 : 10 + ((day * 5) % 9)
}
const euros = { unit: 'EUR' }
const dollars = { unit: 'USD' }

let service: Served
beforeAll(async () => {
  const accounts = locales.map((locale) => `${locale}: { locale: ${locale} }`).join(', ')
  service = await served([], settingsOf(`accounts: { ${accounts} }\n`), (store) =>
    enterEvents(store, [
      ...locales.flatMap((locale) => daily(locale, quiet, euros)),
      ...daily('steady', steady, euros),
      ...daily('credits', quiet, { unit: 'credits' }),
      ...daily('even', () => 5, euros),
      ...daily('unpriced', () => null, euros),
      ...daily('partly', (day) => (day === 9 ? null : quiet(day)), euros),
      ...daily('few', (day) => day, euros).slice(0, 3),
      // Dollars have one day far above the others; euros have none.
      ...daily('two', quiet, euros),
      ...daily('two', (day) => (day === 4 ? 90 : quiet(day)), dollars),
      ...daily('weekend', ofKinds, euros),
    ]),
  )
}, 60_000)
afterAll(() => service.close())

const pageOf = async (account: string, query = '') =>
  (await service.ask(`/page${query}`, await tokenOf(account))).text()
const textOf = (html: string) =>
  html
    .replace(/<[^>]+>/g, '')
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replace(/[\s\u202f\u00a0]+/g, ' ')
const stateOf = (page: string) => /<section class="state[\s\S]*?<\/section>/.exec(page)![0]
const whole = { tags: 'whole', timeout: 60_000 }

test.each([
  [
    'en',
    '✓ No unusual day. Most expensive: Tuesday, Nov 24: €8.50, within the usual range. Show this day',
  ],
  [
    'de',
    '✓ Kein ungewöhnlicher Tag. Teuerster: Dienstag, 24. Nov.: 8,50 €, im üblichen Rahmen. Diesen Tag zeigen',
  ],
  [
    'fr',
    '✓ Aucun jour inhabituel. Le plus cher : mardi 24 nov. : 8,50 €, dans la fourchette habituelle. Voir ce jour',
  ],
  [
    'es',
    '✓ Ningún día inusual. El más caro: el martes, 24 nov: 8,50 €, dentro de lo habitual. Ver este día',
  ],
  [
    'ja',
    '✓ いつもより多い日はありません。料金が最も高い日： 11月24日火曜日：€8.50（ふだんの範囲内） この日を表示',
  ],
])('a month without an unusual day names its dearest one, in %s', async (locale, said) => {
  const page = await pageOf(locale)
  expect(textOf(stateOf(page))).toContain(said)
  expect(stateOf(page)).toContain('href="?from=2026-11-24&#38;to=2026-11-25"')
  expect(stateOf(page)).toMatch(/^<section class="state good">/)
})

test(
  'a dearest day that others are not near is beside what is usual, and that of credits is the day of most use',
  whole,
  async () => {
    expect(textOf(stateOf(await pageOf('steady')))).toContain(
      'Most expensive: Tuesday, Nov 24: €7.00 instead of about €5.12. Show this day',
    )
    expect(textOf(stateOf(await pageOf('credits')))).toContain(
      'No unusual day. Most used on Tuesday, Nov 24: 8.5 credits, within the usual range.',
    )
  },
)

test(
  'of days that used the same, without amounts or of one day alone, none is called the dearest',
  whole,
  async () => {
    for (const [account, query] of [
      ['even', ''],
      ['unpriced', ''],
      ['en', '?from=2026-11-24&to=2026-11-25'],
    ] as const)
      expect(textOf(stateOf(await pageOf(account, query)))).not.toMatch(/[Dd]earest|unusual day/)
  },
)

test(
  'where some amounts are not known or days are few, no day is called unusual, usual or the dearest beyond that',
  whole,
  async () => {
    const partly = textOf(stateOf(await pageOf('partly')))
    expect(partly).toContain('Highest known amount: Tuesday, Nov 24: €8.50')
    expect(partly).not.toMatch(/No unusual day|Most expensive/)
    const few = textOf(stateOf(await pageOf('few')))
    expect(few).toContain('Most expensive day: Tuesday, Nov 3: €3.00')
    expect(few).not.toMatch(/usual/)
  },
)

test(
  'each currency has its dearest day, that of the page first, and its chart has the amount and the date of it',
  whole,
  async () => {
    const page = await pageOf('two')
    const state = textOf(stateOf(page))
    const places = [
      '✓ EUR: no unusual day. Most expensive: Tuesday, Nov 24: €8.50, within the usual range.',
      '! Most expensive day (USD): Wednesday, Nov 4: $90.00 instead of about $6.90.',
    ].map((said) => state.indexOf(said))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(places).not.toContain(-1)
    expect(stateOf(page)).toMatch(/^<section class="state warn">/)
    const chartOf = (text: string) =>
      /id="board-use"[\s\S]*?<div class="on-desk">([\s\S]*?)<\/svg>/.exec(text)![1]!
    const wordsIn = (chart: string) =>
      [...chart.matchAll(/<text[^>]*>([^<]*)</g)].map(([, word]) => word)
    expect(wordsIn(chartOf(page))).toEqual(expect.arrayContaining(['€8.50', 'Nov 24']))
    expect(wordsIn(chartOf(await pageOf('two', '?unit=USD')))).toEqual(
      expect.arrayContaining(['$90.00', 'Nov 4']),
    )
  },
)

test(
  'a day that is dear for its kind is called unusual, and the dearest day has its own line',
  whole,
  async () => {
    const state = textOf(stateOf(await pageOf('weekend')))
    expect(state).toContain('! Unusual: Saturday, Nov 7')
    expect(state).toContain('✓ Most expensive day: Tuesday, Nov 24: €')
    expect(state).not.toContain('No unusual day')
  },
)
