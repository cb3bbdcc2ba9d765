import { expect, test } from 'vitest'
import type { AttemptRow } from '../../../src/attempt/columns.ts'
import { rateRules } from '../../../src/audit/rules/rates/list.ts'
import type { Contract } from '../../../src/contract/contract.ts'
import { parseContract } from '../../../src/contract/load.ts'
import { parseYaml } from '../../../src/user/yaml.ts'
import { evidenceOf, rowOf } from './evidence.ts'

async function decide(id: string, rows: readonly AttemptRow[], contract: Contract) {
  const evidence = await evidenceOf(rows)
  return rateRules.find((rule) => rule.id === id)!.decide({ ...evidence, contract })
}

const contractOf = (band: string) =>
  parseContract(parseYaml(`name: gateway\nbands:\n  - ${band}\n`), 'gateway.yaml')

const hourly = contractOf('{ name: all, requests: { minute: 1000, hour: 100, day: 100000 } }')

/** Requests that are all admitted, this far apart, from this moment on. */
const admitted = (count: number, fromIso: string, gapMs: number) => {
  const fromMs = Date.parse(fromIso)
  return Array.from({ length: count }, (_, nth) =>
    rowOf(nth, nth * gapMs, { dateS: Math.floor((fromMs + nth * gapMs) / 1000) }),
  )
}

test('161 of 100 an hour within seconds fail where no hour of any clock begins', async () => {
  expect(await decide('RATE-16', admitted(161, '2026-11-28T10:07:00Z', 50), hourly)).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining('161 admitted within one hour'),
  })
})

test('161 of 100 an hour stay undecided where an hour of some clock may begin', async () => {
  const rows = admitted(161, '2026-11-28T10:29:56Z', 50)
  expect(await decide('RATE-16', rows, hourly)).toMatchObject({ verdict: 'inconclusive' })
})

test('161 of 100 an hour stay undecided if they are so slow that any edge may lie between them', async () => {
  const rows = admitted(161, '2026-11-28T10:01:00Z', 2000)
  expect(await decide('RATE-16', rows, hourly)).toMatchObject({ verdict: 'inconclusive' })
})

test('more than a month allows fail, and the same over its end in the zone do not', {
  tags: 'whole',
}, async () => {
  const monthly = contractOf(
    '{ name: all, requests: {}, calendar: [{ each: month, requests: 30, zone: Asia/Kolkata }] }',
  )
  expect(await decide('RATE-17', admitted(31, '2026-11-28T10:00:00Z', 500), monthly)).toMatchObject(
    {
      verdict: 'fail',
      observed: '31 admitted in the month 2026-11 of Asia/Kolkata',
    },
  )
  // 18:30 UTC is midnight in Kolkata.
  const over = admitted(40, '2026-11-30T18:29:50Z', 500)
  expect(await decide('RATE-17', over, monthly)).toMatchObject({ verdict: 'not-observed' })
  const inUtc = contractOf(
    '{ name: all, requests: {}, calendar: [{ each: month, requests: 30, zone: UTC }] }',
  )
  expect(await decide('RATE-17', over, inUtc)).toMatchObject({ verdict: 'fail' })
})

test('a month that admits as many as it promises, and no more, passes', async () => {
  const monthly = contractOf(
    '{ name: all, requests: {}, calendar: [{ each: month, requests: 30, zone: UTC }] }',
  )
  const rows = admitted(40, '2026-11-28T10:00:00Z', 500).map((row, nth) =>
    nth < 30 ? row : { ...row, status: 429, outcome: 'http_error' as const },
  )
  expect(await decide('RATE-17', rows, monthly)).toMatchObject({ verdict: 'pass' })
})

test('a zone that does not exist is refused with its path', () => {
  expect(() =>
    contractOf(
      '{ name: all, requests: {}, calendar: [{ each: day, requests: 5, zone: Europe/Bonn }] }',
    ),
  ).toThrow(/calendar\.0\.zone/)
})

