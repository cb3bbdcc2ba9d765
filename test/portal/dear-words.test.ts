import { expect, test } from 'vitest'
import type { DearDay } from '../../src/portal/figures/dear-day.ts'
import { type Used, whyOf } from '../../src/portal/figures/why.ts'
import { endedOn } from '../../src/portal/page/answer.ts'
import { dearWords, priceBeyond } from '../../src/portal/page/dear-words.ts'
import type { PageData } from '../../src/portal/page/page-shape.ts'
import { payAnswers } from '../../src/portal/page/pay-answers.ts'
import { speechOf } from '../../src/portal/page/speech.ts'
import { renderState } from '../../src/portal/page/state-bar.ts'
import { de } from '../../src/portal/page/words/de.ts'
import { en } from '../../src/portal/page/words/en.ts'
import { es } from '../../src/portal/page/words/es.ts'
import { fr } from '../../src/portal/page/words/fr.ts'
import { ja } from '../../src/portal/page/words/ja.ts'
import { utc } from '../report/usage-events.ts'

const zone = { locale: 'en', timezone: 'UTC' }
const speech = speechOf(en, zone)
const key = { of: 'key', name: 'batch', tag: null } as const

/** 18 November, of which a usual day has half. */
function dearOf(cause: Partial<DearDay['cause']>, day: Partial<DearDay> = {}): DearDay {
  const amount = '200'
  return {
    ...{ fromUs: utc(2026, 11, 18), toUs: utc(2026, 11, 19), unit: 'credits', amount },
    ...{ usual: 100, kind: 'weekday' as const, isDearest: true, isKnown: true },
    cause: { amount, names: [], spans: [], none: [], mostly: null, why: [], ...cause },
    request: null,
    ...day,
  }
}
const dataOf = (...dears: readonly DearDay[]) =>
  ({
    ...{
      dears,
      around: dears,
      fromUs: utc(2026, 11, 1),
      dearest: [],
      credits: null,
      notices: [],
      budgets: [],
      unit: 'EUR',
      toUs: utc(2026, 11, 29),
    },
    units: ['EUR', 'credits'].map((unit) => ({ unit, firstUs: null, lastUs: utc(2026, 11, 28) })),
    summary: { refreshedAt: '2026-11-28T12:00:00Z' },
  }) as unknown as PageData
const price = (amount: number) =>
  ({ of: 'price', model: 'nova', now: 2e-5, usual: 1e-5, amount }) as const

test('a dear day of which no cause is known says who it was', () => {
  const page = renderState(dataOf(dearOf({ names: [key] })), speech, null).text
  expect(page).toMatch(/<strong>.*Key “batch”.*<\/strong>/)
})

test('of a day of which nothing is known, no sentence lacks its name or its hours', () => {
  const { why, details, lines } = dearWords(dearOf({}), speech)
  expect([why, details, lines]).toEqual([
    '',
    ['100 credits more than on a usual weekday'],
    ['instead of about 100'],
  ])
})

const hour = (from: number, to: number) => ({
  fromUs: utc(2026, 11, 18, from),
  toUs: utc(2026, 11, 18, to),
})
const plain = (text: string) => text.replace(/[\u00a0\u202f]/g, ' ')

test.each([
  ['en', en, 'Wednesday, Nov 18: 200 credits instead of about 100, mostly 4–6 AM and 6–7 PM.'],
  [
    'en-GB',
    en,
    'Wednesday 18 Nov: 200 credits instead of about 100, mostly 04:00–06:00 and 18:00–19:00.',
  ],
  ['de', de, 'Mittwoch, 18. Nov.: 200 Credits statt etwa 100, vor allem 04–06 Uhr und 18–19 Uhr.'],
  [
    'fr',
    fr,
    'Mercredi 18 nov. : 200 crédits au lieu d’environ 100, surtout 04 h–06 h et 18 h–19 h.',
  ],
  [
    'es',
    es,
    'El miércoles, 18 nov: 200 créditos en lugar de unos 100, sobre todo de 4:00 a 6:00 y de 18:00 a 19:00.',
  ],
  ['ja', ja, '11月18日水曜日：200クレジット（ふだんは約100）、主に4時～6時、18時～19時'],
] as const)('the hours of a dear day stand behind its amount, in %s', (locale, words, said) => {
  const dear = dearOf({ amount: '150', spans: [hour(4, 6), hour(18, 19)] })
  const speechIn = speechOf(words, { ...zone, locale })
  const { headline } = dearWords(dear, speechIn)
  expect(plain(headline)).toContain(said)
  const page = renderState(dataOf(dear), speechIn, null).text
  const [, bold] = /<b>(.*?)<\/b>/.exec(page)!
  const [toAmount] = /^.*200 ?(?:credits|crédits|créditos|クレジット)/i.exec(said)!
  // After other words, it has no capital.
  expect(plain(bold!.replace(/<[^>]*>/g, '')).toLowerCase()).toBe(toAmount.toLowerCase())
})

