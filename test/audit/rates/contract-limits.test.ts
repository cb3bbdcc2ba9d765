import { describe, expect, test } from 'vitest'
import type { AttemptRow } from '../../../src/attempt/columns.ts'
import { rateRules } from '../../../src/audit/rules/rates/list.ts'
import type { Contract } from '../../../src/contract/contract.ts'
import { parseContract } from '../../../src/contract/load.ts'
import { parseYaml } from '../../../src/user/yaml.ts'
import { evidenceOf, rowOf } from './evidence.ts'

/** Limits as other services write them: of any length, of a calendar that begins at other times, of requests in flight. */

async function decide(id: string, rows: readonly AttemptRow[], contract: Contract) {
  const evidence = await evidenceOf(rows)
  return rateRules.find((rule) => rule.id === id)!.decide({ ...evidence, contract })
}

const contractOf = (band: string) =>
  parseContract(parseYaml(`name: gateway\nbands:\n  - { name: all, ${band} }\n`), 'gateway.yaml')

/** Requests this far apart; those beyond `most` are rejected. */
const sent = (count: number, gapMs: number, most = count, fromIso = '2026-11-28T10:07:00Z') =>
  Array.from({ length: count }, (_, nth) =>
    rowOf(nth, nth * gapMs, {
      dateS: Math.floor((Date.parse(fromIso) + nth * gapMs) / 1000),
      ...(nth < most ? {} : { status: 429 }),
    }),
  )

describe('a window of any length', () => {
  test.each([
    ['RATE-16', '10s: 5', 11, 100],
    ['RATE-16', 'second: 5', 11, 20],
    ['RATE-16', '5h: 100', 201, 1000],
    ['RATE-17', '7d: 100', 201, 1000],
    ['RATE-17', 'week: 100', 201, 1000],
  ])('%s: more than twice of %s fails', async (rule, limit, count, gapMs) => {
    const contract = contractOf(`requests: { ${limit} }`)
    expect(await decide(rule, sent(count, gapMs), contract)).toMatchObject({
      verdict: 'fail',
      observed: expect.stringContaining(`${count} admitted within`),
    })
  })

  test('as many as it promises, and no more, pass', async () => {
    const contract = contractOf('requests: { 5h: 100 }')
    expect(await decide('RATE-16', sent(120, 1000, 100), contract)).toMatchObject({
      verdict: 'pass',
    })
  })

  test.each([
    ['RATE-16', '10s: 10', 8],
    ['RATE-05', 'minute: 10', 8],
  ])(
    '%s: rejections after 8 of %s, at the start of a record, are no pass',
    async (rule, limit, most) => {
      const contract = contractOf(`requests: { ${limit} }`)
      expect(await decide(rule, sent(25, 100, most), contract)).toMatchObject({
        verdict: 'inconclusive',
        why: expect.stringContaining('after 8 admitted requests or fewer'),
      })
    },
  )

  test('its rejections are not those of the minute', async () => {
    const contract = contractOf('requests: { minute: 60, 10s: 5 }')
    const rows = [rowOf(0, 0, { rateLimit: 60, rateRemaining: 59 }), ...sent(8, 100, 5).slice(1)]
    expect((await decide('RATE-05', rows, contract)).verdict).toBe('not-observed')
  })

  test('a name that is no length is refused with its path', () => {
    expect(() => contractOf('requests: { fortnight: 5 }')).toThrow(/bands\.0\.requests\.fortnight/)
    expect(() => contractOf('requests: { month: 5 }')).toThrow(/calendar/)
  })

  test('a wrong limit has the path that the file wrote', () => {
    expect(() => contractOf('requests: { week: 0 }')).toThrow(
      'bands.0.requests.week: expected 1 or more; got 0',
    )
    expect(() => contractOf('requests: { second: many }')).toThrow(
      'bands.0.requests.second: expected a whole number; got "many"',
    )
  })

  test.each([
    ['week: 100, 7d: 200', '7d: expected another length than week has; got 200'],
    ['60s: 5, minute: 60', '60s: expected another length than minute has; got 5'],
    ['24h: 5, 1d: 6', '1d: expected another length than 24h has; got 6'],
  ])('two limits of one length are refused: %s', (written, expected) => {
    expect(() => contractOf(`requests: { ${written} }`)).toThrow(`bands.0.requests.${expected}`)
  })
})

describe('what no limit promises', () => {
  test.each(['RATE-03', 'RATE-04', 'RATE-16', 'RATE-17'])(
    '%s: a window without a limit is said so, and no number of requests is asked for',
    async (rule) => {
      const contract = contractOf('requests: {}')
      expect(await decide(rule, sent(5, 100), contract)).toMatchObject({
        verdict: 'not-observed',
        requires: expect.stringMatching(
          /^a limit of the (?:minute|hour|day) in the contract, which promises none$/,
        ),
      })
    },
  )

  test('the traffic for a window of ten seconds is that of ten seconds', async () => {
    expect(
      await decide('RATE-16', sent(5, 100), contractOf('requests: { 10s: 50 }')),
    ).toMatchObject({
      requires: expect.stringContaining('more than 50 requests of one key in one 10s'),
    })
  })

  test.each(['RATE-05', 'RATE-16', 'RATE-17'])(
    '%s: a rejection of a window without a limit fails nothing',
    { tags: 'whole' },
    async (rule) => {
      const first = rowOf(0, 0, { rateLimit: 10, rateRemaining: 9 })
      const rows = [first, ...sent(14, 100, 10).slice(1)]
      for (const band of ['requests: {}', 'requests: { day: 5000 }'])
        expect((await decide(rule, rows, contractOf(band))).verdict).not.toBe('fail')
    },
  )
})

