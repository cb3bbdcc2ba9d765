import { afterEach, expect, test } from 'vitest'
import { fr } from '../../src/portal/page/words/fr.ts'
import { initial } from '../../src/report/usage/board/choice.js'
import type { BoardData } from '../../src/report/usage/board/data.ts'
import { amountOf, mostOf } from '../../src/report/usage/board/tables.js'
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
    .replaceAll(' ,', ',')

async function pageOf(events: readonly Event[], more: string, query = ''): Promise<string> {
  await service?.close()
  service = await served([], settingsOf(more), (store) => enterEvents(store, events))
  const answer = await service.ask(`/page${query}`, await tokenOf('a'))
  expect(answer.status).toBe(200)
  return answer.text()
}
const stateOf = (page: string) => textOf(/<section class="state[\s\S]*?<\/section>/.exec(page)![0])
const figuresOf = (page: string) =>
  textOf(/<dl class="figures answers">[\s\S]*?<\/dl>/.exec(page)![0])

/** Four credits at six hours of each day from 1 October to noon of 28 November. */
const even = (change: EventChange = {}): readonly Event[] =>
  Array.from({ length: 58 * 6 + 3 }, (_, at) => ({
    atUs: utc(2026, 10, 1, 1) + at * 4 * 3600e6,
    ...{ account: 'a', credits: '4', ...change },
  }))

interface Outlook {
  readonly points: readonly { readonly hour: number; readonly median: number }[]
  readonly budget: { readonly amount: number; readonly hour: number } | null
  readonly runsOut: { readonly hour: number } | null
}
const boardOf = (page: string) =>
  JSON.parse(/id="board-data">([^<]*)</.exec(page)![1]!) as {
    readonly from: number
    readonly to: number
    readonly outlook: Outlook | null
    readonly marks: readonly { readonly text: string }[]
  }
const hourOf = (date: string) => Date.parse(`${date}T00:00Z`) / 3_600_000

test('the line of a budget ends where it begins anew, and the run-out date is marked where the forecast meets what is held', {
  tags: 'whole',
}, async () => {
  const page = await pageOf(
    even(),
    "accounts: { a: { budget: '900', grants: [{ name: Pack, credits: 2000 }] } }\n",
  )
  const { from, outlook } = boardOf(page)
  expect(outlook!.budget).toEqual({ amount: 900, hour: hourOf('2026-12-01') })
  const end = outlook!.points.at(-1)!.hour
  expect(end).toBeGreaterThan(hourOf('2026-12-10'))
  // The drawing is 1000 wide, and 52 of them are for the axis.
  const x = (hour: number) => Math.round((52 + ((hour - from) / (end - from)) * 948) * 10) / 10
  const chart = /id="board-cumulative"[\s\S]*?<div class="on-desk">([\s\S]*?)<\/svg>/.exec(
    page,
  )![1]!
  expect(/b-budget" d="M52 [\d.]+H([\d.]+)"/.exec(chart)![1]).toBe(String(x(hourOf('2026-12-01'))))
  expect(/b-reset" d="M([\d.]+) /.exec(chart)![1]).toBe(String(x(hourOf('2026-12-01'))))
  expect(textOf(chart)).toContain('budget: 900, resets Dec 1')
  // 2,000 credits, of which 58.5 days of 24 are used: the rest lasts for 24.8 days, to 23 December.
  expect(textOf(chart)).toMatch(/used up at 1,256: 59\d left/)
  expect(textOf(chart)).toMatch(/probably used up Dec 2[23]/)
  expect(/b-out" d="M([\d.]+) /.exec(chart)![1]).toBe(String(x(outlook!.runsOut!.hour)))
  expect(textOf(page)).toContain(
    ' used forecast usual range of the forecast end of your credits budget ',
  )
})

test.each([
  ['en', 'credits', '4', '60 credits · 100.0%', '1 credit'],
  ['de', 'credits', '4', '60 Credits · 100,0 %', '1 Credit'],
  ['ja', 'credits', '4', '60クレジット · 100.0%', '1クレジット'],
  ['en', 'EUR', '4', '€60.00 · 100.0%', '€1.00'],
  ['en', 'credits', null, '15 requests · 100.0%', '1 request'],
] as const)(
  'a name that a filter leaves keeps the unit of its amount, in %s with %s of %s',
  { tags: 'whole' },
  async (locale, unit, credits, said, one) => {
    const rare = even({ unit, credits }).map((event, at) => ({
      ...event,
      model: at > 347 ? 'rare' : 'usual',
    }))
    const page = await pageOf(
      [
        ...rare,
        ...rare.filter(({ model }) => model === 'rare').flatMap((each) => [each, each, each, each]),
      ],
      `accounts: { a: { locale: ${locale} } }\n`,
    )
    const board = boardOf(page) as unknown as BoardData
    const choice = { ...initial(board), model: 'rare' }
    const [, [amount] = []] = mostOf(board, choice, 'key')
    expect(amount!.replace(/\s/g, ' ')).toBe(said)
    const metric = credits === null ? 'requests' : 'credits'
    expect(amountOf(board, metric, 1).replace(/\s/g, ' ')).toBe(one)
  },
)

test('an account that has credits is told that nothing is to pay, and no other account is', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const said = 'To pay for November nothing covered by your credits'
  const held = (credits: number) =>
    `accounts: { a: { grants: [{ name: Pack, credits: ${credits} }] } }\n`
  // Of 2,000 credits, 351 requests of 4 are used.
  const page = await pageOf(even(), held(2000))
  expect(figuresOf(page)).toContain(`${said} Your credits last until`)
  // What the month will have used is no answer to what is to pay.
  expect(figuresOf(page)).toMatch(/ Used Nov 1 – 28 660 credits about 7\d\d by Nov 30 /)
  const asked = async (query: string) =>
    figuresOf(await (await service!.ask(`/page?${query}`, await tokenOf('a'))).text())
  expect(await asked('from=2026-11-20&to=2026-11-29')).toMatch(/November: about 7\d\d /)
  expect(await asked('from=2026-11-01&to=2026-11-20')).toMatch(/November: about 7\d\d /)
  expect(await asked('model=svc-k2')).not.toMatch(/ about \d[\d,]* by /)
  expect(figuresOf(await pageOf(even(), held(100)))).not.toContain(said)
  expect(figuresOf(await pageOf(even(), ''))).not.toContain(said)
  expect(figuresOf(await pageOf(even({ unit: 'EUR' }), ''))).not.toContain(said)
  for (const [locale, ...words] of [
    ['de', 'nichts durch Ihre Credits gedeckt', 'bis zum 30. Nov.'],
    ['fr', 'rien couvert par vos crédits', 'd’ici le 30 nov.'],
    ['es', 'nada cubierto por sus créditos', 'hasta el 30 nov'],
    ['ja', 'クレジットでまかなわれます', '11月30日までに約'],
  ]) {
    const figures = figuresOf(
      await pageOf(even(), held(2000).replace('grants', `locale: ${locale}, grants`)),
    )
    for (const word of words) expect(figures).toContain(word)
  }
})

test('what the credits of a month are worth is the shown credits at their price', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const figures = figuresOf(await pageOf(even({ credits: '1234' }), ''))
  const [, credits, worth] = /about ([\d,]+).*?worth about €([\d,.]+)/.exec(figures)!
  const numberOf = (text: string) => Number(text.replaceAll(',', ''))
  expect(numberOf(worth!)).toBe(numberOf(credits!) * 0.0125)
})

