import { expect, test } from 'vitest'
import type { SeriesPoint, UsagePage } from '../../../src/report/usage/shape.ts'
import { terminalUsage } from '../../../src/report/usage/terminal.ts'
import { usageAnswer } from '../../../src/report/usage-page.ts'
import { eachToken } from '../../../src/tokens/kinds.ts'
import { utc } from '../usage-events.ts'

/** An unmeasured day has null for its requests. */
type Change = { readonly [Name in keyof SeriesPoint]?: SeriesPoint[Name] | null }

const point = (day: number, series: string, change: Change) => {
  const credits = change.credits === undefined ? 10 : change.credits
  return {
    startUs: utc(2026, 11, day),
    label: `2026-11-${String(day).padStart(2, '0')}`,
    lengthS: 86_400,
    timezone: 'UTC',
    money: credits === null ? {} : { credits: String(credits) },
    unknownCost: change.requests === null ? null : credits === null ? (change.requests ?? 10) : 0,
    series,
    open: false,
    requests: 10,
    ok: 10,
    failed: 0,
    limited: 0,
    ambiguous: 0,
    credits: 10,
    possibleCredits: 10,
    promptTokens: 100,
    cachedTokens: null,
    completionTokens: 200,
    ...change,
  } as SeriesPoint
}

const page: UsagePage = {
  scope: {
    fromUs: utc(2026, 11, 1),
    toUs: utc(2026, 11, 4),
    timezone: 'UTC',
    by: 'model',
    account: null,
    nowUs: utc(2026, 11, 4),
    sources: [],
    creditUsd: null,
    unit: 'credits',
    units: ['credits'],
    notes: ['This is a note.'],
  },
  totals: {
    requests: { value: 40, unknown: 0 },
    tokens: eachToken(() => ({ value: null, unknown: 0 })),
    money: [],
    pricedBy: [],
    unknownCost: 0,
    ledger: [],
  },
  cards: [
    { name: 'credits', value: 1_234.56, before: 1_000, change: 0.23456, n: 9, unmeasured: 0 },
    { name: 'requests', value: 40, before: 50, change: -0.2, n: 40, unmeasured: 0 },
    { name: 'tokens', value: null, before: null, change: null, n: 0, unmeasured: 7 },
    { name: 'averageTokens', value: 5, before: 0, change: null, n: 3, unmeasured: 0 },
    { name: 'averageTokens', value: 5, before: 5, change: 0, n: 3, unmeasured: 0 },
  ],
  days: [
    point(1, 'small', { requests: 3, credits: 2 }),
    point(1, 'large', { requests: 4, credits: 15, cachedTokens: 30 }),
    point(2, 'small', {
      requests: 0,
      ok: 0,
      credits: 0,
      promptTokens: 0,
      cachedTokens: 0,
      completionTokens: 0,
    }),
    point(2, 'large', { requests: 5, credits: null, cachedTokens: 12, open: true }),
    point(3, 'small', {
      requests: 1,
      credits: 34 / 17,
      promptTokens: null,
      completionTokens: null,
    }),
    point(3, 'large', {
      requests: null,
      ok: 0,
      credits: 32,
      promptTokens: null,
      completionTokens: null,
    }),
    point(4, 'small', { requests: null, credits: null }),
  ],
  hours: [],
  weekHours: [],
  balance: [],
  errors: [],
  topKeys: [],
  peak: { minute: null, hour: null, day: null, unknown: null },
  forecast: { known: false, fullDays: 2, summary: 'Too few days.' },
  courses: [],
  otherForecasts: [],
  credits: null,
  depletion: {
    known: true,
    unit: 'credits',
    balance: 100,
    runsOut: {
      earlyUs: utc(2026, 12, 1),
      medianUs: utc(2026, 12, 9),
      lateUs: null,
      horizonDays: 365,
    },
    wasted: [
      {
        grant: 'small',
        expiresUs: utc(2026, 11, 20),
        creditsLow: 10,
        creditsMedian: 1_500,
        creditsHigh: 2_000,
      },
    ],
    summary: '100 credits at 3 a day.',
  },
  bandLosses: [
    {
      band: '1-100',
      minBalance: 1,
      requestsPerMinute: 20,
      lost: { earlyUs: null, medianUs: null, lateUs: null, horizonDays: 365 },
      summary: '',
    },
    { band: '101-1000', minBalance: 101, requestsPerMinute: 60, lost: null, summary: '' },
  ],
  plan: {
    known: true,
    needCredits: 1,
    floorBalance: 0,
    cheapest: { packs: [], credits: 0, priceUsdCents: 0 },
    chosen: { packs: [{ name: 'Starter', count: 2 }], credits: 1_000, priceUsdCents: 998 },
    vetoed: null,
    wastedCredits: 0,
    reasons: [
      'It is the cheapest.',
      'It lasts for as long as the month that was looked at, and for a week more.',
    ],
  },
  reconciliation: { known: false, summary: 'Two polls are needed.' },
  anomalies: [
    {
      kind: 'new-key',
      summary: '3 keys never seen before.',
      count: 3,
      rows: ['a', 'b', 'c'].map((id) => ({ source: 'key', id, atUs: 0, shows: '1 request' })),
    },
  ],
}

