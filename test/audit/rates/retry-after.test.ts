import { describe, expect, test } from 'vitest'
import type { AttemptRow } from '../../../src/attempt/columns.ts'
import { flags } from '../../../src/attempt/flags.ts'
import { rateRules } from '../../../src/audit/rules/rates/list.ts'
import { mostReplayed, Replays } from '../../../src/audit/rules/rates/replays.ts'
import type { Contract } from '../../../src/contract/contract.ts'
import { parseContract } from '../../../src/contract/load.ts'
import { parseYaml } from '../../../src/user/yaml.ts'
import { evidenceOf, rowOf } from './evidence.ts'

/** When a service says that it admits again: by Retry-After and by resets, in windows of any length. */

async function decide(id: string, rows: readonly AttemptRow[], contract: Contract) {
  const evidence = await evidenceOf(rows)
  return rateRules.find((rule) => rule.id === id)!.decide({ ...evidence, contract })
}
const contractOf = (text: string) =>
  parseContract(parseYaml(`name: gateway\n${text}\n`), 'gateway.yaml')
const banded = (band: string, more = '') => contractOf(`bands:\n  - ${band}\n${more}`)
const dateS = Date.parse('2026-11-04T09:31:07Z') / 1000
const told = (retryAfter: number, more: Partial<AttemptRow> = {}) => [
  rowOf(0, 0, { status: 429, dateS, retryAfter, ...more }),
]
const hours = 3600
const days = 24 * hours

const windows: Readonly<
  Record<string, { readonly contract: Contract; readonly right: number; readonly wrong: number }>
> = {
  'a minute': {
    contract: banded('{ name: all, requests: { minute: 60 } }'),
    ...{ right: 45, wrong: 45_000_000 },
  },
  'five hours': {
    contract: banded('{ name: all, requests: { 5h: 40 } }'),
    ...{ right: 4 * hours, wrong: 40 * days },
  },
  'a rolling week': {
    contract: banded('{ name: all, requests: { minute: 60, 7d: 900 } }'),
    ...{ right: 5 * days + 61, wrong: 30 * days + 61 },
  },
  'a rolling month': {
    contract: banded('{ name: all, requests: { 30d: 900 } }'),
    ...{ right: 23 * days + 61, wrong: 80 * days },
  },
  'a month of the calendar that begins on the 15th': {
    contract: banded(
      '{ name: all, requests: {}, calendar: [{ each: month, requests: 30, zone: UTC, begins: 15 }] }',
    ),
    ...{ right: 10 * days + 14 * hours + 1733, wrong: 70 * days },
  },
}

test.each(Object.entries(windows))(
  'RATE-19: a Retry-After within %s is right, and one far beyond it is wrong',
  async (_, { contract, right, wrong }) => {
    expect((await decide('RATE-19', told(right), contract)).verdict).toBe('pass')
    expect((await decide('RATE-19', told(wrong), contract)).verdict).toBe('fail')
  },
)

test.each([
  ['milliseconds', 45_000],
  ['an epoch', dateS + 45],
  ['a negative number', -3],
])(
  'RATE-19: %s where the limit of a minute is named are no seconds',
  { tags: 'whole' },
  async (_, retryAfter) => {
    const contract = banded('{ name: all, requests: { minute: 60 } }')
    const named = { rateLimit: 60, rateRemaining: 0 }
    expect((await decide('RATE-19', told(retryAfter, named), contract)).verdict).toBe('fail')
    expect((await decide('RATE-19', told(45, named), contract)).verdict).toBe('pass')
  },
)

/** Answers of a service that names its limit, with the seconds until its reset. */
const resetting = (limit: number, untilS: readonly number[]) =>
  untilS.map((reset, nth) =>
    rowOf(nth, nth * 10_000, {
      ...{ dateS: dateS + nth * 10, rateLimit: limit, rateRemaining: limit - nth - 1 },
      rateReset: reset,
    }),
  )