test('a dear day says what it came from, and how many requests and tokens it had', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  // On 20 November, ten requests at 9 and 10 o'clock had seven times the tokens of others and the same price of a token.
  const dear = Array.from({ length: 10 }, (_, at) => ({
    atUs: utc(2026, 11, 20, 9 + Math.floor(at / 5)) + (at % 5) * 60e6,
    ...{ account: 'a', credits: '28', promptTokens: 70, completionTokens: 140 },
  }))
  const state = stateOf(await pageOf([...even(), ...dear], ''))
  // 16 requests with 10 * 210 + 6 * 30 tokens: 142.5 in each, of 30 on other days.
  expect(state).toContain(
    'Friday, Nov 20: 304 credits instead of about 24, mostly 9–11 AM. Show this day 6.5× tokens per request 194 tokens per request instead of 30 ',
  )
})

test('a name on the first screen and its share are apart, so that no number of a name joins it', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const three = even().map((event, at) => ({ ...event, keyFp: `k${at % 6 < 3 ? 0 : at % 3}` }))
  const page = await pageOf(three, '')
  expect(page).toMatch(
    /<span class="pair follows"><span>key \d<\/span> <span>[\d.]+%<\/span><\/span>/,
  )
  const board = boardOf(page) as unknown as BoardData
  const lines = mostOf(board, { ...initial(board), model: 'svc-k2' }, 'key')
  expect(lines.map((parts) => parts.length)).toEqual([1, 1, 2, 2])
  expect(lines[2]).toEqual([expect.stringMatching(/^key \d$/), expect.stringMatching(/^[\d.]+%$/)])
})