test('the text page has cards, days, series, dates and reasons in 80 columns', () => {
  expect(terminalUsage(page)).toBe(`Usage from 2026-11-01 to 2026-11-03 (UTC)

credits used              1,234.56   (1,000 before, +23.5 %)
requests                        40   (50 before, -20.0 %)
tokens                           -   (not measured before, of 0 of 7 requests)
tokens per success               5   (0 before)
tokens per success               5   (5 before, +0.0 %)

day             requests     credits
2026-11-01             7          17  █████████████████
2026-11-02             5           -   (open)
2026-11-03           ≥ 1          34  ██████████████████████████████████

model                       requests    credits  tokens in     cached tokens out
large                              9       ≥ 47        200         42        400
small                              4          4        200          -        400

forecast   Too few days.
balance    100 credits at 3 a day.
runs out   2026-12-09 (80 % likely: 2026-12-01 to beyond 365 days)
expires    1,500 of small unused on 2026-11-20 (10 to 2,000)
band       1-100 (20/min) lost not within 365 days
buy        2 Starter (9.98 USD, 1,000 credits)
           It is the cheapest.
           It lasts for as long as the month that was looked at, and for a week
           more.

service    Two polls are needed.
flag       3 keys never seen before.
           key a: 1 request
           key b: 1 request
note       This is a note.
`)
})

const linesOf = (change: Partial<UsagePage>, word: RegExp) =>
  terminalUsage({ ...page, ...change })
    .split('\n')
    .filter((line) => word.test(line))

test('the last 14 of 15 days are listed, and an open day is marked', () => {
  const days = Array.from({ length: 15 }, (_, at) => point(at + 1, 'one', { open: at === 14 }))
  const bar = '█'.repeat(34)
  expect(linesOf({ days }, /^2026/)).toEqual(
    Array.from(
      { length: 14 },
      (_, at) =>
        `2026-11-${String(at + 2).padStart(2, '0')}            10          10  ${bar}${at === 13 ? ' (open)' : ''}`,
    ),
  )
})

test('an amount beside the cards has its note in brackets, and none without a note', () => {
  const dollars = { unit: 'USD', used: '12.5', refunds: '-3', computed: '0' }
  const grants = { type: 'grant', unit: 'credits', amount: '1500', entries: 2 }
  const totals = { ...page.totals, money: [dollars], ledger: [grants] }
  expect(linesOf({ totals }, /^(USD|refunds|grants)/)).toEqual([
    'USD used                     12.50 USD',
    'refunds                      -3.00 USD   (subtracted above)',
    'grants                       1,500 credits   (2 entries)',
  ])
})

test('a held grant names the models that it pays for, and none if it pays for all', () => {
  const amounts = { credits: '500', used: '100', remaining: '400', fromUs: null, expiresUs: null }
  const credits = {
    ...{ unit: 'credits', held: '1000', used: '200', remaining: '800' },
    ...{ expired: '0', uncovered: '0' },
    grants: [
      { ...amounts, name: 'Any', models: null },
      { ...amounts, name: 'Some', models: ['nova', 'mini'] },
    ],
  }
  expect(linesOf({ credits }, /^held| 500 of/)).toEqual([
    'held       1,000 credits: 200 used, 800 left.',
    '           500 of Any: 100 used, 400 left',
    '           500 of Some for nova, mini: 100 used, 400 left',
  ])
})

test('fewer credits than one have a bar of their share of one', () => {
  const days = [point(1, 'one', { credits: 0.5 })]
  expect(linesOf({ days }, /^2026/)).toEqual([
    `2026-11-01            10         0.5  ${'█'.repeat(17)}`,
  ])
})

test('an unknown plan or balance shows its reason, and without a price there is no cost', () => {
  const depletion = { known: false, summary: 'Unknown.' } as const
  expect(linesOf({ plan: null, depletion }, /^(buy|runs out|expires|cost|balance)/)).toEqual([
    'balance    Unknown.',
  ])
  const plan = { known: false, summary: 'No packages.' } as const
  const rates = { medianPerDay: 3, lowPerDay: 2, highPerDay: 4 }
  const forecast = { known: true, ...rates, fullDays: 3, summary: '3 a day.' } as const
  expect(linesOf({ plan, forecast }, /^buy|cheapest/)).toEqual(['buy        No packages.'])
  expect(linesOf({ scope: { ...page.scope, creditUsd: 2 } }, /^cost/)).toEqual([
    'cost                $2,469.12 at 2 USD a credit',
  ])
})

