import { afterEach, expect, test } from 'vitest'
import { initial } from '../../src/report/usage/board/choice.js'
import type { BoardData } from '../../src/report/usage/board/data.ts'
import { viewsOf } from '../../src/report/usage/board/views.js'
import { type EventChange, enterEvents, utc } from '../report/usage-events.ts'
import { type Served, served, settingsOf, tokenOf } from './portal.ts'

let service: Served | undefined
afterEach(async () => {
  await service?.close()
  service = undefined
})

type Event = EventChange & { readonly atUs: number }

async function pageOf(events: readonly Event[], locale = 'en'): Promise<string> {
  await service?.close()
  const settings = settingsOf(`accounts: { a: { locale: ${locale} } }\n`)
  service = await served([], settings, (store) => enterEvents(store, events))
  return (await service.ask('/page', await tokenOf('a'))).text()
}
const keys = ['3f2a91c04d7e', '9b00c4d2e1f7']
const textOf = (html: string) =>
  html
    .replace(/<(style|script)\b[\s\S]*?<\/\1>|<[^>]+>/g, ' ')
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replace(/[\s\u202f]+/g, ' ')
    .replaceAll(' ,', ',')
/** What a state says, without the text that asks about a day. */
const stateOf = (page: string) =>
  textOf(
    /<section class="state[\s\S]*?<\/section>/
      .exec(page)![0]
      .replace(/(<\/summary>)[\s\S]*?<\/details>/g, '$1'),
  )

/** Three to nine requests a day at different hours, of which the 20th is none. */
const uneven = (): readonly Event[] =>
  Array.from({ length: 27 }, (_, day) =>
    day === 19
      ? []
      : Array.from({ length: 3 + ((day * 5) % 7) }, (_, at) => ({
          atUs: utc(2026, 11, 1, 2 * at + 1) + day * 86_400e6,
          ...{ account: 'a', credits: String(2 + (day % 3)), model: 'nova' },
          ...{ promptTokens: 10 + ((day * 3) % 11), completionTokens: 20 },
        })),
  ).flat()

/** Requests of 20 November, in these hours. */
const dear = (hours: readonly number[], change: EventChange): readonly Event[] =>
  hours.map((hour, at) => ({
    atUs: utc(2026, 11, 20, hour) + at * 60e6,
    ...{ account: 'a', model: 'nova', promptTokens: 70, completionTokens: 140, ...change },
  }))

/** What a state says of parts, in the order of the words. */
const partsOf = (state: string) => {
  const [, sum, parts] =
    /([\d.,]+) credits more than on a usual weekday: ((?:[a-z ]+ [+−][\d.,]+,? ?)+)/.exec(state)!
  const number = (text: string) => Number(text.replaceAll(',', '').replace('−', '-'))
  return {
    sum: number(sum!),
    parts: [...parts!.matchAll(/([a-z ]+) ([+−][\d.]+)/g)].map(
      ([, name, part]) => [name!.replace(/^ *(and )?/, ''), number(part!)] as const,
    ),
  }
}

/** The mean of the middle half of the days with use from Monday to Friday, as this test alone reads it. */
function usualOf(events: readonly Event[]): number {
  const days = Object.values(
    Object.groupBy(
      events.filter(({ atUs }) => new Date(atUs / 1000).getUTCDay() % 6 !== 0),
      ({ atUs }) => new Date(atUs / 1000).getUTCDate(),
    ),
  ).map((own) => own!.reduce((sum, { credits }) => sum + Number(credits), 0))
  const sorted = days.toSorted((a, b) => a - b)
  const middle = sorted.slice(sorted.length >> 2, sorted.length - (sorted.length >> 2))
  return middle.reduce((sum, each) => sum + each, 0) / middle.length
}