test('shares that follow a name add up to 100 %, with those that are not named', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const page = await pageOf(
    even().map((event, at) => ({ ...event, keyFp: `k${at % 7}`, model: 'nova' })),
    '',
  )
  const [, cell] = /Key that used most(.*?)Model that/.exec(figuresOf(page))!
  expect(cell).toMatch(/ others \d/)
  const sum = [...cell!.matchAll(/([\d.]+)%/g)].reduce((all, [, each]) => all + Number(each), 0)
  expect(sum).toBeCloseTo(100, 6)
  const board = boardOf(page) as unknown as BoardData
  const lines = mostOf(board, { ...initial(board), model: 'nova' }, 'key')
  expect(lines.at(-1)).toEqual(['others', expect.stringMatching(/^[\d.]+%$/)])
  expect(cell).toContain(` others ${lines.at(-1)![1]} `)
  // Who sees one key has no shares.
  const one = await (await service!.ask('/page', await tokenOf('a', { keys: ['k1'] }))).text()
  expect(figuresOf(one)).toMatch(/^(?!.*key \d).*Model that/)
})

test('used, to pay and the end of credits come before what to look at, in a sign that closes nothing', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const page = await pageOf(
    even(),
    "accounts: { a: { budget: '600', grants: [{ name: Pack, credits: 2000 }] } }\n",
  )
  const heads = [...page.matchAll(/<dt>([^<]*)<\/dt>/g)].map(([, head]) => head)
  expect(heads.slice(0, 5)).toEqual([
    ...['Used Nov 1 – 28', 'To pay for November', 'Your credits last until', 'Budget for November'],
    'Key that used most',
  ])
  const places = ['figures answers', 'class="state fail"', 'id="board-use"', 'b-filters'].map(
    (each) => page.indexOf(each, page.indexOf('<main')),
  )
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  expect(stateOf(page)).toMatch(/^ ▲ /)
  expect(page).not.toContain('✕')
})

test('a busy hour is told with its amount, its requests and what is usual', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const busy = [5, 6].map((day) => ({
    atUs: utc(2026, 11, day, 7),
    ...{ account: 'a', credits: day === 5 ? '30' : '20', requests: 9 },
  }))
  await pageOf([...even(), ...busy], '')
  const answer = await service!.ask('/v1/notices', await tokenOf('a'))
  const { notices } = (await answer.json()) as { notices: { kind: string; text: string }[] }
  expect(notices.find(({ kind }) => kind === 'busy-hour')!.text.replace(/\s/g, ' ')).toBe(
    '2 hours had much more use than usual, 50 credits in all. The most: Nov 5, 2026, 7:00 AM, 30 credits, 7.5 times the usual, with 9 requests (usually 1).',
  )
})

test('hours are judged in each currency, and each has its marks', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const events = [
    ...even({ unit: 'EUR' }),
    // Dollars in October and in the first days of November, with one dear hour.
    ...Array.from({ length: 35 * 4 }, (_, at) => ({
      atUs: utc(2026, 10, 1, 2) + at * 6 * 3600e6,
      ...{ account: 'a', unit: 'USD', credits: '1' },
    })),
    { atUs: utc(2026, 11, 3, 15), account: 'a', unit: 'USD', credits: '40' },
  ]
  const page = await pageOf(events, '', '?unit=USD')
  expect(boardOf(page).marks.map(({ text }) => text.replace(/\s/g, ' '))).toEqual([
    'Nov 3, 2026, 3:00 PM · $40.00',
  ])
  expect(textOf(page)).toContain('▾1 Nov 3, 2026, 3:00 PM · $40.00')
  expect(textOf(page)).toContain('▾1 more use than usual, listed below'.replace('▾1 ', ''))
  expect(textOf(page)).toContain('Amounts in USD only. Days without a bar may have use in EUR')
  expect(figuresOf(page)).toContain(
    'Model that cost most USD: svc-k2 $56.00 · 100.0% EUR: svc-k2 €660.00 · 100.0%',
  )
  expect(textOf(page)).toContain('USD until Nov 4')
  const euros = boardOf(await pageOf(events, '', '?unit=EUR'))
  expect(euros.marks).toEqual([])
})

