import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Answers } from '../../src/portal/api/shapes.ts'
import { type EventChange, enterEvents, utc } from '../report/usage-events.ts'
import { november, type Served, served, settingsOf, tokenOf } from './portal.ts'

type Event = EventChange & { readonly atUs: number }
const keys = {
  steady: 'aaaaaaaaaaaa',
  fresh: 'bbbbbbbbbbbb',
  again: 'cccccccccccc',
  unsaid: 'dddddddddddd',
  refunded: 'eeeeeeeeeeee',
  late: 'ffffffffffff',
}
/** At noon of a day of September (−29 to 0), October (1 to 31) or November (32 to 59). */
const on = (day: number, key: keyof typeof keys, change: EventChange = {}): Event => ({
  atUs: utc(2026, 10, 1, 11) + (day - 1) * 86_400e6,
  ...{ account: 'a', keyFp: keys[key], credits: '2', ...change },
})
const events: readonly Event[] = [
  on(-29, 'steady'),
  // 10 credits from 1 to 28 October, 4 after that, and 15 in November.
  ...[1, 7, 14, 21, 28].map((day) => on(day, 'steady')),
  ...[29, 30].map((day) => on(day, 'steady')),
  ...[32, 39, 46, 53, 59].map((day) => on(day, 'steady', { credits: '3' })),
  ...[40, 41].map((day) => on(day, 'fresh')),
  ...[-10, 42].map((day) => on(day, 'again')),
  ...[on(5, 'unsaid', { credits: null }), on(43, 'unsaid')],
  ...[on(5, 'refunded', { type: 'refund', requests: 0, credits: '-1' }), on(44, 'refunded')],
  // After the same days of the month before, and before this one.
  ...[on(30, 'late'), on(45, 'late')],
]

let service: Served
beforeAll(async () => {
  const others = ['de', 'fr', 'es', 'ja'].map((locale) => `, ${locale}: { locale: ${locale} }`)
  const settings = settingsOf(`accounts: { a: {}, money: {}${others.join('')} }\n`)
  const keyNames = new Map(Object.entries(keys).map(([name, fp]) => [fp, name] as const))
  service = await served([], { ...settings, keyNames }, (store) =>
    enterEvents(store, [
      ...['a', 'de', 'fr', 'es', 'ja'].flatMap((account) =>
        events.map((each) => ({ ...each, account })),
      ),
      ...[on(-29, 'steady'), on(5, 'steady'), on(40, 'steady'), on(40, 'fresh')].map((each) => ({
        ...{ ...each, account: 'money', unit: 'EUR' },
      })),
    ]),
  )
}, 60_000)
afterAll(() => service.close())

const ask = async (path: string, account = 'a') =>
  (await service.ask(path, await tokenOf(account))).text()
const breakdown = async (query: string, account = 'a') =>
  JSON.parse(await ask(`/v1/usage/breakdown?${query}`, account)) as Answers['breakdown']

test('the API has what each name used in the same days of the month before, and whether it is new', async () => {
  const { rows } = await breakdown(`${november}&by=key`)
  const none = { requests: 0, credits: '0', cost: [] }
  const eur = (value: string) => [{ currency: 'EUR', value }]
  expect(
    Object.fromEntries(rows.map((row) => [row.name, [row.credits, row.previous, row.new]])),
  ).toEqual({
    steady: ['15', { requests: 5, credits: '10', cost: eur('0.125') }, false],
    fresh: ['4', none, true],
    again: ['2', none, false],
    unsaid: ['2', { requests: 1, credits: null, cost: [] }, false],
    refunded: ['2', { requests: 0, credits: '-1', cost: eur('-0.0125') }, true],
    late: ['2', none, false],
  })
  // A day has no name, and before September nothing was measured.
  const days = await breakdown(`${november}&by=day`)
  expect(days.rows.map((row) => [row.previous, row.new])).toContainEqual([null, null])
  const first = await breakdown('from=2026-09-01&to=2026-10-01&by=key&sort=name')
  expect(first.rows.map((row) => [row.name, row.previous, row.new])).toEqual([
    ['steady', null, null],
    ['again', null, null],
  ])
})

test('an account in money has no credits before, not 0 of them', async () => {
  const { rows } = await breakdown(`${november}&by=key`, 'money')
  expect(Object.fromEntries(rows.map((row) => [row.name, row.previous]))).toEqual({
    steady: { requests: 1, credits: null, cost: [{ currency: 'EUR', value: '2' }] },
    fresh: { requests: 0, credits: null, cost: [] },
  })
})

const textOf = (html: string) =>
  html
    .replace(/<(style|script)\b[\s\S]*?<\/\1>|<[^>]+>/g, ' ')
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replace(/[\s\u202f]+/g, ' ')
const keysOf = (page: string) => {
  const section = /id="top-key">([\s\S]*?)<\/section>/.exec(page)![1]!
  const [list, table] = section.split('<details>')
  return { list: textOf(list!).trim(), table: table! }
}

test('the lists and their tables say how much more each name used than in the same days before, or that it is new', {
  tags: 'whole',
}, async () => {
  const { list, table } = keysOf(await ask('/page'))
  // Of a name without a cost in October nothing is said; nor of one that was used before, and not then.
  expect(list).toBe(
    [
      'Keys Change vs. Oct 1 – 28',
      'steady 15 55.6% · +50%',
      'fresh 4 14.8% · new',
      'again 2 7.4%',
      'unsaid 2 7.4%',
      'refunded 2 7.4% · new',
    ].join(' '),
  )
  const cells = [...table.matchAll(/<tr>([\s\S]*?)<\/tr>/g)].map(([, row]) =>
    [...row!.matchAll(/<t[hd][^>]*>([\s\S]*?)<\/t[hd]>/g)]
      .slice(0, 3)
      .map(([, cell]) => textOf(cell!).trim()),
  )
  expect(cells).toEqual([
    ['Key', 'Credits', 'Change'],
    ['steady', '15', '+50%'],
    ['fresh', '4', 'new'],
    ['again', '2', ''],
    ['unsaid', '2', ''],
    ['refunded', '2', 'new'],
    ['late', '2', ''],
    ['Total', '27', ''],
  ])
})

test.each([
  ['a', 'steady 15 credits · 55.6% +50% vs. Oct 1 – 28 ', 'fresh 4 14.8% · new '],
  ['de', 'steady 15 Credits · 55,6 % +50 % gegenüber 1.–28. Okt. ', 'fresh 4 14,8 % · neu '],
  ['fr', 'steady 15 crédits · 55,6 % +50 % vs 1er–28 oct. ', 'fresh 4 14,8 % · nouveau '],
  ['es', 'steady 15 créditos · 55,6 % +50 % vs. 1–28 oct ', 'fresh 4 14,8 % · nuevo '],
  ['ja', 'steady 15クレジット · 55.6% 10/01～10/28 比+50% ', 'fresh 4 14.8% · 新規 '],
])(
  'the first screen says it of the first name, in the words of %s',
  { tags: 'whole' },
  async (account, first, second) => {
    const page = await ask('/page', account)
    expect(textOf(/<dl class="figures answers">[\s\S]*?<\/dl>/.exec(page)![0])).toContain(first)
    expect(keysOf(page).list).toContain(second)
  },
)

test('a period without one before it says no change', { tags: 'whole' }, async () => {
  const { list, table } = keysOf(await ask('/page?from=2026-09-01&to=2026-10-01'))
  expect(list).toBe('Keys steady 2 50.0% again 2 50.0%')
  expect(textOf(table)).not.toContain('Change')
})