test.each([
  [[9, 9, 9, 10, 14], { credits: '28' }],
  [[9, 9, 10, 10, 14, 14, 15, 15, 15, 16, 16], { credits: '9' }],
  [[9, 10, 14], { credits: '90', model: 'orion' }],
] as const)(
  'the parts of a dear day add up to what it used more than a usual one, the greatest first: %j %j',
  {
    tags: 'whole',
    timeout: 60_000,
  },
  async (hours, change) => {
    const more = dear(hours, change)
    const state = stateOf(await pageOf([...uneven(), ...more]))
    const { sum, parts } = partsOf(state)
    const [, day, usual] = /: ([\d.,]+) credits instead of about (\d+(?:\.\d+)?)[,.] /.exec(state)!
    expect(sum).toBeCloseTo(Number(day!.replaceAll(',', '')) - Number(usual), 6)
    const used = more.reduce((all, { credits }) => all + Number(credits), 0)
    // The day has no other use.
    expect(sum).toBeCloseTo(used - usualOf([...uneven(), ...more]), 0)
    expect(parts.reduce((all, [, part]) => all + part, 0)).toBeCloseTo(sum, 6)
    const known = parts.filter(([name]) => name !== 'everything else').map(([, part]) => part)
    expect(known).toEqual(known.toSorted((a, b) => b - a))
  },
)

test.each([
  ['en', 'orion instead of nova'],
  ['de', 'orion statt nova'],
  ['fr', 'orion au lieu de nova'],
  ['es', 'orion en lugar de nova'],
  ['ja', 'orion（ふだんはnova）'],
])(
  'a day that is dear by another model names it, in %s',
  {
    tags: 'whole',
    timeout: 60_000,
  },
  async (locale, said) => {
    const other = dear([9, 10, 14], { credits: '200', model: 'orion' })
    expect(stateOf(await pageOf([...uneven(), ...other], locale))).toContain(said)
  },
)

test('a price that rose is said of its model, with what to do, and is no other model', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const state = stateOf(await pageOf([...uneven(), ...dear([9, 10, 14], { credits: '200' })]))
  expect(state).toMatch(/ Price of nova \d+× nova: [\d,]+ instead of /i)
  expect(state).toMatch(/ nova: [\d,]+ instead of .* Ask about this price /i)
  expect(state).not.toContain('expensive model')
})

/** Ten requests a day at the same price of a token: seven of one key, three of another. */
const steady = (): readonly Event[] =>
  Array.from({ length: 27 * 10 }, (_, at) => ({
    atUs: utc(2026, 11, 1, 8) + Math.floor(at / 10) * 86_400e6 + (at % 10) * 3600e6,
    ...{ account: 'a', credits: '2', model: at % 2 === 0 ? 'nova' : 'lyra' },
    ...{ promptTokens: 80, completionTokens: 20, cachedTokens: 40 },
    keyFp: keys[at % 10 < 7 ? 0 : 1]!,
  }))
const job = (change: EventChange, count = 12): readonly Event[] =>
  Array.from({ length: count }, (_, at) => ({
    atUs: utc(2026, 11, 19, 9) + at * 60e6,
    ...{ account: 'a', credits: '2', model: 'nova', keyFp: keys[1]! },
    ...{ promptTokens: 80, completionTokens: 20, cachedTokens: 40, ...change },
  }))

test.each([
  [
    { promptTokens: 400, completionTokens: 100, cachedTokens: 200, credits: '10' },
    '5× tokens per request',
    '500 tokens per request instead of 100, mostly input; usually no requests',
  ],
  [
    { completionTokens: 80, promptTokens: 20, cachedTokens: 10, credits: '8' },
    'Larger share of output',
    '80% of the tokens are output, usually 20%; usually no requests',
  ],
  [
    { cachedTokens: 0, credits: '8' },
    'Less from the cache',
    '0% of the tokens are from the cache, usually 40%; usually no requests',
  ],
  [
    { credits: '8' },
    'Price of nova 4×',
    'nova: 80,000 instead of 20,000 credits for a million tokens; usually no requests',
  ],
] as const)(
  'the reason is in the requests that made the day dear: the owner and who sees their key alone read the same, %j',
  { tags: 'whole', timeout: 60_000 },
  async (change, said, figures) => {
    const whole = stateOf(await pageOf([...steady(), ...job(change)]))
    expect(whole).toContain(`${said} (“key 2”) `)
    expect(whole).toContain(` ${figures} `)
    const own = await service!.ask('/page', await tokenOf('a', { keys: [keys[1]!] }))
    const alone = stateOf(await own.text())
    expect(alone).toContain(said)
    expect(alone).toContain(` ${figures} `)
    // The page is of that key alone.
    expect(alone).not.toContain('key 1')
  },
)