test.each([
  [11, 13, 'UTC', '11 AM–1 PM'],
  [22, 24, 'UTC', '10 PM–12 AM'],
  [4, 6, 'Asia/Kolkata', '9:30–11:30 AM'],
  [18, 19, 'Asia/Kolkata', '11:30 PM–12:30 AM'],
])('hours %i to %i in %s are written %s', (from, to, timezone, said) => {
  const { fromUs, toUs } = hour(from, to)
  expect(plain(speechOf(en, { locale: 'en', timezone }).hours(fromUs, toUs))).toBe(said)
})

test.each([
  ['200', 'all of it 9–11 AM'],
  ['199.9', 'all of it 9–11 AM'],
  ['199.8', 'mostly 9–11 AM'],
  ['100', 'mostly 9–11 AM'],
  ['99', 'partly 9–11 AM'],
])('of hours with %s of 200, the day says: %s', (amount, said) => {
  const { headline } = dearWords(dearOf({ amount, spans: [hour(9, 11)] }), speech)
  expect(plain(headline)).toContain(` instead of about 100, ${said}.`)
})

test('a number of requests says how many hours it is of, and the words beside a bar have who it was and the hours', () => {
  const requests = { of: 'requests', now: 57.2, usual: 9.9, amount: 90 } as const
  const of = { names: [key], spans: [hour(4, 6)], why: [requests] }
  const { why, details, lines } = dearWords(dearOf(of), speech)
  expect([why, details[0]].map((each) => plain(each!))).toEqual([
    '5.7× requests in 2 hours (key “batch”)',
    '57 requests in these hours instead of about 10',
  ])
  const rest = ['4–6 AM', '57 requests instead of about 10']
  expect(lines.map(plain)).toEqual(['5.7× requests', 'key “batch”', ...rest])
  expect(
    dearWords(dearOf({ ...of, names: [] }), speech)
      .lines.slice(1)
      .map(plain),
  ).toEqual(rest)
  const none = dearWords(dearOf({ ...of, why: [{ ...requests, usual: 0 }] }), speech)
  expect([none.why, none.details[0]].map((each) => plain(each!))).toEqual([
    '57 requests in 2 hours (key “batch”)',
    'usually no requests',
  ])
  const few = dearWords(dearOf({ ...of, why: [{ ...requests, now: 2, usual: 1.5 }] }), speech)
  expect([few.why, few.details[0]].map((each) => plain(each!))).toEqual([
    '1.3× requests in 2 hours (key “batch”)',
    '2 requests in these hours instead of about 1.5',
  ])
  const whole = dearWords(dearOf({ ...of, spans: [] }), speech)
  expect([whole.why, whole.details[0]].map((each) => plain(each!))).toEqual([
    '5.7× requests (key “batch”)',
    '57 requests instead of about 10',
  ])
})

