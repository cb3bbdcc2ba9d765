import { expect, test } from 'vitest'
import type { DearDay } from '../../src/portal/figures/dear-day.ts'
import { type Used, whyOf } from '../../src/portal/figures/why.ts'
import { dearWords, priceBeyond } from '../../src/portal/page/dear-words.ts'
import type { PageData } from '../../src/portal/page/page-shape.ts'
import { payAnswers } from '../../src/portal/page/pay-answers.ts'
import { speechOf } from '../../src/portal/page/speech.ts'
import { renderState } from '../../src/portal/page/state-bar.ts'
import { en } from '../../src/portal/page/words/en.ts'
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
    ...{ usual: 100, kind: 'weekday' as const },
    cause: { amount, names: [], spans: [], onlyKey: null, why: [], ...cause },
    ...day,
  }
}
const dataOf = (...dears: readonly DearDay[]) =>
  ({
    ...{ dears, credits: null, notices: [], budgets: [], unit: 'EUR', toUs: utc(2026, 11, 29) },
    units: [{ unit: 'EUR', firstUs: null, lastUs: utc(2026, 11, 28) }],
    summary: { refreshedAt: '2026-11-28T12:00:00Z' },
  }) as unknown as PageData
const price = (amount: number) =>
  ({ of: 'price', model: 'nova', now: 2e-5, usual: 1e-5, amount }) as const

test('a dear day of which no cause is known says who it was', () => {
  const page = renderState(dataOf(dearOf({ names: [key] })), speech, null).text
  expect(page).toMatch(/<strong>.*Key “batch”.*<\/strong>/)
})

test('who sees one key alone reads no sentence without a name and without hours', () => {
  const { why, details } = dearWords(dearOf({ onlyKey: key }), speech)
  expect([why, details]).toEqual(['Key “batch”', []])
})

test.each([
  ['JPY', '200', 100, [33.33, 33.33, 33.33], '¥100 more', ['¥34', '¥33', '¥33']],
  ['EUR', '1.00', 0.5, [0.166, 0.167, 0.167], '€0.50 more', ['€0.16', '€0.17', '€0.17']],
] as const)(
  'the parts of a day in %s add up as they are written',
  (unit, amount, usual, parts, sum, written) => {
    const why = (['requests', 'tokens', 'price'] as const).map((of, at) => ({
      ...{ of, now: 2, usual: 1, amount: parts[at]!, mostly: null, model: null },
    })) as unknown as DearDay['cause']['why']
    const [said] = dearWords(dearOf({ why }, { unit, amount, usual }), speech).details
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
  const underOf = (...dears: readonly DearDay[]) =>
    payAnswers({ ...dataOf(...dears), projections }, speech)[0]!
      .under.join(' ')
      .replaceAll('\u00a0', ' ')
  expect(underOf(october!)).not.toContain('unexplained')
  expect(underOf(october!, early!, late!)).toContain(
    '€30.50 of this is the unexplained price of Nov 18 and Nov 20',
  )
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
