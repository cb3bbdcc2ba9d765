import { afterEach, expect, test } from 'vitest'
import { type EventChange, enterEvents, utc } from '../report/usage-events.ts'
import { type Served, served, settingsOf, tokenOf } from './portal.ts'

let service: Served | undefined
afterEach(async () => {
  await service?.close()
  service = undefined
})

type Event = EventChange & { readonly atUs: number }
const keys = ['3f2a91c04d7e', '9b00c4d2e1f7']

async function figuresOf(events: readonly Event[], more = ''): Promise<string> {
  await service?.close()
  service = await served([], settingsOf(more), (store) => enterEvents(store, events))
  return plainOf(await (await service.ask('/page', await tokenOf('a'))).text())
}

const plainOf = (page: string) =>
  /<dl class="figures answers">[\s\S]*?<\/dl>/
    .exec(page)![0]
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')

/** Six requests a day of 2 credits, from 1 October to noon of 28 November. */
const even = (change: EventChange = {}): readonly Event[] =>
  Array.from({ length: 58 * 6 + 3 }, (_, at) => ({
    atUs: utc(2026, 10, 1, 1) + at * 4 * 3600e6,
    ...{ account: 'a', credits: '2', keyFp: keys[at % 2]!, ...change },
  }))
const burst = (change: EventChange = {}): Event => ({
  atUs: utc(2026, 11, 18, 9, 30),
  ...{ account: 'a', credits: '200', keyFp: keys[1]!, ...change },
})
const failing = (credits: string | null): readonly Event[] =>
  Array.from({ length: 5 }, (_, at) => ({
    atUs: utc(2026, 11, 20, 9) + at * 60e6,
    ...{ account: 'a', credits, outcome: 'http_error', status: 500 },
  }))

const whole = { tags: 'whole', timeout: 60_000 }

test.each([
  ['0', ' 5 failed or reached a limit, not charged '],
  ['3', ' 5 failed or reached a limit, 15 credits charged '],
] as const)(
  'requests that failed and cost %s each say whether they were charged',
  whole,
  async (credits, said) => {
    expect(await figuresOf([...even(), ...failing(credits)])).toContain(said)
  },
)

test('requests that failed and report no cost say nothing of it', whole, async () => {
  const figures = await figuresOf([...even(), ...failing(null)])
  expect(figures).toContain(' Successful requests ')
  expect(figures).not.toContain('charged')
})

test.each([
  [2000, "budget: '600'", 'should last the month Key'],
  [2000, "budget: { amount: '100', period: day }", 'should last the day'],
  [2000, "budget: { amount: '400', period: week }", 'should last the week'],
  [9000, "budget: { amount: '9000', period: year }", 'should last the year'],
  // Of 710 credits, 702 are used: the rest is for less than a day.
  [710, "budget: '600'", 'your credits end before that'],
])(
  'a budget beside %i credits says which of them ends first',
  whole,
  async (credits, budget, said) => {
    const figures = await figuresOf(
      even(),
      `accounts: { a: { ${budget}, grants: [{ name: Pack, credits: ${credits} }] } }\n`,
    )
    expect(figures).toContain(said)
  },
)

test(
  'a month is compared also without what a dear day used beyond a usual one, and so is its key',
  whole,
  async () => {
    const figures = await figuresOf([...even(), burst()])
    // 330 and 200 beside 330; a usual day has 12.
    expect(figures).toMatch(/ \+61% vs\. Oct 1 – 28 ±0% without the extra use of Nov 18 /)
    // Of the 364 of the key, 200 are of that day; it had 164 in October.
    expect(figures).toMatch(
      / Key that used most key 2 364 credits · 68\.7% \+122% vs\. Oct 1 – 28 ±0% without the extra use of Nov 18 /,
    )
  },
)

/** What is left, and when it ends by the plain mean of November, as this test alone reads them. */
const lefts = 2000 - 58.5 * 12 - 200
const meanEnd = Date.UTC(2026, 10, 28, 12) + (lefts / (530 / 27.5)) * 86_400_000

test.each([
  [
    'en',
    'about 12 a day, without the extra use of Nov 18 with more days like Nov 18: as early as Jan 24, 2027 ',
  ],
  [
    'de',
    'etwa 12 am Tag, ohne die Mehrnutzung vom 18. Nov. bei weiteren Tagen wie dem 18. Nov.: schon am 24. Jan. 2027 ',
  ],
  [
    'fr',
    'environ 12 par jour, sans le surplus du 18 nov. avec d’autres jours comme le 18 nov. : dès le 24 janv. 2027 ',
  ],
  [
    'es',
    'unos 12 al día, sin el uso extra del 18 nov con más días como el 18 nov: ya el 24 ene 2027 ',
  ],
  [
    'ja',
    '1日あたり約12（11月18日の増加分を除く） 11月18日のような日がまたあれば、早ければ2027年1月24日 ',
  ],
])(
  'the pace of credits says which extra use it leaves out, and the end at a faster pace is not after that of the plain mean, in %s',
  whole,
  async (locale, said) => {
    expect(new Date(meanEnd).toISOString().slice(0, 10)).toBe('2027-01-24')
    const grants = 'grants: [{ name: Pack, credits: 2000, from: 2026-10-01 }]'
    const figures = await figuresOf(
      [...even(), burst()],
      `accounts: { a: { locale: ${locale}, ${grants} } }\n`,
    )
    expect(figures).toContain(said)
  },
)

test.each([
  ['used by one model alone', '{ name: Own, credits: 1000, models: [other] }'],
  ['that begin next week', '{ name: Next, credits: 1000, from: 2026-12-02 }'],
])('beside credits %s, what is left is no pace', whole, async (_, grant) => {
  const pack = '{ name: Pack, credits: 1000, from: 2026-10-01 }'
  const figures = await figuresOf(even(), `accounts: { a: { grants: [${pack}, ${grant}] } }\n`)
  expect(figures).toContain('credits left')
  expect(figures).not.toContain(' a day')
  const few = await service!.ask('/page', await tokenOf('a', { shows: ['credits', 'keys'] }))
  expect(plainOf(await few.text())).toMatch(/ credits left (?!.* a day)/)
})