test.each([
  [
    ...['en', en, '5.7× requests, also price of nova 2× (key “batch”)'],
    '57 requests instead of about 10; nova: 20 instead of 10 credits for a million tokens',
  ],
  [
    ...['de', de, '5,7-mal so viele Anfragen, dazu Preis von nova 2-fach (Schlüssel „batch“)'],
    '57 Anfragen statt etwa 10; nova: 20 statt 10 Credits für eine Million Tokens',
  ],
  [
    ...['fr', fr, 'Requêtes ×5,7 et prix de nova ×2 (clé « batch »)'],
    '57 requêtes au lieu d’environ 10 ; nova : 20 au lieu de 10 crédits le million de jetons',
  ],
  [
    ...['es', es, 'Solicitudes ×5,7 y precio de nova ×2 (clave «batch»)'],
    '57 solicitudes en lugar de unas 10; nova: 20 en lugar de 10 créditos por un millón de tokens',
  ],
  [
    ...['ja', ja, 'リクエスト数がふだんの5.7倍、さらにnovaの単価がふだんの2倍（キー「batch」）'],
    'リクエスト57件、ふだんは約10件；nova：100万トークンあたり20、ふだんは10クレジット',
  ],
] as const)(
  'two causes are one bold line, and their figures are in the small print, in %s',
  (locale, words, text, figures) => {
    const requests = { of: 'requests', now: 57, usual: 10, amount: 90 } as const
    const dear = dearOf({ names: [key], why: [requests, price(80)] })
    const speechIn = speechOf(words, { ...zone, locale })
    const { why, details, lines, unexplained } = dearWords(dear, speechIn)
    expect([why, details[0]!].map(plain)).toEqual([text, figures])
    const page = renderState(dataOf(dear), speechIn, null).text
    expect(plain(page.replace(/<span class="unbroken">(.*?)<\/span>/g, '$1'))).toContain(
      `<strong>${text}</strong>`,
    )
    expect(plain(page)).toContain(`<small>${figures}</small>`)
    const short = plain(words['why.price.model']).replace('{model}', 'nova').replace('{times}', '2')
    expect([unexplained, plain(lines[2]!)]).toEqual([words['why.unknown'], short])
  },
)

const twice = { of: 'requests', now: 17, usual: 8, amount: 90 } as const

test.each([
  [
    ...['en', en, '2.1× requests, from several keys'],
    ...['2.1× requests in 2 hours, from several keys'],
    '2.1× requests, spread over the day (key “batch”)',
  ],
  [
    ...['de', de, '2,1-mal so viele Anfragen, von mehreren Schlüsseln'],
    '2,1-mal so viele Anfragen in 2 Stunden, von mehreren Schlüsseln',
    '2,1-mal so viele Anfragen, über den Tag verteilt (Schlüssel „batch“)',
  ],
  [
    ...['fr', fr, 'Requêtes ×2,1, de plusieurs clés'],
    ...['Requêtes ×2,1 en 2 heures, de plusieurs clés'],
    'Requêtes ×2,1, sur toute la journée (clé « batch »)',
  ],
  [
    ...['es', es, 'Solicitudes ×2,1, de varias claves'],
    'Solicitudes ×2,1 en 2 horas, de varias claves',
    'Solicitudes ×2,1, a lo largo del día (clave «batch»)',
  ],
  [
    ...['ja', ja, 'リクエスト数がふだんの2.1倍、複数のキーから'],
    '2時間でリクエスト数がふだんの2.1倍、複数のキーから',
    'リクエスト数がふだんの2.1倍、一日全体に分散（キー「batch」）',
  ],
] as const)(
  'a day of which no key or no hour stands out says so behind its causes, in %s',
  (locale, words, none, noKey, noHour) => {
    const speechIn = speechOf(words, { ...zone, locale })
    const whyOfDay = (cause: Partial<DearDay['cause']>) =>
      plain(dearWords(dearOf({ why: [twice], ...cause }), speechIn).why)
    expect(whyOfDay({ none: ['key', 'hour'] })).toBe(none)
    expect(whyOfDay({ none: ['key'], spans: [hour(4, 6)] })).toBe(noKey)
    expect(whyOfDay({ names: [key], none: ['hour'] })).toBe(noHour)
    // Beside the bar stands what is known alone.
    const { lines } = dearWords(dearOf({ none: ['key', 'hour'], why: [twice] }), speechIn)
    expect(lines).toHaveLength(2)
  },
)

test.each([
  ['en', en, '2.1× requests, mostly from key “batch”'],
  ['de', de, '2,1-mal so viele Anfragen, vor allem von Schlüssel „batch“'],
  ['fr', fr, 'Requêtes ×2,1, surtout de la clé « batch »'],
  ['es', es, 'Solicitudes ×2,1, sobre todo de la clave «batch»'],
  ['ja', ja, 'リクエスト数がふだんの2.1倍、主にキー「batch」から'],
] as const)(
  'the key that most of a day is of, as usual, is said before its hours, in %s',
  (locale, words, said) => {
    const dear = dearOf({ mostly: key, none: ['hour'], why: [twice] })
    expect(plain(dearWords(dear, speechOf(words, { ...zone, locale })).why)).toBe(said)
  },
)

test('of a day with nothing known, that no key or hour stands out is the reason', () => {
  expect(dearWords(dearOf({ none: ['key', 'hour'] }), speech).why).toBe(
    'No single key or hour stands out',
  )
  const team = { of: 'tag', name: 'chat', tag: 'team' } as const
  // A team is somebody.
  expect(dearWords(dearOf({ names: [team], none: ['key'] }), speech).why).not.toContain('key')
})