test('shares of a list add up to 100 %, and a list that is complete promises no more', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const models = ['nova', 'lyra', 'orion']
  const events = even().map((event, at) => ({
    ...event,
    model: models[at % 3]!,
    keyFp: `k${at % 7}`,
  }))
  const page = await pageOf(events, '', '?from=2026-10-01&to=2026-11-28')
  const top = /id="top-model">[\s\S]*?<\/section>/.exec(page)![0]
  expect([...top.matchAll(/<small>([\d.]+)%/g)].map(([, share]) => share)).toEqual([
    '33.4',
    '33.3',
    '33.3',
  ])
  expect(textOf(top)).toContain('Show as a table')
  expect(textOf(/id="top-key">[\s\S]*?<\/section>/.exec(page)![0])).toContain('All 7')
})

test('the page says in which zone its times are, and calls own dimensions in the words of the reader', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const events = even({ tags: '{"team":"search"}' })
  expect(textOf(await pageOf(events, ''))).toContain('Times in UTC')
  const german = await pageOf(events, 'accounts: { a: { locale: de, timezone: Europe/Berlin } }\n')
  expect(textOf(german)).toContain('Zeitzone: Europe/Berlin')
  const french = await pageOf(events, 'accounts: { a: { locale: fr } }\n')
  expect(/id="top-tag-\d">\s*<h3>([^<]*)</.exec(french)![1]).toBe('Équipe')
  const own = await pageOf(events, "words: { 'tag.team': Department }\n")
  expect(/id="top-tag-\d">\s*<h3>([^<]*)</.exec(own)![1]).toBe('Department')
})

test('the page of an hour and of days says its period, and every line of what was used is of it', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const used = (page: string) => textOf(/<div class="used[\s\S]*?<\/dd>/.exec(page)![0])
  const hour = '?from=2026-11-10T09:00&to=2026-11-10T10:00'
  expect(used(await pageOf(even(), '', hour))).toMatch(/Used Nov 10, 9–10 AM .*1 request /)
  const hours = await pageOf(even(), '', '?from=2026-11-10T08:00&to=2026-11-10T12:00')
  expect(used(hours)).toMatch(/0% vs\. Nov 10, 4–8 AM /)
  expect(textOf(hours)).toContain('Change vs. Nov 10, 4–8 AM')
  const night = '?from=2026-11-10T21:00&to=2026-11-11T02:00'
  expect(used(await pageOf(even(), '', night))).toMatch(
    /Used Nov 10, 2026, 9:00 PM – Nov 11, 2026, 2:00 AM .*2 requests /,
  )
  const page = await pageOf(even(), '', '?from=2026-11-10&to=2026-11-12')
  expect(used(page)).toMatch(/Used Nov 10 – 11 .*12 requests /)
  // A file hides these lines once its reader filters.
  const asides = /<div class="used[\s\S]*?<\/dd>/.exec(page)![0].match(/class="aside"[^>]*>/g)!
  expect(asides.length).toBeGreaterThan(0)
  expect(asides.filter((each) => !each.includes('data-whole'))).toEqual([])
})

test('the page has the days of the account alone: another zone is refused', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  await pageOf(even(), '')
  const answer = await service!.ask('/page?timezone=Asia/Tokyo', await tokenOf('a'))
  expect([answer.status, textOf(await answer.text())]).toEqual([
    400,
    expect.stringContaining(
      'Known: from, to, model, key, endpoint, tag, metric, by, unit, tables.',
    ),
  ])
})

test('no French line begins with a colon or another sign that follows a space', () => {
  expect(Object.values(fr).filter((text) => / [:;!?»]|« /.test(text))).toEqual([])
})

test('a notice of a budget says its amount, and up to three more notices are open', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const page = await pageOf(
    even({ unit: 'EUR' }),
    `accounts: { a: { budget: [{ amount: '700', unit: EUR }, { amount: '160', unit: EUR, period: week }] } }\n`,
  )
  expect(stateOf(page)).toMatch(/You used 9\d(\.\d)?% of your budget of €700\.00 for this month\./)
  expect(page).not.toContain('1 more notice')
})