const falling = (from: number, count = 6) =>
  Array.from({ length: count }, (_, nth) => from - nth * 10)

describe('RATE-12: a reset', () => {
  test.each([
    [
      'at the end of a month of the calendar',
      '{ name: all, requests: { minute: 60 }, calendar: [{ each: month, requests: 10000, zone: UTC }] }',
      ...[10_000, 26 * days, 80 * days],
    ],
    [
      'at the end of a week of the calendar',
      '{ name: all, requests: {}, calendar: [{ each: week, requests: 5000, zone: UTC }] }',
      ...[5000, 5 * days, 40 * days],
    ],
    ['within a rolling week', '{ name: all, requests: { 7d: 900 } }', 900, 6 * days, 20 * days],
    ['within five hours', '{ name: all, requests: { 5h: 40 } }', 40, 4 * hours, 40 * hours],
    ['within a minute', '{ name: all, requests: { minute: 60 } }', 60, 55, 20 * hours],
  ] as const)(
    '%s is no further than its window',
    { tags: 'whole' },
    async (_, band, limit, right, wrong) => {
      const contract = banded(
        band,
        'headers: { rate_limit: [x-limit], rate_remaining: [x-remaining], rate_reset: [x-reset] }\nreset_format: delta-s',
      )
      const verdictOf = async (from: number) =>
        (await decide('RATE-12', resetting(limit, falling(from)), contract)).verdict
      expect([await verdictOf(right), await verdictOf(wrong)]).toEqual(['pass', 'fail'])
    },
  )

  test.each([
    ['delta-s', (s: number) => s],
    ['delta-ms', (s: number) => s * 1000],
    ['epoch-s', (s: number, nth: number) => dateS + nth * 10 + s],
    ['epoch-ms', (s: number, nth: number) => (dateS + nth * 10 + s) * 1000],
  ] as const)(
    'in the form %s is read as the contract promises',
    { tags: 'whole' },
    async (format, write) => {
      const contract = banded(
        '{ name: all, requests: { hour: 600 } }',
        `headers: { rate_limit: [x-limit], rate_remaining: [x-remaining], rate_reset: [x-reset] }\nreset_format: ${format}`,
      )
      const rows = (from: number) =>
        resetting(
          600,
          falling(from).map((s, nth) => write(s, nth)),
        )
      expect((await decide('RATE-12', rows(3000), contract)).verdict).toBe('pass')
      expect((await decide('RATE-12', rows(30 * days), contract)).verdict).toBe('fail')
    },
  )

  test('in another unit than the contract promises is told', { tags: 'whole' }, async () => {
    const contract = banded(
      '{ name: all, requests: { hour: 600 } }',
      'headers: { rate_limit: [x-limit], rate_remaining: [x-remaining], rate_reset: [x-reset] }\nreset_format: delta-s',
    )
    const rows = resetting(
      600,
      falling(3000).map((s) => s * 1000),
    )
    expect(await decide('RATE-12', rows, contract)).toMatchObject({
      verdict: 'fail',
      expected: 'resets in delta-s, at most a window ahead',
      observed: 'values that fit delta-ms',
    })
  })
})

describe.each(['10s', 'minute'])('after a rejection in a window of %s', (window) => {
  const ms = window === '10s' ? 10_000 : 60_000
  const contract = banded(
    `{ name: all, requests: { ${window}: 5 } }`,
    'headers: { rate_limit: x-limit, rate_remaining: x-left, rate_reset: x-reset }',
  )
  const shows = (slot: number, atMs: number, status: number) =>
    rowOf(slot, atMs, {
      ...{ status, dateS: dateS + Math.floor(atMs / 1000), rateLimit: 5 },
      ...{ rateRemaining: status === 429 ? 0 : Math.max(0, 4 - slot) },
      ...{ rateReset: Math.ceil((ms - (atMs % ms)) / 1000), flags: flags.malformedRateReset },
      ...(status === 429 ? { retryAfter: Math.ceil((ms - (atMs % ms)) / 1000) } : {}),
    })
  const played = (then: number) => [
    ...[0, 1, 2, 3, 4].map((slot) => shows(slot, 100 * slot, 200)),
    ...[shows(5, 600, 429), shows(6, 1.6 * ms, then)],
  ]

  test.each(['RATE-13', 'RATE-19'])('%s knows who waited in vain', async (rule) => {
    expect((await decide(rule, played(200), contract)).verdict).toBe('pass')
    expect((await decide(rule, played(429), contract)).verdict).toBe('fail')
  })
})