test.each([
  [
    ...['en', en, 'More expensive model: nova-large (key “batch”)'],
    'nova-large instead of nova-mini',
  ],
  ['de', de, 'Teureres Modell: nova-large (Schlüssel „batch“)', 'nova-large statt nova-mini'],
  ['fr', fr, 'Modèle plus cher : nova-large (clé « batch »)', 'nova-large au lieu de nova-mini'],
  ['es', es, 'Modelo más caro: nova-large (clave «batch»)', 'nova-large en lugar de nova-mini'],
  ['ja', ja, 'より高いモデル：nova-large（キー「batch」）', 'nova-large（ふだんはnova-mini）'],
] as const)(
  'a dearer model is said to be one, and what was used before is a figure, in %s',
  (locale, words, said, figures) => {
    const speechIn = speechOf(words, { ...zone, locale })
    const model = { of: 'model', model: 'nova-large', instead: 'nova-mini', amount: 60 } as const
    const wordsOf = (of: { instead?: null }) =>
      dearWords(dearOf({ names: [key], why: [{ ...model, ...of }] }), speechIn)
    expect([wordsOf({}).why, wordsOf({}).details[0]!].map(plain)).toEqual([said, figures])
    // Nothing else was used before: its name stands once.
    const alone = wordsOf({ instead: null })
    expect(plain(alone.why)).toBe(said)
    expect(alone.details).toHaveLength(2)
    expect(alone.details.join()).not.toContain('nova-large')
  },
)

test.each([
  [
    ...['en', en, 'Price of nova-large 2.1× (key “batch”)', 'nova-large instead of nova-mini'],
    'Price of nova-large 2.1×, also more expensive model (key “batch”)',
    'More expensive model, also price of nova-large 2.1× (key “batch”)',
    ...['Price of nova-large 2.1×, also 5.7× requests (key “batch”)', 'Price of nova-large 2.1×'],
  ],
  [
    ...['de', de, 'Preis von nova-large 2,1-fach (Schlüssel „batch“)'],
    'nova-large statt nova-mini',
    'Preis von nova-large 2,1-fach, dazu teureres Modell (Schlüssel „batch“)',
    'Teureres Modell, dazu Preis von nova-large 2,1-fach (Schlüssel „batch“)',
    'Preis von nova-large 2,1-fach, dazu 5,7-mal so viele Anfragen (Schlüssel „batch“)',
    'Preis von nova-large 2,1-fach',
  ],
  [
    ...['fr', fr, 'Prix de nova-large ×2,1 (clé « batch »)', 'nova-large au lieu de nova-mini'],
    'Prix de nova-large ×2,1 et modèle plus cher (clé « batch »)',
    'Modèle plus cher et prix de nova-large ×2,1 (clé « batch »)',
    ...['Prix de nova-large ×2,1 et requêtes ×5,7 (clé « batch »)', 'Prix de nova-large ×2,1'],
  ],
  [
    ...['es', es, 'Precio de nova-large ×2,1 (clave «batch»)', 'nova-large en lugar de nova-mini'],
    'Precio de nova-large ×2,1 y modelo más caro (clave «batch»)',
    'Modelo más caro y precio de nova-large ×2,1 (clave «batch»)',
    'Precio de nova-large ×2,1 y solicitudes ×5,7 (clave «batch»)',
    'Precio de nova-large ×2,1',
  ],
  [
    ...['ja', ja, 'nova-largeの単価がふだんの2.1倍（キー「batch」）'],
    'nova-large（ふだんはnova-mini）',
    'nova-largeの単価がふだんの2.1倍、さらにより高いモデル（キー「batch」）',
    'より高いモデル、さらにnova-largeの単価がふだんの2.1倍（キー「batch」）',
    'nova-largeの単価がふだんの2.1倍、さらにリクエスト数がふだんの5.7倍（キー「batch」）',
    'nova-largeの単価がふだんの2.1倍',
  ],
] as const)(
  'a price that nothing explains says whose it is and how many times the usual one, in %s',
  (locale, words, said, instead, withModel, afterModel, withRequests, short) => {
    const speechIn = speechOf(words, { ...zone, locale })
    const dearer = { ...price(60), model: 'nova-large', now: 2.1e-5 }
    const model = { of: 'model', model: 'nova-large', instead: 'nova-mini', amount: 40 } as const
    const wordsOf = (...why: DearDay['cause']['why']) =>
      dearWords(dearOf({ names: [key], why }), speechIn)
    const whyIn = (...why: DearDay['cause']['why']) => plain(wordsOf(...why).why)
    expect(whyIn(dearer)).toBe(said)
    // A model that is dearer by itself, too, has its name once.
    expect(whyIn({ ...dearer, amount: 59 }, model)).toBe(withModel)
    expect(whyIn({ ...model, amount: 70 }, dearer)).toBe(afterModel)
    for (const both of [
      [dearer, model],
      [{ ...model, amount: 70 }, dearer],
    ])
      expect(plain(wordsOf(...both).details[0]!)).toContain(instead)
    const requests = { of: 'requests', now: 57, usual: 10, amount: 40 } as const
    expect(whyIn({ ...dearer, amount: 45 }, requests)).toBe(withRequests)
    // A name has no capital of its own, in the sentence and beside the bar.
    const alone = dearWords(dearOf({ why: [dearer] }), speechIn)
    expect(alone.why).not.toContain('Nova-large')
    expect(plain(alone.lines[0]!)).toBe(short)
  },
)

