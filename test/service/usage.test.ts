import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Accounts } from '../../src/service/ledger/accounts.ts'
import { Database } from '../../src/service/ledger/database.ts'
import { type ChargeNote, Ledger } from '../../src/service/ledger/ledger.ts'
import type { CreditsReport } from '../../src/service/usage/report.ts'
import { Rollups } from '../../src/service/usage/rollup.ts'
import { zone } from '../../src/service/usage/zone.ts'
import { manualClock } from './manual-clock.ts'
import { serving } from './serving.ts'

const us = (iso: string) => Date.parse(iso) * 1000

/** A service with a clock at a given time, and one request at each given time. */
async function used(moments: readonly string[], models: readonly string[] = ['svc-k2']) {
  const clock = manualClock(us(moments[0]!) - 3600e6)
  const target = await serving({ clock, accounts: [{ name: 'a', balance: 5_000 }] })
  const key = target.key(1)
  for (const [index, moment] of moments.entries()) {
    clock.advance(us(moment) - clock.nowUs())
    const model = models[index % models.length]!
    const response = await target.chat({ model, max_tokens: 1 + (index % 5) }, key)
    expect(response.status).toBe(200)
    await response.text()
  }
  const report = async (query: string) =>
    (await (await target.get(`/user/credits?${query}`, key)).json()) as CreditsReport
  return { clock, target, key, report }
}

test('an hour that is repeated in autumn is two hours, of a day with 25', async () => {
  const { report } = await used([
    '2026-10-24T23:30:00Z', // 01:30 +02:00
    '2026-10-25T00:30:00Z', // 02:30 +02:00
    '2026-10-25T01:30:00Z', // 02:30 +01:00
    '2026-10-25T22:59:59Z', // 23:59 +01:00
    '2026-10-25T23:00:00Z', // the next day
  ])
  const { by_hour, by_day } = await report('timezone=Europe/Berlin')
  expect(by_hour.map(({ start, requests }) => [start, requests])).toEqual([
    ['2026-10-25T01:00:00+02:00', 1],
    ['2026-10-25T02:00:00+02:00', 1],
    ['2026-10-25T02:00:00+01:00', 1],
    ['2026-10-25T23:00:00+01:00', 1],
    ['2026-10-26T00:00:00+01:00', 1],
  ])
  expect(by_day.map(({ date, requests }) => [date, requests])).toEqual([
    ['2026-10-25', 4],
    ['2026-10-26', 1],
  ])
  const filled = await report('timezone=Europe/Berlin&fill=true&from=2026-10-25&to=2026-10-26')
  expect(filled.by_hour.filter(({ date }) => date === '2026-10-25')).toHaveLength(25)
  expect(filled.consumed).toBe(4)
})

test('the day on which clocks go forward has 23 hours', async () => {
  const { report } = await used(['2026-03-28T12:00:00Z', '2026-03-30T12:00:00Z'])
  const { by_hour } = await report('timezone=Europe/Berlin&fill=1&from=2026-03-29&to=2026-03-30')
  const day = by_hour.filter(({ date }) => date === '2026-03-29')
  expect(day).toHaveLength(23)
  expect(day.map(({ start }) => start)).not.toContain('2026-03-29T02:00:00+01:00')
  expect(day.every(({ requests }) => requests === 0)).toBe(true)
  expect(day.every((hour) => hour.average_tokens_per_request === null)).toBe(true)
})

test('a zone with an offset of a quarter of an hour has its own hours and days', async () => {
  const { report } = await used(['2026-05-01T18:14:00Z', '2026-05-01T18:15:00Z'])
  const { by_day, by_hour } = await report('timezone=Asia/Kathmandu')
  expect(by_day.map(({ date }) => date)).toEqual(['2026-05-01', '2026-05-02'])
  expect(by_hour.map(({ start }) => start)).toEqual([
    '2026-05-01T23:00:00+05:45',
    '2026-05-02T00:00:00+05:45',
  ])
})

test('an evening west of Greenwich belongs to its local day', async () => {
  const { report } = await used(['2026-05-02T03:30:00Z'])
  const { by_day } = await report('timezone=America/Los_Angeles')
  expect(by_day.map(({ date, credits }) => [date, credits])).toEqual([['2026-05-01', 1]])
})

test('hours add up to days, and days and models to the total, in every zone and range', async () => {
  const moments = Array.from({ length: 60 }, (_, index) =>
    new Date(us('2026-10-24T10:00:00Z') / 1000 + index * 3_100_000).toISOString(),
  )
  const { report } = await used(moments, ['svc-k2', 'svc-k2.5', 'svc-k2-thinking'])
  const whole = await report('')
  expect(whole.requests).toBe(60)
  expect(whole.total_granted).toBe(whole.total_consumed + whole.remaining)
  for (const name of ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Australia/Lord_Howe']) {
    const here = await report(`timezone=${name}`)
    for (const field of ['credits', 'requests', 'prompt_tokens', 'completion_tokens'] as const) {
      const total = (lines: readonly (typeof here.by_day)[number][]) =>
        lines.reduce((sum, line) => sum + line[field], 0)
      for (const day of here.by_day) {
        const hours = here.by_hour.filter(({ date }) => date === day.date)
        expect(hours.reduce((sum, hour) => sum + hour[field], 0)).toBe(day[field])
      }
      expect(total(here.by_day)).toBe(here.by_model.reduce((sum, line) => sum + line[field], 0))
      expect(total(here.by_day)).toBe(here.by_key.reduce((sum, line) => sum + line[field], 0))
    }
    expect(here.by_day.reduce((sum, day) => sum + day.credits, 0)).toBe(whole.total_consumed)
    const middle = '2026-10-25T14:20:00Z'
    const [before, after] = [
      await report(`timezone=${name}&to=${middle}`),
      await report(`timezone=${name}&from=${middle}`),
    ]
    expect(before.consumed + after.consumed).toBe(whole.consumed)
  }
})