test('beside a bar, an old and a new price follow the price that they are of', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const linesOf = (page: string) =>
    (JSON.parse(/id="board-data">([^<]*)</.exec(page)![1]!) as BoardData).dears[0]!.lines.map(
      (line) => line.replaceAll('\u00a0', ' '),
    )
  expect(linesOf(await pageOf([...steady(), ...job({ credits: '3' }, 60)]))).toEqual([
    '60 requests',
    '“key 2”',
    '9–10 AM',
    'price of nova 1.5×',
    'nova: 30,000 instead of 20,000 credits for a million tokens',
  ])
  expect(linesOf(await pageOf([...steady(), ...job({ credits: '8' }, 12)]))).toEqual([
    'Price of nova 4×',
    '“key 2”',
    '9–10 AM',
    'nova: 80,000 instead of 20,000 credits for a million tokens',
    '12 requests',
  ])
})

test('the hours that are busier than usual are named in the order of time, joined where one follows another', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const page = await pageOf([...uneven(), ...dear([3, 9, 9, 10, 14, 14, 14], { credits: '60' })])
  expect(stateOf(page)).toMatch(
    /Friday, Nov 20: 420 credits instead of about [\d.]+, all of it 3–4 AM, 9–11 AM, and 2–3 PM\. /,
  )
  // The day says why: its hours are not listed once more.
  expect(page).not.toContain('class="b-marks"')
})

const teams = ['search', 'chat']

interface World {
  readonly events: readonly Event[]
  readonly key: string
  readonly model: string
  readonly hours: readonly [number, number]
}

/** Four weeks of two keys, three models and two teams; on 19 November one key used one model far more, from one hour to another. */
function worldOf(seed: number): World {
  let state = seed * 7919
  const draw = (below: number) => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
  const models = ['nova', 'lyra', 'orion']
  const events: Event[] = []
  for (let hour = 0; hour < 27 * 24; hour++)
    for (let at = draw(3); at > 0; at--)
      events.push({
        atUs: utc(2026, 11, 1) + hour * 3600e6 + draw(3600) * 1e6,
        ...{ account: 'a', unit: 'EUR', credits: (0.01 * (20 + draw(80))).toFixed(2) },
        ...{ keyFp: keys[draw(10) < 7 ? 0 : 1]!, model: models[draw(3)]! },
        ...{ promptTokens: 100, completionTokens: 100, tags: `{"team":"${teams[draw(2)]}"}` },
      })
  const [key, model, from] = [keys[draw(2)]!, models[draw(3)]!, 6 + draw(10)]
  const hours = [from, from + 1 + draw(3)] as const
  for (let at = 0; at < 60; at++)
    events.push({
      atUs: utc(2026, 11, 19, from) + draw((hours[1] - from) * 3600) * 1e6,
      ...{
        account: 'a',
        unit: 'EUR',
        credits: (1 + 0.01 * draw(100)).toFixed(2),
        keyFp: key,
        model,
      },
      ...{ promptTokens: 300, completionTokens: 100, tags: `{"team":"${teams[draw(2)]}"}` },
    })
  return { events, key, model, hours }
}

/** In whole cents, as this test alone reads them. */
const centsOf = (events: readonly Event[]) =>
  events.reduce((sum, { credits }) => sum + Math.round(Number(credits) * 100), 0)
const euros = (cents: number) => `€${(cents / 100).toFixed(2)}`
/** Hours as English has them. */
const clocks = ([from, to]: readonly [number, number]) => {
  const half = (hour: number) => (hour < 12 ? 'AM' : 'PM')
  const of = (hour: number) => (hour % 12 === 0 ? 12 : hour % 12)
  return `${of(from)}${half(from) === half(to) ? '' : ` ${half(from)}`}–${of(to)} ${half(to)}`
}