test('a price of a model that the token does not show has no name, and its figures follow', () => {
  const { why, details } = dearWords(dearOf({ why: [{ ...price(60), model: null }] }), speech)
  expect([why, details[0]!]).toEqual([
    'Price 2× the usual one',
    '20 instead of 10 credits for a million tokens',
  ])
  const request = { of: 'request', model: 'nova', now: 3, usual: 1, amount: 60 } as const
  const whyOfDay = (part: typeof request | { model: null }) =>
    dearWords(dearOf({ why: [{ ...request, ...part }] }), speech).why
  expect(whyOfDay(request)).toBe('A request to nova cost 3× as much')
  expect(whyOfDay({ model: null })).toBe('A request cost 3× as much')
})

test.each([
  [59, 'More expensive model: nova-large, also 5.7× requests'],
  [60, 'More expensive model: nova-large'],
])('a cause of %s of 100 beyond a usual day and the next one: %s', (amount, said) => {
  const model = { of: 'model', model: 'nova-large', instead: 'nova-mini', amount } as const
  const requests = { of: 'requests', now: 57, usual: 10, amount: 45 } as const
  const { why, details } = dearWords(dearOf({ why: [model, requests] }), speech)
  // What is left out is in the figures, and so it is in the sum.
  expect([why, details[0]]).toEqual([
    said,
    'nova-large instead of nova-mini; 57 requests instead of about 10',
  ])
  expect(details.at(-1)).toContain('more requests\u00a0+45')
  // What nothing explains is never left out.
  expect(dearWords(dearOf({ why: [model, price(45)] }), speech).why).toBe(
    'More expensive model: nova-large, also price of nova 2×',
  )
})

const single = { atUs: utc(2026, 11, 18, 16, 23), amount: '160' }

test.each([
  ['en', en, 'A single request of 160 credits at 4:23 PM (key “batch”)', 'A single request'],
  [
    'de',
    de,
    'Eine einzige Anfrage mit 160 Credits um 16:23 (Schlüssel „batch“)',
    'Eine einzige Anfrage',
  ],
  ['fr', fr, 'Une seule requête de 160 crédits à 16:23 (clé « batch »)', 'Une seule requête'],
  [
    'es',
    es,
    'Una sola solicitud de 160 créditos a las 16:23 (clave «batch»)',
    'Una sola solicitud',
  ],
  ['ja', ja, '16:23のリクエスト1件で160クレジット（キー「batch」）', 'リクエスト1件'],
] as const)(
  'a single request that is most of a day is the reason, with a link to its hour, in %s',
  (locale, words, said, short) => {
    const speechIn = speechOf(words, { ...zone, locale })
    const dear = dearOf(
      { names: [key], spans: [hour(16, 17)], why: [price(90)] },
      { request: single },
    )
    const { why, lines, headline, unexplained, details } = dearWords(dear, speechIn)
    expect([why, lines[0]].map((each) => plain(each!))).toEqual([said, short])
    expect(lines).toHaveLength(3)
    // Its time says the hours; its price is among the figures.
    expect(plain(headline)).not.toMatch(/4|16/)
    expect([unexplained, details.length]).toEqual([words['why.unknown'], 3])
    const page = renderState(dataOf(dear), speechIn, null).text
    expect(page).toContain(
      'href="?from=2026-11-18T16%3A00&#38;to=2026-11-18T17%3A00&#38;unit=credits"',
    )
    expect(page).toContain(`>${words['state.show']}</a>`)
  },
)

