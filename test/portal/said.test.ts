import { afterEach, expect, test } from 'vitest'
import { type EventChange, enterEvents, utc } from '../report/usage-events.ts'
import { type Served, served, settingsOf, tokenOf } from './portal.ts'

let service: Served | undefined
afterEach(async () => {
  await service?.close()
  service = undefined
})

type Event = EventChange & { readonly atUs: number }
const textOf = (html: string) =>
  html
    .replace(/<(style|script)\b[\s\S]*?<\/\1>|<[^>]+>/g, ' ')
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replace(/[\s\u202f]+/g, ' ')

async function pageOf(events: readonly Event[], account: string, query = ''): Promise<string> {
  await service?.close()
  const settings = settingsOf(`accounts: { a: { ${account} } }\n`)
  service = await served([], settings, (store) => enterEvents(store, events))
  return (await service.ask(`/page${query}`, await tokenOf('a'))).text()
}

/** Four at six hours of each day from 1 October to noon of 28 November. */
const even = (change: EventChange = {}): readonly Event[] =>
  Array.from({ length: 58 * 6 + 3 }, (_, at) => ({
    atUs: utc(2026, 10, 1, 1) + at * 4 * 3600e6,
    ...{ account: 'a', credits: '4', ...change },
  }))
const whole = { tags: 'whole', timeout: 60_000 }
const held = "budget: '600', grants: [{ name: Pack, credits: 2000, from: 2026-10-01 }]"

test.each([
  [
    'en',
    [
      'Your credits last until about',
      'Key that used most',
      '660 credits · 100.0%',
      'Over budget: 660 of 600 credits this month.',
      '60 credits over the budget',
      'Used since October 1, 2026',
      /used up at \d,\d+: 596 left/,
    ],
  ],
  [
    'de',
    [
      'Ihre Credits reichen bis',
      'Schlüssel mit höchstem Verbrauch',
      '660 Credits · 100,0',
      '60 Credits über dem Budget',
      'Verbraucht seit 1. Oktober 2026',
      /verbraucht bei \d\.\d+: noch 596/,
      'Fehlgeschlagen oder am Limit (%)',
    ],
  ],
  [
    'fr',
    [
      'Fin de vos crédits',
      'Clé au plus gros usage',
      '660 sur 600 crédits ce mois-ci.',
      'dépassé de 60 crédits',
      'Utilisés depuis le 1er octobre 2026',
      'Situation au',
      /épuisés à \d \d+ : 596 restants/,
    ],
  ],
  [
    'es',
    [
      'Fin de sus créditos',
      'Clave con más créditos usados',
      '660 de 600 créditos este mes.',
      '60 créditos por encima del presupuesto',
      'Usados desde el 1 de octubre de 2026',
      /agotados en [\d.]+: quedan 596/,
    ],
  ],
  [
    'ja',
    [
      'クレジットの終わり',
      'クレジットを最も使ったキー',
      '予算を60クレジット超過',
      '2026年10月1日以降の使用',
      /[\d,]+で使い切り：残り596/,
    ],
  ],
] as const)(
  'amounts say their unit, and lines what they are, in %s',
  whole,
  async (locale, said) => {
    const text = textOf(await pageOf(even(), `locale: ${locale}, ${held}`))
    for (const each of said) {
      if (typeof each === 'string') expect(text).toContain(each)
      else expect(text).toMatch(each)
    }
  },
)

test('the end of a range of credits says what it is of', whole, async () => {
  const events = even().map((event, at) => ({ ...event, credits: String(2 + ((at * 7) % 11)) }))
  expect(textOf(await pageOf(events, ''))).toMatch(/likely [\d,]+ to [\d,]+ credits /)
})

test.each([
  ['en', 'Key that cost most', 'after refunds of $1.00'],
  ['de', 'Schlüssel mit höchsten Kosten', 'nach Abzug von 1,00 $'],
  ['fr', 'Clé au plus gros coût', 'après 1,00 $US de remboursements'],
  ['es', 'Clave con mayor coste', 'tras reembolsos de 1,00 US$'],
  ['ja', '料金が最も高いキー', '返金$1.00を差し引いた額'],
])(
  'refunds are said without a sign, and where there are any alone, in %s',
  whole,
  async (...row) => {
    const [locale, ...said] = row
    const refund = { credits: '-1', unit: 'USD', type: 'refund', keyFp: null, model: null } as const
    const events = [
      ...even({ unit: 'EUR' }),
      ...even({ unit: 'USD' }),
      { atUs: utc(2026, 11, 20, 9), account: 'a', endpoint: null, requests: 0, ...refund },
    ]
    const text = textOf(await pageOf(events, `locale: ${locale}`)).replaceAll('\u00a0', ' ')
    for (const each of said) expect(text).toContain(each)
    const legendOf = (page: string) =>
      textOf(/id="board-use"[\s\S]*?<ul class="b-legend">([\s\S]*?)<\/ul>/.exec(page)?.[1] ?? '')
    const refunds = {
      en: 'Refunds',
      de: 'Erstattungen',
      fr: 'Remboursements',
      es: 'Reembolsos',
      ja: '返金',
    }
    const word = refunds[locale as keyof typeof refunds]
    const two = [
      ...events,
      ...even({ unit: 'EUR', model: 'other' }),
      ...even({ unit: 'USD', model: 'other' }),
    ]
    expect(legendOf(await pageOf(two, `locale: ${locale}`, '?unit=USD'))).toContain(word)
    expect(legendOf(await pageOf(two, `locale: ${locale}`, '?unit=EUR'))).not.toContain(word)
  },
)