test.each([1, 2, 3, 4, 5, 6])(
  'one sentence says the day, its amount, and the key, model and hours that it came from, world %i',
  { tags: 'whole', timeout: 60_000 },
  async (seed) => {
    const { events, key, model, hours } = worldOf(seed)
    const state = stateOf(await pageOf(events))
    const day = events.filter(({ atUs }) => new Date(atUs / 1000).getUTCDate() === 19)
    const caused = day.filter(({ atUs, ...event }) => {
      const hour = new Date(atUs / 1000).getUTCHours()
      return event.keyFp === key && event.model === model && hour >= hours[0] && hour < hours[1]
    })
    const how = centsOf(caused) === centsOf(day) ? 'all of it' : 'mostly'
    const start = `Thursday, Nov 19: ${euros(centsOf(day))} instead of about `
    expect(state).toContain(start)
    // Keys without a name in the settings are numbered by their first use.
    const first = events.toSorted((a, b) => a.atUs - b.atUs)[0]!.keyFp
    const [, behind, why] = /^€[\d.]+\d(.*?)\. Show this day (.*?\)) /.exec(state.split(start)[1]!)!
    const who = `“key ${key === first ? 1 : 2}”`
    expect(behind).toBe(`, ${how} ${clocks(hours)}`)
    const times = hours[1] - hours[0]
    const inHours = `in ${times} ${times === 1 ? 'hour' : 'hours'}`
    const isRight = /^[\d.]+× (?:requests (in \d+ hours?)|tokens per request)\b.* \((.*)\)$/
    const [, inThese = inHours, by] = isRight.exec(why!)!
    expect([inThese, by]).toEqual([inHours, who])
    expect(state).toContain(
      `${Number(((100 * centsOf(caused)) / centsOf(day)).toFixed(1))}% of that day’s cost: ${who} with ${model}, ${clocks(hours)} (UTC)`,
    )
  },
)

test('a key that has as much of a dear day as of any other is no cause of it, and a team that has not is one', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const usual = Array.from({ length: 27 * 10 }, (_, at) => ({
    atUs: utc(2026, 11, 1, 8) + Math.floor(at / 10) * 86_400e6 + (at % 10) * 3600e6,
    ...{ account: 'a', credits: '1', model: 'nova', keyFp: keys[at % 10 < 7 ? 0 : 1]! },
    tags: `{"team":"${teams[at % 2]}"}`,
  }))
  const more = Array.from({ length: 40 }, (_, at) => ({
    atUs: utc(2026, 11, 19, 8) + Math.floor(at / 4) * 3600e6,
    ...{ account: 'a', credits: '1', model: 'nova', keyFp: keys[at % 10 < 7 ? 0 : 1]! },
    tags: '{"team":"chat"}',
  }))
  const state = stateOf(await pageOf([...usual, ...more]))
  expect(state).toContain(
    'Thursday, Nov 19: 50 credits instead of about 10, mostly 8 AM–6 PM. Show this day 9× requests in 10 hours (Team “chat”) 45 requests in these hours instead of about 5 ',
  )
  // 40 more of the team, beside its five of each day.
  expect(state).toMatch(/ 90% of that day’s credits: Team “chat”, 8 AM–6 PM /)
  expect(state).not.toContain('key 1')
})

test('a day that names nobody says its hours, and every one says why', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const spread = (day: number, times: number, hours: readonly number[]) =>
    hours.flatMap((hour) =>
      Array.from({ length: times }, (_, at) => ({
        atUs: utc(2026, 11, day, hour) + at * 30e6,
        ...{ account: 'a', credits: '1', model: `m${at % 4}`, keyFp: keys[at % 2]! },
      })),
    )
  const hours = [...Array(24).keys()]
  const usual = Array.from({ length: 27 }, (_, day) => spread(day + 1, 4, hours)).flat()
  const page = await pageOf([...usual, ...spread(19, 100, [10, 11])])
  const byHour = stateOf(page)
  const chart = /id="board-use"[\s\S]*?<div class="on-desk">([\s\S]*?)<\/svg>/.exec(page)![1]!
  expect([...chart.matchAll(/b-why[^>]*>([^<]*)</g)].map(([, word]) => textOf(word!))).toEqual([
    ...['26× requests', '10 AM–12 PM', '208 requests instead of about 8'],
  ])
  expect(byHour).toContain(
    'Thursday, Nov 19: 296 credits instead of about 96, mostly 10 AM–12 PM. Show this day 26× requests in 2 hours, from several keys 208 requests in these hours instead of about 8 70.3% of that day’s credits: 10 AM–12 PM (UTC) 200 credits more than on a usual weekday: more requests +200',
  )
  const even = stateOf(await pageOf([...usual, ...spread(19, 8, hours)]))
  expect(even).toContain(
    '288 credits instead of about 96. Show this day 3× requests, from several keys 288 requests instead of about 96 192 credits more than on a usual weekday: more requests +192',
  )
})