test('what is to press stands behind the figures', () => {
  const contact = { support: 'mailto:help@example.com', product: 'API', label: 'A' }
  const page = renderState(dataOf(dearOf({ why: [price(60)] })), speech, contact).text
  const places = [
    'Price of',
    'for a million tokens',
    'more than on a usual',
    'is not known',
    'mailto:',
  ].map((said) => page.indexOf(said))
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  expect(places).not.toContain(-1)
})

test.each([
  [1.19, 'More expensive model: nova-large'],
  [1.2, 'More expensive model: nova-large, also 1.2× requests'],
])('requests that are %s times the usual ones beside another cause: %s', (times, said) => {
  const model = { of: 'model', model: 'nova-large', instead: 'nova-mini', amount: 49 } as const
  const requests = { of: 'requests', now: 100 * times, usual: 100, amount: 30 } as const
  const { why, details } = dearWords(dearOf({ why: [model, requests] }), speech)
  expect(why).toBe(said)
  // The sum has all of them.
  expect(details.at(-1)).toContain('more requests\u00a0+30')
  // Alone, they are what is known.
  expect(dearWords(dearOf({ why: [requests] }), speech).why).toBe(`${times}× requests`)
})

test.each([
  [
    'en',
    en,
    'Most expensive day:',
    'Most expensive day (EUR):',
    'Most used on',
    'Unusual:',
    'Also unusual:',
    'Highest known amount:',
  ],
  [
    'de',
    de,
    'Teuerster Tag:',
    'Teuerster Tag (EUR):',
    'Höchster Verbrauch:',
    'Ungewöhnlich:',
    'Auch ungewöhnlich:',
    'Höchster bekannter Betrag:',
  ],
  [
    'fr',
    fr,
    'Pic de coût :',
    'Pic de coût (EUR) :',
    'Pic d’usage :',
    'Inhabituel :',
    'Aussi inhabituel :',
    'Montant connu le plus élevé :',
  ],
  [
    'es',
    es,
    'Día más caro:',
    'Día más caro (EUR):',
    'Mayor uso:',
    'Inusual:',
    'También inusual:',
    'Mayor importe conocido:',
  ],
  [
    'ja',
    ja,
    '料金が最も高い日：',
    '料金が最も高い日（EUR）：',
    '最も使った日：',
    'いつもより多い日：',
    'ほかにいつもより多い日：',
    'わかっている中で最も多い日：',
  ],
] as const)(
  'a dear day is called the dearest, in its currency, only if it is known to be, in %s',
  (locale, words, dearest, inUnit, credits, unusual, also, known) => {
    const speechIn = speechOf(words, { ...zone, locale })
    const saidOf = (units: readonly string[], ...dears: readonly DearDay[]) => {
      const data = { ...dataOf(...dears), units: units.map((unit) => ({ unit })) }
      const page = renderState(data as unknown as PageData, speechIn, null).text
      return [...page.matchAll(/!<\/b> ([^<]*) <b>/g)].map(([, label]) => plain(label!))
    }
    const euros = { unit: 'EUR', amount: '20', usual: 10 }
    const later = { fromUs: utc(2026, 11, 20), isDearest: false }
    expect(saidOf(['EUR'], dearOf({}, euros))).toEqual([dearest])
    expect(saidOf(['EUR', 'USD'], dearOf({}, euros), dearOf({}, { ...euros, ...later }))).toEqual([
      ...[inUnit, also],
    ])
    expect(saidOf(['credits'], dearOf({}))).toEqual([credits])
    expect(saidOf(['EUR'], dearOf({}, { ...euros, isDearest: false }))).toEqual([unusual])
    expect(saidOf(['EUR'], dearOf({}, { ...euros, isKnown: false }))).toEqual([known])
  },
)

test('the sum is of the whole day, and what is not of the causes is everything else', () => {
  const { details } = dearWords(dearOf({ why: [price(120)] }), speech)
  expect(details.slice(1)).toEqual([
    '100 credits more than on a usual weekday: unusual price\u00a0+120 and everything else\u00a0−20',
  ])
})

