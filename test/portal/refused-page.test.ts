import { afterAll, beforeAll, expect, test } from 'vitest'
import { enterEvents, utc } from '../report/usage-events.ts'
import { november, type Served, served, settingsOf, tokenOf } from './portal.ts'

const locales = ['en', 'de', 'fr', 'es', 'ja'] as const

let service: Served
beforeAll(async () => {
  const accounts = locales.map((locale) => `${locale}: { locale: ${locale} }`).join(', ')
  service = await served([], settingsOf(`accounts: { ${accounts} }\n`), (store) =>
    enterEvents(
      store,
      locales.map((account) => ({ account, atUs: utc(2026, 11, 3, 9), model: 'nova' })),
    ),
  )
}, 60_000)
afterAll(() => service.close())

async function pageOf(query: string, account = 'en', claims = {}) {
  const answer = await service.ask(`/page?${query}`, await tokenOf(account, claims))
  const [main = ''] = /<main[\s\S]*<\/main>/.exec(await answer.text()) ?? []
  const text = main
    .replace(/<[^>]+>/g, ' ')
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replace(/[\s\u00a0]+/g, ' ')
    .trim()
  return { answer, main, text }
}

test.each([
  ['en', 'This link asks for something that is not in your usage: nope. Show all usage'],
  [
    'de',
    'Dieser Link fragt nach etwas, das es in Ihrer Nutzung nicht gibt: nope. Die ganze Nutzung zeigen',
  ],
  [
    'fr',
    'Ce lien demande quelque chose qui n’est pas dans votre utilisation : nope. Voir toute l’utilisation',
  ],
  ['es', 'Este enlace pide algo que no está en su uso: nope. Ver todo el uso'],
  ['ja', 'このリンクが指すものはご利用の中にありません：nope すべての利用を表示'],
])('a link to a model that is not there says so and leads back, in %s', async (locale, said) => {
  const { answer, main, text } = await pageOf('model=nope', locale)
  expect(text).toBe(said)
  expect(main).toContain('<a href="?">')
  expect(main).toContain('data-error="no-such-model"')
  expect([answer.status, answer.headers.get('content-type'), answer.headers.get('etag')]).toEqual([
    ...[404, 'text/html; charset=UTF-8', null],
  ])
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
})

test('names of a link are text, and those of keys, tags and units are said too', async () => {
  const { main } = await pageOf(`model=${encodeURIComponent('<b>\u202e')}`)
  expect(main).toContain('&#60;b&#62;\ufffd')
  for (const [query, name] of [
    ['key=gone', 'gone'],
    ['unit=USD', 'USD'],
    ['tag=team:x', 'team:x'],
  ] as const)
    expect((await pageOf(query)).text).toContain(`not in your usage: ${name}.`)
})

test.each([
  ['model=nope&by=key', 'nope'],
  ['model=nova&key=gone&by=model', 'gone'],
  ['model=nova&unit=USD&by=key', 'USD'],
  ['model=nova&by=tag:none', 'none'],
  ['model=nova&tag=team:x&by=tag:team', 'team:x'],
  ['tag=none:x&model=nova', 'none'],
])('a link with %s blames what is gone, and not what is there', async (query, names) => {
  expect((await pageOf(query)).text).toBe(
    `This link asks for something that is not in your usage: ${names}. Show all usage`,
  )
})

test('a link to a table that is not there blames no name', async () => {
  expect((await pageOf('by=model&model=nova&tables=evil')).text).toBe(
    'This link does not fit this page. Show all usage',
  )
})

test.each([
  [
    'metric=evil',
    400,
    'metric has a value that is not known here. Known: credits, requests, tokens, money.',
  ],
  [
    'by=evil',
    400,
    'by has a value that is not known here. Known: model, key, endpoint, and tag:NAME.',
  ],
  ['other=1', 400, 'A parameter is unknown. Known: from, to, model,'],
])(
  'a page with %s is a %i that says what is known, and leads back',
  async (query, status, said) => {
    const { answer, text } = await pageOf(query)
    expect(answer.status).toBe(status)
    expect(text).toContain('This link does not fit this page. ')
    expect(text).toContain(said)
    expect(text).toMatch(/ Show all usage$/)
  },
)

test.each([
  [
    'en',
    'This page cannot show the period of this link. Its start must come before its end, both on a quarter of an hour, at most 20 years apart. Show all usage',
  ],
  [
    'de',
    'Diese Seite kann den Zeitraum dieses Links nicht zeigen. Der Beginn muss vor dem Ende liegen, beide auf einer Viertelstunde, höchstens 20 Jahre auseinander. Die ganze Nutzung zeigen',
  ],
])(
  'a link to a period that ends before it begins says so to a customer, in %s',
  async (locale, said) => {
    for (const query of ['from=2026-11-10&to=2026-11-05', 'from=2026-11-31&to=2026-12-05']) {
      const { answer, main, text } = await pageOf(query, locale)
      expect([answer.status, text]).toEqual([400, said])
      expect(main).toContain('data-error="bad-period"')
    }
  },
)

test('what is wrong with a link is said in English, whatever the language of the page', async () => {
  const { main } = await pageOf('model=nova&model=lux', 'de')
  expect(main).toContain('>Dieser Link passt nicht zu dieser Seite.<')
  expect(main).toContain('<p class="about" lang="en">model may stand once.</p>')
})

test('a link to what a token does not show tells its reader no words for developers', async () => {
  const { answer, text } = await pageOf('model=nova', 'en', { shows: ['credits'] })
  expect([answer.status, text]).toEqual([403, 'This link does not fit this page. Show all usage'])
})

test('every metric and split that the page offers is taken', async () => {
  for (const query of ['metric=tokens', 'metric=money', 'by=endpoint', 'metric=credits&by=key'])
    expect((await pageOf(query)).answer.status).toBe(200)
})

test('a series of an unknown metric is a 400 that names the known ones', async () => {
  const path = `/v1/usage/series?${november}&metric=evil`
  const answer = await service.ask(path, await tokenOf('en'))
  expect([answer.status, await answer.json()]).toEqual([
    400,
    {
      ...{ type: '/problems#bad-parameter', code: 'bad-parameter', status: 400 },
      title: 'metric has a value that is not known here',
      hint: expect.stringMatching(/^Known: credits, cost, requests, /),
    },
  ])
})