test('RATE-13: a reset after a rejection in one of several windows may be that of the minute, unless a limit says which', async () => {
  const contract = banded(
    '{ name: all, requests: { 10s: 5, minute: 20 } }',
    'headers: { rate_limit: x-limit, rate_remaining: x-left, rate_reset: x-reset }',
  )
  const played = (rateLimit: number | null, rateReset: number, then: number) => [
    ...[0, 1, 2, 3, 4, 5].map((slot) =>
      rowOf(slot, 100 * slot, {
        ...{ status: slot === 5 ? 429 : 200, dateS, rateLimit, rateRemaining: null },
        ...{ rateReset, flags: flags.malformedRateReset },
      }),
    ),
    rowOf(6, 16_000, { status: then, dateS: dateS + 16, rateLimit }),
  ]
  const verdict = async (...of: Parameters<typeof played>) =>
    (await decide('RATE-13', played(...of), contract)).verdict
  expect(await verdict(null, 50, 200)).toBe('not-observed')
  expect(await verdict(5, 9, 200)).toBe('pass')
  expect(await verdict(5, 9, 429)).toBe('fail')
})

describe('rejections of many keys', () => {
  const contract = banded('{ name: all, requests: { minute: 60 } }')
  const early = 40

  /** One rejection of each key; that of the fortieth, or none, is rejected again after its Retry-After. */
  const ofKeys = (isEarly: boolean) => [
    ...Array.from({ length: 60 }, (_, nth) =>
      rowOf(nth, nth, { status: 429, dateS, retryAfter: 5, ...ofKey(nth) }),
    ),
    ...(isEarly
      ? [rowOf(60, 30_000, { status: 429, dateS: dateS + 30, retryAfter: 5, ...ofKey(early) })]
      : []),
  ]
  const ofKey = (nth: number) => ({ keyFp: `key-${nth}`, account: `account-${nth}` })

  test('RATE-19 replays each of them', async () => {
    expect(await decide('RATE-19', ofKeys(false), contract)).toEqual({
      verdict: 'pass',
      observations: 60,
    })
    expect((await decide('RATE-19', ofKeys(true), contract)).verdict).toBe('fail')
  })

  test('are replayed for the first 24 keys, and for others up to a number of requests', () => {
    const replays = new Replays()
    const ofLength = (length: number) => ({ requests: { length } as never })
    const long = ofLength(mostReplayed)
    expect(Array.from({ length: 24 }, () => replays.takes(long))).not.toContain(false)
    expect(replays.takes(ofLength(mostReplayed / 2))).toBe(true)
    expect(replays.note('keys')).toBe(null)
    expect(replays.takes(long)).toBe(false)
    expect(replays.takes(ofLength(1))).toBe(true)
    expect(replays.note('keys')).toBe('only 26 of 27 keys were replayed')
  })
})

test('RATE-13: a reset at the end of a month is not too late for a minute without a limit', async () => {
  const contract = banded(
    '{ name: all, calendar: [{ each: month, requests: 10000, zone: UTC }] }',
    'headers: { rate_limit: [x-limit], rate_remaining: [x-remaining], rate_reset: [x-reset] }\nreset_format: delta-s',
  )
  const rows = resetting(10_000, falling(3 * days, 8)).map((each, nth) =>
    nth < 6 ? each : { ...each, status: 429, rateRemaining: 0 },
  )
  expect((await decide('RATE-13', rows, contract)).verdict).not.toBe('fail')
})