test.each([
  [
    ...['en', en],
    '€31.75 more than on a usual weekday: more tokens per request +€20.90, more expensive model +€9.62, more requests +€4.37, lower price per token −€4.38, and everything else +€1.24',
  ],
  [
    ...['de', de],
    '31,75 € mehr als an einem üblichen Arbeitstag: mehr Tokens je Anfrage +20,90 €, teureres Modell +9,62 €, mehr Anfragen +4,37 €, niedrigerer Preis je Token −4,38 € und alles andere +1,24 €',
  ],
  [
    ...['fr', fr],
    '31,75 € de plus qu’un jour ouvré habituel : davantage de jetons par requête +20,90 €, modèle plus cher +9,62 €, davantage de requêtes +4,37 €, prix par jeton plus bas −4,38 € et tout le reste +1,24 €',
  ],
  [
    ...['es', es],
    '31,75 € más que en un día entre semana habitual: más tokens por solicitud +20,90 €, modelo más caro +9,62 €, más solicitudes +4,37 €, precio por token más bajo −4,38 € y todo lo demás +1,24 €',
  ],
  [
    ...['ja', ja],
    'ふだんの平日より€31.75多い：1件のトークンの増加 +€20.90、より高いモデル +€9.62、リクエストの増加 +€4.37、単価の低下 −€4.38、その他すべて +€1.24',
  ],
] as const)(
  'the causes of a day are never more than its requests cost: what these have less is said, in %s',
  (locale, words, said) => {
    const dear = dearOf(
      {
        amount: '33.98',
        names: [key],
        why: [
          { of: 'tokens', now: 7740, usual: 1460, mostly: 'input', amount: 20.9 },
          { of: 'model', model: 'text-large', instead: 'text-small', amount: 9.62 },
          { of: 'requests', now: 37, usual: 3.8, amount: 4.37 },
          { ...price(-4.38), usual: 2.1e-5 },
        ],
      },
      { unit: 'EUR', amount: '41.85', usual: 10.1 },
    )
    const { details } = dearWords(dear, speechOf(words, { ...zone, locale }))
    expect(plain(details.at(-1)!)).toBe(said)
  },
)

test.each([
  [-9.9, 'more requests\u00a0+60 and everything else\u00a0+40'],
  [-10, 'more requests\u00a0+60, lower price per token\u00a0−10, and everything else\u00a0+50'],
])('what is less by under a tenth is everything else: %s of 100', (less, parts) => {
  const requests = { of: 'requests', now: 20, usual: 10, amount: 60 } as const
  const { details } = dearWords(dearOf({ why: [requests, price(less)] }), speech)
  expect(details.at(-1)).toBe(`100 credits more than on a usual weekday: ${parts}`)
})

test('a name that is also a word of the reason moves no figure of it', () => {
  const tokens = { of: 'tokens', now: 500, usual: 100, amount: 60, mostly: null } as const
  const name = 'İ 5× tokens per request'
  const dear = dearOf({ names: [{ ...key, name }], why: [tokens, price(40)] })
  const { why, details } = dearWords(dear, speech)
  expect([why, details[0]]).toEqual([
    `5× tokens per request, also price of nova 2× (key “${name}”)`,
    '500 tokens per request instead of 100; nova: 20 instead of 10 credits for a million tokens',
  ])
})

test.each([
  [
    'JPY',
    '200',
    100,
    [33.33, 33.33, 33.33],
    '¥100 more than on a usual weekday: ',
    ['¥34', '¥33', '¥33'],
  ],
  [
    'EUR',
    '1.00',
    0.5,
    [0.166, 0.167, 0.167],
    '€0.50 more than on a usual weekday: ',
    ['€0.16', '€0.17', '€0.17'],
  ],
] as const)(
  'the parts of a day in %s add up as they are written',
  (unit, amount, usual, parts, sum, written) => {
    const why = (['requests', 'tokens', 'price'] as const).map((of, at) => ({
      ...{ of, now: 2, usual: 1, amount: parts[at]!, mostly: null, model: null },
    })) as unknown as DearDay['cause']['why']
    const said = dearWords(dearOf({ why }, { unit, amount, usual }), speech).details.at(-1)
    expect(said).toContain(sum)
    expect([...said!.matchAll(/\+([¥€][\d.]+)/g)].map(([, part]) => part)).toEqual(written)
  },
)