describe('a window of a calendar', () => {
  const of = (limit: string) => contractOf(`requests: {}, calendar: [{ ${limit} }]`)

  test.each([
    // A week that begins on Sunday: 2026-11-29 is one.
    ['each: week, requests: 30, zone: UTC, begins: sunday', '2026-11-28T23:59:50Z', 'not-observed'],
    ['each: week, requests: 30, zone: UTC', '2026-11-28T23:59:50Z', 'fail'],
    // A day that begins at 08:00.
    ['each: day, requests: 30, zone: UTC, at: "08:00"', '2026-11-28T07:59:50Z', 'not-observed'],
    ['each: day, requests: 30, zone: UTC', '2026-11-28T07:59:50Z', 'fail'],
    [
      'each: day, requests: 30, zone: Asia/Tokyo, at: "17:00"',
      '2026-11-28T07:59:50Z',
      'not-observed',
    ],
    // A month from the day of a subscription on.
    ['each: month, requests: 30, zone: UTC, begins: 15', '2026-11-14T23:59:50Z', 'not-observed'],
    ['each: month, requests: 30, zone: UTC, begins: 15', '2026-11-30T23:59:50Z', 'fail'],
    ['each: month, requests: 30, zone: "+05:30"', '2026-11-30T18:29:50Z', 'not-observed'],
    ['each: minute, requests: 30, zone: UTC', '2026-11-30T18:29:50Z', 'not-observed'],
    ['each: minute, requests: 30, zone: UTC', '2026-11-30T18:29:20Z', 'fail'],
  ])('{ %s } and 40 requests from %s on: %s', { tags: 'whole' }, async (limit, from, is) => {
    const rule = limit.includes('minute') ? 'RATE-16' : 'RATE-17'
    expect((await decide(rule, sent(40, 500, 40, from), of(limit))).verdict).toBe(is)
  })

  test('a day or a time that it cannot begin at is refused', () => {
    for (const wrong of ['begins: 31', 'begins: someday', 'at: "25:00"'])
      expect(() => of(`each: month, requests: 3, zone: UTC, ${wrong}`)).toThrow(/calendar\.0/)
    expect(() => of('each: day, requests: 3, zone: UTC, begins: sunday')).toThrow(/calendar\.0/)
  })

  const month = of('each: month, requests: 30, zone: UTC')

  test('a rejection after 20 of 30 in a month is undecided, as earlier ones may have counted', async () => {
    expect(await decide('RATE-17', sent(25, 500, 20), month)).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringMatching(/20 of 30/),
    })
  })

  test('a rejection after 20 of 30 fails if the record began before the month', async () => {
    const rows = sent(44, 500, 40, '2026-11-30T23:59:50Z')
    expect(await decide('RATE-17', rows, month)).toMatchObject({
      verdict: 'fail',
      observed: expect.stringMatching(/after 2[0-2] that can have been counted/),
    })
  })

  test('a rejection after 20 of 30 fails if the first answer shows that 29 remained', async () => {
    const [first, ...rest] = sent(25, 500, 20)
    const rows = [{ ...first!, rateLimit: 30, rateRemaining: 29 }, ...rest]
    expect(await decide('RATE-17', rows, month)).toMatchObject({ verdict: 'fail' })
  })

  test('a rejection that a full minute explains is not that of the month', async () => {
    const contract = contractOf(
      'requests: { minute: 20 }, calendar: [{ each: month, requests: 30, zone: UTC }]',
    )
    const [first, ...rest] = sent(25, 500, 20)
    const rows = [{ ...first!, rateLimit: 30, rateRemaining: 29 }, ...rest]
    expect((await decide('RATE-17', rows, contract)).verdict).toBe('not-observed')
  })
})

describe('requests in flight', () => {
  const promised = contractOf('requests: { minute: 600 }, in_flight: 8')

  /** So many streams of 4 s that begin 20 ms apart, of these keys in turns. */
  const streams = (count: number, keys: readonly string[] = ['key-a']) =>
    Array.from({ length: count }, (_, nth) =>
      rowOf(nth, nth * 20, {
        closedUs: nth * 20_000 + 4_000_000,
        streamed: 1,
        keyFp: keys[nth % keys.length]!,
      }),
    )

  test('more than the promised number at the same time are no pass', async () => {
    expect(await decide('RATE-03', streams(12), promised)).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringContaining('admitted as number 9 in flight'),
    })
  })

  test('the promised number, and that of each of two keys, does not', {
    tags: 'whole',
  }, async () => {
    expect((await decide('RATE-03', streams(8), promised)).verdict).toBe('pass')
    const two = streams(16, ['key-a', 'key-b'])
    expect((await decide('RATE-03', two, promised)).verdict).toBe('pass')
  })

  test('a stream whose end the client saw late is not in flight any more', async () => {
    const rows = [
      ...streams(8),
      // Sent as the first one ends.
      rowOf(8, 3990, { headersUs: 3_995_000, closedUs: 5_000_000, streamed: 1 }),
    ]
    expect((await decide('RATE-03', rows, promised)).verdict).toBe('pass')
  })

  test('a number that nothing promises fails nothing', async () => {
    const contract = contractOf('requests: { minute: 600 }')
    expect((await decide('RATE-03', streams(12), contract)).verdict).toBe('not-observed')
  })
})