test('the average is the sum of tokens over the sum of successes', async () => {
  const { target, key, report } = await used(['2026-05-01T10:00:00Z', '2026-05-01T12:00:00Z'])
  await target.chat({ max_tokens: 0 }, key)
  await target.chat({ max_tokens: 5, n: 3 }, key)
  const { by_hour, average_tokens_per_request } = await report('')
  const tokens = by_hour.reduce((sum, line) => sum + line.prompt_tokens + line.completion_tokens, 0)
  expect(average_tokens_per_request).toBe(tokens / 3)
  expect(by_hour.map(({ requests }) => requests)).toEqual([1, 2])
})

test('each ledger entry has the balance before and after', async () => {
  const { report } = await used(['2026-05-01T10:00:00Z', '2026-05-01T12:00:00Z'], ['svc-k2.5'])
  const { entries } = await report('limit=10')
  expect(entries.map((e) => [e.kind, e.credits, e.balance_before, e.balance_after])).toEqual([
    ['charge', -2, 4_998, 4_996],
    ['charge', -2, 5_000, 4_998],
    ['grant', 5_000, 0, 5_000],
  ])
  expect((await report(`limit=1&before=${entries[1]!.id}`)).entries).toEqual([entries[2]])
})

test.each([
  [
    'timezone=Mars/Base',
    'timezone: expected an IANA time zone such as Europe/Berlin; got "Mars/Base"',
  ],
  ['from=yesterday', 'from: expected a date such as 2026-10-25'],
  // Without an offset it would be a time of the machine that runs the service.
  ['from=2026-05-01T10:00', 'got "2026-05-01T10:00"'],
  ['to=2026-02-31', 'to: expected a date such as 2026-10-25'],
  ['to=2026-02-31T10:00:00Z', 'to: expected a date'],
  ['from=5', 'from: expected a date'],
  ['from=2026-05-02&to=2026-05-01', 'to: expected no time before from; got "2026-05-01"'],
  ['fill=yes', 'fill: expected true or false; got "yes"'],
  ['limit=-1', 'limit: expected a whole number; got "-1"'],
  ['limit=1001', 'limit: expected at most 1000; got 1001'],
])('a query such as %s is refused with an explanation, and not charged', async (query, words) => {
  const { target, key } = await used(['2026-05-01T10:00:00Z'])
  const response = await target.get(`/user/credits?${query}`, key)
  expect(response.status).toBe(400)
  const { error } = (await response.json()) as { error: { code: string; message: string } }
  expect(error.code).toBe('invalid_request')
  expect(error.message).toContain(words)
  expect((await target.credits(key)).total_consumed).toBe(1)
})

test('an offset may be written with an unescaped plus', async () => {
  const { report } = await used(['2026-05-01T10:00:00Z'])
  expect((await report('from=2026-05-01T13:00:00+02:00')).consumed).toBe(0)
  expect((await report('from=2026-05-01T13:00:00%2B03:00')).consumed).toBe(1)
})

test('filling omits no hour, even one that a clock change halves', async () => {
  // Lord Howe goes forward from 02:00 to 02:30; the account is opened 40 minutes past an hour.
  const { clock, report } = await used(['2026-10-03T12:10:00Z'])
  clock.advance(us('2026-10-03T18:00:00Z') - clock.nowUs())
  const { by_hour } = await report('timezone=Australia/Lord_Howe&fill=true')
  expect(by_hour.map(({ start }) => start.slice(11))).toEqual([
    ...['21:00:00+10:30', '22:00:00+10:30', '23:00:00+10:30', '00:00:00+10:30', '01:00:00+10:30'],
    ...['02:00:00+11:00', '03:00:00+11:00', '04:00:00+11:00', '05:00:00+11:00'],
  ])
})

test('an hour label parses to the start of its hour', () => {
  const zones = [
    'UTC',
    'Europe/Berlin',
    'America/St_Johns',
    'Australia/Lord_Howe',
    'Asia/Kathmandu',
  ]
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.integer({ min: us('2024-01-01T00:00:00Z'), max: us('2030-01-01T00:00:00Z') }),
      (name, at) => {
        const { hour, date } = zone(name)(at)
        const start = us(hour)
        expect(start).toBeLessThanOrEqual(at)
        // Lord Howe's clocks go back by half an hour, in the middle of one.
        expect(at - start).toBeLessThan(1.5 * 3600e6)
        expect(hour.startsWith(date)).toBe(true)
      },
    ),
  )
})

test('a refund is booked at the time of its charge, so no hour or range is negative', () => {
  const clock = manualClock(us('2026-03-01T12:50:00Z'))
  const database = new Database(':memory:', 'process')
  const ledger = new Ledger(database, clock, 'expiry')
  const account = new Accounts(database, clock).add('a', 'code')
  ledger.move(account, 10, 'grant', 'free credits')
  const charge = (requestId: string): ChargeNote => ({
    ...{ keyId: 1, requestId, endpoint: 'chat', model: 'svc-k2', stream: false },
    ...{ promptTokens: 7, completionTokens: 2 },
  })
  ledger.charge(account, 1, 0, charge('kept'))
  ledger.charge(account, 1, 0, charge('given back'))
  clock.advance(3600e6)
  ledger.move(account, 1, 'refund', 'the client left', { charge: charge('given back') })
  expect(new Rollups(database, false).of(account)).toEqual([
    {
      ...{ startUs: us('2026-03-01T12:45:00Z'), model: 'svc-k2', keyId: 1 },
      ...{ credits: 1, requests: 1, promptTokens: 7, completionTokens: 2 },
    },
  ])
})