test('what was charged without tokens is compared by requests', () => {
  const use = (model: string, requests: number, tokens: number, amount: number): Used => ({
    ...{ model, requests, tokens, amount, output: 0, cached: 0 },
  })
  const parts = whyOf(
    [use('nova', 10, 0, 50), use('lyra', 10, 1000, 10)],
    [use('nova', 10, 1000, 10), use('lyra', 10, 1000, 10)],
    20,
  )
  expect(parts.find(({ of }) => of === 'request')).toMatchObject({
    ...{ model: 'nova', now: 5, usual: 1 },
  })
  expect(JSON.stringify(parts)).not.toContain('null,"usual"')
})

test.each<readonly [what: string, own: Partial<Used>, usual: Partial<Used>, of: string]>([
  ['cached tokens of the day', { cached: null }, { cached: 600 }, 'price'],
  ['cached tokens of usual days', { cached: 0 }, { cached: null }, 'price'],
  ['output of the day', { output: null, amount: 5 }, { output: 300 }, 'price'],
  ['output of usual days', { output: 300 }, { output: null }, 'price'],
  ['neither', { cached: 0 }, { cached: 600 }, 'cache'],
])('a share of tokens that is unknown is no other share: %s', (_, own, usual, of) => {
  const used = (change: Partial<Used>): Used => ({
    ...{ model: 'nova', requests: 100, tokens: 1000, output: 0, cached: 0, amount: 10 },
    ...change,
  })
  const parts = whyOf([used({ amount: 20, ...own })], [used(usual)], 100)
  expect(parts.map((part) => part.of).toSorted()).toEqual(
    ['model', of, 'requests', 'tokens'].toSorted(),
  )
})

test('an amount in question that is small is not shown as 0', () => {
  expect(priceBeyond(dearOf({ why: [price(0.4)] }))).toBe('0.4')
})

test('an amount in question is that of the days of the month alone, of all of them', () => {
  const money = { unit: 'EUR' }
  const [october, early, late] = [
    dearOf({ why: [price(90)] }, { ...money, fromUs: utc(2026, 10, 12) }),
    dearOf({ why: [price(10)] }, money),
    dearOf({ why: [price(20.5)] }, { ...money, fromUs: utc(2026, 11, 20) }),
  ]
  const course = { fromUs: utc(2026, 11, 1), toUs: utc(2026, 12, 1), used: 60 }
  const projections = new Map([['EUR', { ...course, low: 65, median: 70, high: 75 }]])
  const underIn = (speechIn: typeof speech, ...dears: readonly DearDay[]) =>
    payAnswers({ ...dataOf(...dears), projections }, speechIn)[0]!
      .under.map((each) => (typeof each === 'object' ? each.text : each))
      .join(' ')
      .replace(/[\u00a0\u202f]/g, ' ')
  expect(underIn(speech, october!)).not.toContain('explain')
  const said = underIn(speech, october!, early!, late!)
  expect(said).toContain('>€30.50 above usual price<')
  // One amount is to pay: no other one stands beside it.
  expect(said).not.toContain('without')
  for (const [locale, words, part] of [
    ['de', de, '30,50 € über üblichem Preis'],
    ['fr', fr, '30,50 € au-dessus du prix habituel'],
    ['es', es, '30,50 € sobre el precio habitual'],
    ['ja', ja, 'ふだんの単価より€30.50多い'],
  ] as const)
    expect(underIn(speechOf(words, { ...zone, locale }), early!, late!)).toContain(part)
})

test('a mail about a day is never cut within a character', () => {
  const names = [{ ...key, name: '夜間の要約'.repeat(12) }]
  const contact = { support: 'mailto:help@example.com', product: 'API \ud800', label: '北' }
  const page = renderState(
    dataOf(dearOf({ names, why: [price(60)] })),
    speechOf(ja, { ...zone, locale: 'ja' }),
    contact,
  ).text
  const [, href] = /href="(mailto:[^"]*)"/.exec(page)!
  expect(href!.length).toBeLessThanOrEqual(2_000)
  expect(decodeURIComponent(href!)).toContain('11月18日')
})

test('the day of the last use in a unit is no day without use', () => {
  const [lastUs, toUs] = [utc(2026, 11, 14, 9), utc(2026, 11, 27)]
  const units = [{ unit: 'USD', lastUs } as const, { unit: 'EUR', lastUs: toUs } as const]
  const speechIn = speechOf(ja, { ...zone, locale: 'ja' })
  expect(endedOn('USD', { units, toUs } as never as PageData, speechIn)).toBe(
    '11月14日より後の利用なし',
  )
})
