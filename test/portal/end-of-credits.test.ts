import { afterEach, expect, test } from 'vitest'
import { type EventChange, enterEvents, utc } from '../report/usage-events.ts'
import { type Served, served, settingsOf, tokenOf } from './portal.ts'

const whole = { tags: 'whole', timeout: 60_000 }
let service: Served | undefined
afterEach(async () => {
  await service?.close()
  service = undefined
})

type Event = EventChange & { readonly atUs: number }
const plainOf = (html: string) =>
  html.replace(/<(style|script)\b[\s\S]*?<\/\1>|<[^>]+>/g, ' ').replace(/[\s\u202f]+/g, ' ')

/** Six requests a day from 1 October to noon of 28 November. @param creditsOf of the requests of a day */
const events = (creditsOf: (day: number) => number, change: EventChange = {}): readonly Event[] =>
  Array.from({ length: 58 * 6 + 3 }, (_, at) => ({
    atUs: utc(2026, 10, 1, 1) + at * 4 * 3600e6,
    ...{ account: 'a', credits: String(creditsOf(Math.floor(at / 6))), ...change },
  }))

async function pageOf(some: readonly Event[], account: string) {
  service = await served([], settingsOf(`accounts: { a: { ${account} } }\n`), (store) =>
    enterEvents(store, some),
  )
  const page = await (await service.ask('/page', await tokenOf('a'))).text()
  return {
    lines: [...page.matchAll(/<p class="brief"[^>]*>([\s\S]*?)<\/p>/g)].map(([, line]) =>
      plainOf(line!).trim(),
    ),
    page: plainOf(page),
    figures: plainOf(/<dl class="figures answers">[\s\S]*?<\/dl>/.exec(page)![0]),
  }
}

// 2,000 less 1,404 are left on the 28th; 276 of them are used until 10 December.
test.each([
  ['en', 'Your credits expire Dec 10, 2026 320 of 596 credits probably expire unused on Dec 10 '],
  [
    'de',
    'Ihre Credits verfallen 10. Dez. 2026 320 von 596 Credits verfallen wahrscheinlich ungenutzt am 10. Dez. ',
  ],
  [
    'fr',
    'Vos crédits expirent 10 déc. 2026 320 sur 596 crédits expireront probablement le 10 déc. sans avoir servi ',
  ],
  [
    'es',
    'Sus créditos caducan 10 dic 2026 320 de 596 créditos probablemente caducarán sin usarse el 10 dic ',
  ],
  [
    'ja',
    'クレジットの有効期限 2026年12月10日 596クレジットのうち320は、おそらく未使用のまま12月10日に期限が切れます ',
  ],
])(
  'credits that end by expiring are said to expire, and not to run out, in %s',
  whole,
  async (locale, said) => {
    const grant = '{ name: Pack, credits: 2000, from: 2026-10-01, expires: 2026-12-10 }'
    const { page, figures } = await pageOf(
      events(() => 4),
      `locale: ${locale}, grants: [${grant}]`,
    )
    expect(figures.replace(/3(19|2\d)(\.\d+)?(?= (of|von|sur|de) )|320?(?=は)/, '320')).toContain(
      said,
    )
    expect(page).not.toMatch(/run out|used up Dec|buy more|nachkaufen|rechargez|recargue|追加購入/)
  },
)

test('prepaid money that expires is said to expire', whole, async () => {
  const grant = "{ name: Pack, amount: '2000', unit: EUR, from: 2026-10-01, expires: 2026-12-10 }"
  const { figures } = await pageOf(
    events(() => 4, { unit: 'EUR' }),
    `grants: [${grant}]`,
  )
  expect(figures).toMatch(
    /Your balance expires Dec 10, 2026 €3[12]\d\.\d\d of €596\.00 probably expires unused on Dec 10 /,
  )
})

test.each([
  [
    'en',
    /Your credits last until about Dec \d+, 2026 .* credits left probably between Dec \d+ and Dec \d+ /,
  ],
  ['de', /etwa \d+\. Dez\. 2026 .* wahrscheinlich zwischen dem \d+\. Dez\. und dem \d+\. Dez\. /],
  ['fr', /vers le \d+ déc\. 2026 .* probablement entre le \d+ déc\. et le \d+ déc\. /],
  ['es', /hacia el \d+ dic 2026 .* probablemente entre el \d+ dic y el \d+ dic /],
  ['ja', /2026年12月\d+日ごろ .* おそらく12月\d+日から12月\d+日の間 /],
])('an estimate of the end has the range of its date, in %s', whole, async (locale, said) => {
  const { figures } = await pageOf(
    // Days of 12 to 36 credits.
    events((day) => 2 + ((day * day) % 5)),
    `locale: ${locale}, grants: [{ name: Pack, credits: 1700, from: 2026-10-01 }]`,
  )
  expect(figures).toMatch(said)
})

test('a range whose end is not known is said by its beginning', whole, async () => {
  const { figures, lines } = await pageOf(
    // Days of 0 and 48 credits: one future in ten uses almost nothing.
    events((day) => ((day * day * 7 + day) % 3) * 4),
    'grants: [{ name: Pack, credits: 1400, from: 2026-10-01 }]',
  )
  expect(figures).toContain('464 credits left probably on Dec 13 or later ')
  const [, end] = /Your credits last until (about \w+ \d+, \d+) /.exec(figures)!
  // A phone has it in one line, before the cell.
  expect(lines.at(-1)).toBe(`Your credits last until ${end}`)
})