test('a key that has most of a dear day, as of every other one, is said behind the causes', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const spread = (day: number, times: number) =>
    Array.from({ length: 24 * 5 * times }, (_, at) => ({
      atUs: utc(2026, 11, day) + Math.floor(at / (5 * times)) * 3600e6 + at * 1e6,
      ...{ account: 'a', credits: '1', model: 'nova', keyFp: keys[at % 5 < 4 ? 0 : 1]! },
    }))
  const usual = Array.from({ length: 27 }, (_, day) => spread(day + 1, 1)).flat()
  const state = stateOf(await pageOf([...usual, ...spread(19, 2)]))
  expect(state).toContain('Show this day 3× requests, mostly from “key 1” ')
})

test('each of two dear days has its sentence, its words beside its bar and its line in the table, and a third one follows', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const models = ['nova', 'lyra']
  const usual = Array.from({ length: 27 * 10 }, (_, at) => ({
    atUs: utc(2026, 11, 1, 8) + Math.floor(at / 10) * 86_400e6 + (at % 10) * 3600e6,
    ...{ account: 'a', credits: '1', model: models[at % 2]!, keyFp: keys[at % 3 === 0 ? 1 : 0]! },
  }))
  const burst = (day: number, credits: string, at: number): Event => ({
    ...{ atUs: utc(2026, 11, day, 9), account: 'a', credits },
    ...{ model: models[at]!, keyFp: keys[at]! },
  })
  const two = await pageOf([...usual, burst(12, '60', 0), burst(19, '40', 1)])
  const state = stateOf(two)
  expect(state).toContain(
    'Thursday, Nov 12: 70 credits instead of about 10. Show it A single request of 60 credits at 9:00 AM (“key 2”) nova: 2,000,000 instead of 33,300 credits for a million tokens 85.7% of that day’s credits: “key 2” with nova, 9–10 AM (UTC)',
  )
  expect(state).toContain(
    'Thursday, Nov 19: 50 credits instead of about 10. Show it A single request of 40 credits at 9:00 AM (“key 1”) lyra: 1,330,000 instead of 33,300 credits for a million tokens 80% of that day’s credits: “key 1” with lyra, 9–10 AM (UTC)',
  )
  expect(two).toMatch(/href="\?from=2026-11-12T09%3A00&#38;to=2026-11-12T10%3A00"/)
  expect(two).toMatch(/href="\?from=2026-11-19T09%3A00&#38;to=2026-11-19T10%3A00"/)
  const chart = /id="board-use"[\s\S]*?<div class="on-desk">([\s\S]*?)<\/svg>/.exec(two)![1]!
  const beside = [...chart.matchAll(/class="b-word b-why[^>]*>([^<]*)</g)].map(([, word]) =>
    textOf(word!),
  )
  expect(beside).toEqual([
    ...['A single request', '“key 2”', '9–10 AM'],
    ...['A single request', '“key 1”', '9–10 AM'],
  ])
  const board = JSON.parse(/id="board-data">([^<]*)</.exec(two)![1]!) as BoardData
  const [use] = viewsOf(board, initial(board)).views
  const [heads, rows] = use!.table()
  expect(heads.at(-1)).toBe('Why')
  expect(rows.map((row) => String(row.at(-1))).filter((said) => said !== '')).toEqual([
    expect.stringMatching(
      /^Thursday, Nov 12: 70 credits instead of about 10\. .* 60 credits at 9.00.AM .* 85\.7% of that day’s credits: /,
    ),
    expect.stringMatching(
      /^Thursday, Nov 19: 50 credits instead of about 10\. .* 40 credits at 9.00.AM .* 80% of that day’s credits: /,
    ),
  ])
  // A day of less than a quarter of the greatest excess is none, and the third is the last.
  const more = [burst(12, '60', 0), burst(19, '40', 1), burst(5, '30', 0), burst(24, '12', 1)]
  const many = await pageOf([...usual, ...more])
  const days = [...stateOf(many).matchAll(/(\w+, Nov \d+)[^:]*: \d+ credits/g)]
  expect(days.map(([, day]) => day)).toEqual([
    'Thursday, Nov 12',
    'Thursday, Nov 19',
    'Thursday, Nov 5',
  ])
  expect([...stateOf(many).matchAll(/A single request of/g)]).toHaveLength(3)
})