/** Waves of 12 streams that each take 4 s; a service with 8 slots rejects the others at once. */
const waves = Array.from({ length: 6 }, (_, wave) =>
  Array.from({ length: 12 }, (_, nth) => {
    const atMs = wave * 10_000 + nth * 20
    return nth < 8
      ? rowOf(wave * 12 + nth, atMs, {
          closedUs: atMs * 1000 + 4_000_000,
          // The first answer shows that nothing was used before.
          ...(wave + nth === 0 ? { rateLimit: 60, rateRemaining: 59 } : {}),
        })
      : rowOf(wave * 12 + nth, atMs, { status: 429 })
  }),
).flat()

const perMinute = 'requests: { minute: 60, hour: 100000, day: 1000000 }'

test('rejections of requests beyond a number in flight are no pass if nothing promises that number', async () => {
  expect(await decide('RATE-05', waves, contractOf(`{ name: all, ${perMinute} }`))).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringMatching(/8 in flight/),
  })
})

test('rejections beyond the promised number in flight are not those of the minute', async () => {
  expect(
    await decide('RATE-05', waves, contractOf(`{ name: all, ${perMinute}, in_flight: 8 }`)),
  ).toMatchObject({ verdict: 'not-observed' })
})

test('rejections with fewer in flight than promised, and no window, are no pass', {
  tags: 'whole',
}, async () => {
  const of = (most: number) => contractOf(`{ name: all, requests: {}, in_flight: ${most} }`)
  expect(await decide('RATE-05', waves, of(8))).toMatchObject({ verdict: 'not-observed' })
  expect(await decide('RATE-05', waves, of(11))).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining(
      'with a limit of 11 in flight: only a limit that the contract does not name',
    ),
  })
})

test('a promised number in flight excuses no rejection of a request that was alone', async () => {
  const alone = [...waves.slice(0, 36), rowOf(72, 45_000, { status: 429 })]
  expect(
    await decide('RATE-05', alone, contractOf(`{ name: all, ${perMinute}, in_flight: 8 }`)),
  ).toMatchObject({ verdict: expect.stringMatching(/fail|inconclusive/) })
})

/** A rejection whose Retry-After ends so many seconds after the Date. */
const told = (dateIso: string, untilIso: string) => [
  rowOf(0, 0, {
    ...{ status: 429, dateS: Date.parse(dateIso) / 1000 },
    retryAfter: (Date.parse(untilIso) - Date.parse(dateIso)) / 1000,
  }),
]

test('a Retry-After until a month or a week begins in some zone is right, and others of that length are not', {
  tags: 'whole',
}, async () => {
  const contract = contractOf(`{ name: all, ${perMinute} }`)
  const verdictOf = async (from: string, until: string, by = contract) =>
    (await decide('RATE-19', told(from, until), by)).verdict
  expect(await verdictOf('2026-11-04T09:31:07Z', '2026-12-01T00:00:00Z')).toBe('pass')
  expect(await verdictOf('2026-11-04T09:31:07Z', '2026-11-30T23:00:01Z')).toBe('pass')
  expect(await verdictOf('2026-11-04T09:31:07Z', '2026-11-09T00:00:00Z')).toBe('pass')
  expect(await verdictOf('2026-11-04T09:31:07Z', '2026-11-24T03:40:00Z')).toBe('fail')
  // An epoch of 2026 is no number of seconds.
  const epoch = [rowOf(0, 0, { status: 429, dateS: 1_795_860_000, retryAfter: 1_798_761_600 })]
  expect((await decide('RATE-19', epoch, contract)).verdict).toBe('fail')
  const monthly = contractOf(
    '{ name: all, requests: {}, calendar: [{ each: month, requests: 30, zone: UTC }] }',
  )
  expect(await verdictOf('2026-11-04T09:31:07Z', '2026-11-24T03:40:00Z', monthly)).toBe('pass')
})