test('a card with long notes is broken before 80 columns', () => {
  const card = { name: 'tokens', value: 3_490_597, before: 1_000_000, change: 2.490597 } as const
  const cards = [{ ...card, n: 2252, unmeasured: 64 }]
  expect(
    terminalUsage({ ...page, cards })
      .split('\n')
      .slice(2, 4),
  ).toEqual([
    'tokens                 ≥ 3,490,597   (1,000,000 before, +249.1 %, of 2,252 of',
    '                                      2,316 requests)',
  ])
})

test('why there is no forecast stands once', () => {
  const forecast = { known: false, fullDays: 0, summary: 'No full day of usage.' } as const
  const depletion = { known: false, summary: '9 credits; it is not known.' } as const
  const plan = { known: false, summary: 'A plan needs a forecast.' } as const
  expect(linesOf({ forecast, depletion, plan }, /^(forecast|balance|buy)|A plan/)).toEqual([
    'forecast   No full day of usage.',
    'balance    9 credits; it is not known.',
  ])
  const { because, checks } = usageAnswer({ ...page, forecast, depletion, plan })
  expect(because).toBe('9 credits; it is not known. No full day of usage.')
  expect(checks.map(({ name }) => name)).toEqual(['Reconciliation:'])
})

test('a month shows its last 14 days and says so', () => {
  const days = Array.from({ length: 30 }, (_, at) => point(at + 1, 'one', { requests: 1 }))
  const lines = terminalUsage({ ...page, days }).split('\n')
  const at = lines.indexOf('the last 14 of 30 days with usage; --json has all')
  expect(lines.slice(at + 1, at + 17).map((line) => line.slice(0, 10).trim())).toEqual([
    'day',
    ...days.slice(16).map(({ label }) => label),
    '',
  ])
  expect(terminalUsage({ ...page, days: days.slice(16) })).not.toContain('the last')
})

test('cached tokens are shown if any request reports them', () => {
  const shown = (requests: number, cachedTokens: number | null) => {
    const days = [point(1, 'one', { requests, cachedTokens })]
    const lines = terminalUsage({ ...page, days }).split('\n')
    const at = lines.findIndex((line) => line.startsWith('model'))
    return lines.slice(at, at + 2)
  }
  const head = 'model                         requests      credits    tokens in   tokens out'
  expect(shown(0, 0)).toEqual([
    head,
    'one                                  0           10            0            0',
  ])
  expect(shown(1, null)).toEqual([
    head,
    'one                                  1           10          100          200',
  ])
  expect(shown(1, 0)).toEqual([
    'model                       requests    credits  tokens in     cached tokens out',
    'one                                1         10        100          0        200',
  ])
})

test('long names are cut to fit their place', () => {
  const long = 'n'.repeat(500)
  const depletion = {
    ...page.depletion,
    wasted: [
      {
        grant: long,
        expiresUs: utc(2026, 11, 20),
        creditsLow: 1,
        creditsMedian: 2,
        creditsHigh: 3,
      },
    ],
  } as UsagePage['depletion']
  const scope = { ...page.scope, notes: [long.replaceAll('nn', 'n ')] }
  const anomalies = [
    { ...page.anomalies[0]!, rows: [{ source: 'key', id: long, atUs: 0, shows: '' }] },
  ]
  const text = terminalUsage({ ...page, scope, depletion, anomalies, days: [point(1, long, {})] })
  const runs = [...text.matchAll(/n{5,}/g)].map(([run]) => run.length)
  expect([...runs, text.match(/n /g)?.length]).toEqual([77, 19, 63, 198])
})

test('a name too long for its column has a line for itself, and wide signs keep the columns', () => {
  const long = 'accounts/somebody/models/llama-v3p1-405b-instruct'
  const text = terminalUsage({
    ...page,
    days: [point(1, `${long}-a`, {}), point(1, `${long}-b`, {}), point(1, '日本語モデル', {})],
  })
  const lines = text.split('\n').filter((line) => /llama|日本語|^ {20}/.test(line))
  const figures = '           10           10          100          200'
  expect(lines.map((line) => line.trimEnd())).toEqual([
    `${long}-a`,
    `${' '.repeat(25)}${figures}`,
    `${long}-b`,
    `${' '.repeat(25)}${figures}`,
    `日本語モデル${' '.repeat(13)}${figures}`,
  ])
})

test('requests that sums do not tell are unknown on every day, also on the last', () => {
  const unknown = { requests: null, credits: 4 }
  const text = terminalUsage({
    ...page,
    days: [
      point(1, 'a', unknown),
      point(1, 'b', { requests: 0, credits: 0 }),
      point(2, 'a', unknown),
      point(2, 'b', { requests: 7 }),
      point(3, 'a', { ...unknown, open: true }),
      point(3, 'b', { requests: 0, credits: 0, open: true }),
    ],
  })
  expect(text).toMatch(/2026-11-01 +- +4 /)
  expect(text).toMatch(/2026-11-02 +≥ 7 +14 /)
  expect(text).toMatch(/2026-11-03 +- +4 .*\(open\)/)
})