test('a single request is named where requests are shown, and only if it has most of the day beyond a usual one', async () => {
  const usual = Array.from({ length: 27 * 10 }, (_, at) => ({
    atUs: utc(2026, 11, 1, 8) + Math.floor(at / 10) * 86_400e6 + (at % 10) * 3600e6,
    ...{ account: 'a', credits: '1', model: ['nova', 'lyra'][at % 2]!, keyFp: keys[0]! },
  }))
  const burst = (credits: string, minute: number): Event => ({
    ...{ atUs: utc(2026, 11, 19, 16, minute), account: 'a', credits },
    ...{ model: 'nova', keyFp: keys[1]! },
  })
  const most = [burst('36', 23), burst('24', 41)]
  const state = stateOf(await pageOf([...usual, ...most]))
  expect(state).toContain('Show it A single request of 36 credits at 4:23 PM (“key 2”) ')
  const claims = { shows: ['credits', 'keys', 'models'] }
  const other = stateOf(await (await service!.ask('/page', await tokenOf('a', claims))).text())
  expect(other).toContain('Show this day Price of nova ')
  expect(other).not.toContain('single')
  const less = stateOf(await pageOf([...usual, burst('35', 23), burst('25', 41)]))
  expect(less).toContain('Show this day Price of nova ')
  expect(less).not.toContain('single')
})

test('of two dear days, the one that cost more beyond its usual is the first, also if the other is more times as dear', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  // 12 weekdays of 10, and 7 days of the weekend of 4: 100 on a Saturday is 11.2 times a usual day, and 109 on a Thursday 10.9 times a weekday.
  const usual = Array.from({ length: 22 }, (_, day) => {
    const isWeekend = day % 7 === 0 || day % 7 === 6
    if (!isWeekend && (day < 3 || day > 18)) return []
    return Array.from({ length: 4 }, (_, at) => ({
      atUs: utc(2026, 11, 1, 8 + at) + day * 86_400e6,
      ...{ account: 'a', credits: isWeekend ? '1' : '2.5', model: 'nova' },
    }))
  }).flat()
  const burst = (day: number, credits: string): Event => ({
    ...{ atUs: utc(2026, 11, day, 9), account: 'a', credits, model: 'nova' },
  })
  const daysOf = (page: string) =>
    [...stateOf(page).matchAll(/(\w+, Nov \d+)[^:]*: ([\d.]+) credits/g)].map(([, ...day]) =>
      day.join(' '),
    )
  expect(daysOf(await pageOf([...usual, burst(14, '96'), burst(19, '99')]))).toEqual([
    'Thursday, Nov 19 109',
    'Saturday, Nov 14 100',
  ])
  // 55 beyond the 4 of a day of the weekend, and 51 beyond the 10 of a weekday.
  expect(daysOf(await pageOf([...usual, burst(14, '55'), burst(19, '51')]))).toEqual([
    'Saturday, Nov 14 59',
    'Thursday, Nov 19 61',
  ])
})

test('who sees one key alone, or sums alone, is told why a day was dear', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const events = [
    ...uneven().map((each) => ({ ...each, keyFp: keys[0]! })),
    ...dear([9, 9, 9, 10, 14], { credits: '28', keyFp: keys[0]! }),
    ...uneven().map((each) => ({ ...each, keyFp: keys[1]! })),
  ]
  const whole = await pageOf(events)
  expect(stateOf(whole)).toMatch(/ \(“key \d”\) /)
  for (const claims of [
    { keys: [keys[0]!] },
    { keys: [keys[0]!], shows: ['credits'] },
    { shows: ['credits'] },
  ]) {
    const page = await (await service!.ask('/page', await tokenOf('a', claims))).text()
    const state = stateOf(page)
    // The page is of its only key, and no name is said that the token does not show.
    expect(state).not.toContain('key')
    expect(state).toMatch(/ Show this day [\d.]+× tokens per request(, [^(]+)? \(/)
    expect(state).toMatch(
      /Friday, Nov 20: 1\d\d credits instead of about \d+(\.\d)?, [^.]*\. .* more than on a usual weekday: /,
    )
    if ('shows' in claims) expect(state).not.toContain('nova')
  }
})
