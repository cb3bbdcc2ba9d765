import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { AttemptRow } from '../../../src/attempt/columns.ts'
import { rateRules } from '../../../src/audit/rules/rates/list.ts'
import type { Contract } from '../../../src/contract/contract.ts'
import { defaultContract } from '../../../src/contract/default.ts'
import type { DeploymentProfile } from '../../../src/contract/profile.ts'
import { fixedAnchored, type Limiter } from '../../limits/models/limiters.ts'
import { evidenceOf, rowOf } from './evidence.ts'

async function decide(id: string, rows: readonly AttemptRow[], contract?: Contract) {
  const evidence = await evidenceOf(rows)
  const rule = rateRules.find((candidate) => candidate.id === id)!
  return rule.decide(contract === undefined ? evidence : { ...evidence, contract })
}

/** The answers of a limiter of 20 a minute to requests at these seconds, with correct headers. */
function play(
  limiter: Limiter,
  seconds: readonly number[],
  change: (row: AttemptRow, nth: number) => Partial<AttemptRow> = () => ({}),
): readonly AttemptRow[] {
  let used = 0
  let beganS = Number.NEGATIVE_INFINITY
  return seconds.map((atS, slot) => {
    if (atS - beganS >= 60) {
      beganS = atS
      used = 0
    }
    const admitted = limiter(atS * 1e6 + 500)
    if (admitted) used++
    const row = rowOf(slot, atS * 1000, {
      status: admitted ? 200 : 429,
      creditsRemaining: 90 - slot,
      rateLimit: 20,
      rateRemaining: Math.max(0, 20 - used),
      rateReset: Math.ceil(beganS + 60 - atS),
    })
    return { ...row, ...change(row, slot) }
  })
}

const range = (count: number, fromS: number, gapS: number) =>
  Array.from({ length: count }, (_, nth) => fromS + nth * gapS)

const noReset = () => ({ rateReset: null })

/** 21 in a row, one 12 s later, then polls until the window is over. */
const probing = [...range(21, 0, 0.05), 13, ...range(20, 20, 3)]

describe('each rate rule decides on its own fault', () => {
  test('RATE-03: more than twice the limit in a minute fails', async () => {
    const verdict = await decide(
      'RATE-03',
      play(() => true, range(41, 0, 0.5)),
    )
    expect(verdict).toMatchObject({ verdict: 'fail', observed: '41 admitted within one minute' })
  })

  test('RATE-03: 38 of 20 in the window of one reset fail, though two windows might hold them', async () => {
    const shown = (row: AttemptRow, nth: number) => ({
      ...{ rateRemaining: Math.max(0, 19 - Math.floor(nth / 2)), status: 200 },
      rateReset: Math.ceil(60 - row.sentUs! / 1e6),
    })
    const rows = play(() => true, range(38, 0, 0.5), shown)
    expect(await decide('RATE-03', rows)).toMatchObject({
      verdict: 'fail',
      observed: '35 admitted in it',
    })
  })

  test('RATE-09: values that repeat in the window of one reset fail', async () => {
    const shown = (row: AttemptRow, nth: number) => ({
      ...{ rateRemaining: 19 - Math.floor(nth / 2), rateReset: Math.ceil(60 - row.sentUs! / 1e6) },
    })
    const rows = play(() => true, range(16, 0, 0.5), shown)
    expect(await decide('RATE-09', rows)).toMatchObject({ verdict: 'fail' })
    const honest = (row: AttemptRow, nth: number) => ({
      ...shown(row, nth),
      rateRemaining: 19 - nth,
    })
    expect(
      await decide(
        'RATE-09',
        play(() => true, range(16, 0, 0.5), honest),
      ),
    ).toMatchObject({
      verdict: 'pass',
    })
  })

  test('RATE-12: one key that shows 55 and then 54,460 within a second is inconclusive', async () => {
    const rows = play(
      () => true,
      [0, 0.004, 20, 20.004],
      (_, nth) => ({
        rateReset: nth % 2 === 0 ? [55, 0, 35, 0][nth]! : [0, 54_460, 0, 34_460][nth]!,
      }),
    )
    expect((await decide('RATE-12', rows)).verdict).toBe('inconclusive')
  })

  test('RATE-16: 961 of 600 an hour within minutes are inconclusive without an edge', async () => {
    const rows = play(
      () => true,
      range(961, 0, 0.25),
      () => ({
        ...{ status: 200, rateLimit: 600, rateRemaining: 0, rateReset: null, creditsRemaining: 90 },
      }),
    )
    expect(await decide('RATE-16', rows)).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringContaining('961 admitted within one hour with a limit of 600'),
    })
  })

  test('RATE-03: windows of half a minute fail, because they admit what no minute does', async () => {
    const seconds = Array.from({ length: 6 }, (_, nth) => range(20, nth * 30, 0.5)).flat()
    const verdict = await decide(
      'RATE-03',
      play(() => true, seconds),
    )
    expect(verdict.verdict).toBe('fail')
  })

  test('RATE-03: 21 of 20 at once, twice, fails, but over twenty seconds a bucket allows it', {
    tags: 'whole',
  }, async () => {
    const twice = (gapS: number, apartS: number) =>
      decide(
        'RATE-03',
        play(() => true, [...range(21, 0, gapS), ...range(21, apartS, gapS)], noReset),
      )
    expect(await twice(0.05, 94.5)).toMatchObject({
      verdict: 'fail',
      observed: '21 within one minute, when none of them lets in so many',
    })
    expect(await twice(1, 94.5)).toMatchObject({ verdict: 'pass' })
    expect(await twice(0.05, 20 * 94.5)).toMatchObject({ verdict: 'pass' })
  })

  test('RATE-03: more than the limit fails if the profile says that the limiter is a sliding log', async () => {
    const rows = play(() => true, [...range(15, 0, 0.1), ...range(15, 40, 0.1)], noReset)
    const rule = rateRules.find(({ id }) => id === 'RATE-03')!
    const evidence = await evidenceOf(rows)
    expect((await rule.decide(evidence)).verdict).toBe('pass')
    const profile = {
      answers: { 'G-22': { status: 'answered', is: { algorithm: 'sliding-log' }, evidence: [] } },
    } as unknown as DeploymentProfile
    expect(await rule.decide({ ...evidence, profile })).toMatchObject({ verdict: 'fail' })
  })

  test('RATE-04: a burst of 30 that is fully admitted twice fails', async () => {
    const seconds = [...range(30, 0, 0.001), ...range(30, 200, 0.001)]
    const verdict = await decide(
      'RATE-04',
      play(() => true, seconds),
    )
    expect(verdict).toMatchObject({ verdict: 'fail', observations: 2 })
  })

  test('RATE-04: one burst may cross an edge of windows, so it is inconclusive', async () => {
    const verdict = await decide(
      'RATE-04',
      play(() => true, range(30, 0, 0.001)),
    )
    expect(verdict.verdict).toBe('inconclusive')
  })

  test('RATE-04: a burst that a token bucket explains passes with a note', async () => {
    const verdict = await decide(
      'RATE-04',
      play(() => true, [...range(21, 0, 0.05), ...range(21, 200, 0.05)]),
    )
    expect(verdict).toMatchObject({
      verdict: 'pass',
      note: '2 bursts; one admitted 21 of 20, which a bucket that regains tokens or an edge of windows allows',
    })
  })

  test('RATE-05: a rejection of the twentieth request fails', async () => {
    const verdict = await decide('RATE-05', play(fixedAnchored(19), probing))
    expect(verdict).toMatchObject({ verdict: 'fail', witnesses: [{ slot: 19 }] })
  })

  test('RATE-05: reads do not explain a rejection if a probe found that they do not count', async () => {
    const rows = play(fixedAnchored(20), probing).map((row, nth) =>
      nth > 0 && nth < 6 ? { ...row, endpoint: 'models' as const } : row,
    )
    const rule = rateRules.find(({ id }) => id === 'RATE-05')!
    const evidence = await evidenceOf(rows)
    expect((await rule.decide(evidence)).verdict).toBe('inconclusive')
    const profile = {
      answers: { 'G-18': { status: 'answered', is: { models: 'not counted' }, evidence: [] } },
    } as unknown as DeploymentProfile
    expect((await rule.decide({ ...evidence, profile })).verdict).toBe('fail')
  })

  test('RATE-06: a rate limit reported as 403 fails', async () => {
    const rows = play(fixedAnchored(20), probing, ({ status }) =>
      status === 429 ? { status: 403 } : {},
    )
    expect(await decide('RATE-06', rows)).toMatchObject({
      verdict: 'fail',
      witnesses: [{ slot: 20 }],
    })
  })

  test('RATE-06: a rejection that costs a credit fails', async () => {
    const rows = play(fixedAnchored(20), [...range(21, 0, 0.05), 61])
    expect(await decide('RATE-06', rows)).toMatchObject({ verdict: 'fail' })
  })

  test('RATE-09: counting each request twice fails', async () => {
    const rows = play(fixedAnchored(20), range(8, 0, 1), ({ rateRemaining }) => ({
      rateRemaining: 20 - 2 * (20 - rateRemaining!),
    }))
    expect(await decide('RATE-09', rows)).toMatchObject({
      verdict: 'fail',
      observed: expect.stringContaining('it fell by 2'),
    })
  })

  test('RATE-09: requests whose client left before the head may be counted late', {
    tags: 'whole',
  }, async () => {
    const shown = (slot: number, atMs: number, rateRemaining: number) =>
      rowOf(slot, atMs, { rateLimit: 200, rateRemaining })
    const aborted = (slot: number, atMs: number) => ({
      ...rowOf(slot, atMs),
      ...({ outcome: 'aborted', reason: 'before-headers', status: null } as const),
      ...{ headersUs: null, doneUs: null, rateLimit: null, rateRemaining: null },
      closedUs: atMs * 1000 + 100,
    })
    // The third answer counts the two that were gone before the second was sent.
    const rows = [
      shown(0, 0, 199),
      aborted(1, 10),
      aborted(2, 20),
      shown(3, 30, 198),
      shown(4, 500, 195),
    ]
    expect((await decide('RATE-09', rows)).verdict).toBe('pass')
    const much = rows.with(4, shown(4, 500, 194))
    expect((await decide('RATE-09', much)).verdict).not.toBe('pass')
  })

  test('RATE-09: two counters that alternate fail', async () => {
    const shown = (atS: number, remaining: number) => ({ atS, remaining })
    // Every value twice, in two bursts that no edge of windows can cross both.
    const burst = (fromS: number) =>
      Array.from({ length: 24 }, (_, nth) => shown(fromS + nth * 0.05, 19 - (nth >> 1)))
    const rows = [shown(0, 19), shown(1, 12), ...burst(200), ...burst(407)].map(
      ({ atS, remaining }, slot) =>
        rowOf(slot, atS * 1000, {
          creditsRemaining: 90 - slot,
          rateLimit: 20,
          rateRemaining: remaining,
          rateReset: 30,
        }),
    )
    expect(await decide('RATE-09', rows)).toMatchObject({
      verdict: 'fail',
      expected: expect.stringContaining('of a burst show'),
    })
  })

  test('RATE-09: a counter for each of three replicas fails', async () => {
    const rows = play(
      () => true,
      range(15, 0, 0.1),
      (_, nth) => ({
        rateRemaining: 19 - Math.floor(nth / 3),
      }),
    )
    expect(await decide('RATE-09', rows)).toMatchObject({ verdict: 'fail' })
  })

  test('RATE-10: a rejection with five remaining fails', async () => {
    const rows = play(fixedAnchored(20), probing, ({ status }) =>
      status === 429 ? { rateRemaining: 5 } : {},
    )
    expect(await decide('RATE-10', rows)).toMatchObject({
      verdict: 'fail',
      observed: 'remaining 5 of 20',
    })
  })

  test('RATE-11: a remaining count above the requests that are admitted fails', async () => {
    const rows = play(fixedAnchored(20), probing, ({ rateRemaining }) => ({
      rateRemaining: rateRemaining! + 5,
    }))
    expect(await decide('RATE-11', rows)).toMatchObject({ verdict: 'fail' })
  })

  test('RATE-12: milliseconds on a rejection and seconds elsewhere fail', async () => {
    const rows = play(fixedAnchored(20), [...range(15, 0, 0.5), ...range(6, 8, 0.1)], (row) =>
      row.status === 429 ? { rateReset: row.rateReset! * 1000 } : {},
    )
    expect(await decide('RATE-12', rows)).toMatchObject({ verdict: 'fail' })
  })

  test('RATE-09: a burst whose first answer shows more than the limit fails', async () => {
    const seconds = [...range(10, 0, 0.001), ...range(10, 200, 0.001)]
    const rows = play(fixedAnchored(20), seconds, ({ rateRemaining }) => ({
      rateRemaining: rateRemaining! + 5,
    }))
    expect(await decide('RATE-09', rows)).toMatchObject({
      verdict: 'fail',
      observed: '1 answer',
      witnesses: [{ slot: 0, shows: 'remaining 24' }],
    })
  })

  test('RATE-12: if two units fit, the unit from the profile decides', async () => {
    const rows = play(fixedAnchored(20), range(3, 0, 1), () => ({ rateReset: 30 }))
    const rule = rateRules.find(({ id }) => id === 'RATE-12')!
    const evidence = await evidenceOf(rows)
    expect((await rule.decide(evidence)).verdict).toBe('inconclusive')
    const profile = {
      answers: { 'G-21': { status: 'answered', is: { unit: 'delta-s' }, evidence: [] } },
    } as unknown as DeploymentProfile
    expect(await rule.decide({ ...evidence, profile })).toMatchObject({ note: 'unit: delta-s' })
  })

  test('RATE-12: a reset beyond the window fails', async () => {
    const rows = play(fixedAnchored(20), range(3, 0, 1), () => ({ rateReset: 900_000 }))
    expect(await decide('RATE-12', rows)).toMatchObject({
      verdict: 'fail',
      witnesses: [{ slot: 0 }],
    })
  })

  test('RATE-13: a reset after which nothing is admitted fails', async () => {
    const rows = play(fixedAnchored(20), [...range(15, 0, 0.5), ...range(6, 8, 0.1), 25], (row) =>
      row.sentUs! < 24e6 ? { rateReset: Math.ceil(10 - row.sentUs! / 1e6) } : {},
    )
    expect(await decide('RATE-13', rows)).toMatchObject({
      verdict: 'fail',
      witnesses: [{}, { slot: 21 }],
    })
  })

  test.each([
    ['pass', 200],
    ['fail', 429],
  ])(
    'RATE-13: after the pause of audit-limits the rule can decide %s for status %i',
    async (said, status) => {
      const scenario = readFileSync('scenarios/audit-limits.yaml', 'utf8')
      const pauseS = Number(/name: until-reset,.* duration: (\d+)s/.exec(scenario)?.[1])
      // Thirty at once, a read of the balance early in the pause, and one after it.
      const rows = play(fixedAnchored(20), [...range(30, 0, 0.001), 1, pauseS], ({ slot }) => {
        if (slot === 30) return { endpoint: 'credits', status: 200 }
        return slot === 31 && status === 429 ? { status, outcome: 'http_error' } : {}
      })
      expect((await decide('RATE-13', rows)).verdict).toBe(said)
    },
  )

  test('RATE-13: a window that reopens early fails if all of it is free again at once', {
    tags: 'whole',
  }, async () => {
    // The record begins in mid-window, so a bucket or a log may explain its decisions.
    const reopened = async (rateRemaining: number) => {
      const rows = [3, 2, 1, 0].map((left, nth) =>
        rowOf(nth, nth * 100, { rateLimit: 20, rateRemaining: left, rateReset: 17 }),
      )
      rows.push(
        rowOf(4, 1_000, { status: 429, rateLimit: 20, rateRemaining: 0, rateReset: 16 }),
        rowOf(5, 5_000, { rateLimit: 20, rateRemaining, rateReset: 60 }),
      )
      const profile = {
        answers: { 'G-21': { status: 'answered', is: { unit: 'delta-s' }, evidence: [] } },
      } as unknown as DeploymentProfile
      const rule = rateRules.find(({ id }) => id === 'RATE-13')!
      return rule.decide({ ...(await evidenceOf(rows)), profile })
    }
    expect(await reopened(18)).toMatchObject({
      verdict: 'fail',
      observed: 'admitted 10999 ms before it',
      witnesses: [{ slot: 4 }, { slot: 5, shows: 'admitted before that instant, 18 remaining' }],
    })
    expect((await reopened(1)).verdict).toBe('not-observed')
  })

  test('RATE-14: answers that show the count of another key fail', { tags: 'whole' }, async () => {
    const counts = { a: 0, b: 0 }
    const rows = (shownBy: (own: 'a' | 'b') => 'a' | 'b') =>
      play(
        () => true,
        range(15, 0, 0.05),
        (_, nth) => {
          const own = nth % 3 === 0 ? 'b' : 'a'
          counts[own]++
          return {
            keyFp: `key-${own}`,
            account: own,
            rateRemaining: 20 - counts[shownBy(own)],
          }
        },
      )
    expect(
      await decide(
        'RATE-14',
        rows((own) => (own === 'a' ? 'b' : 'a')),
      ),
    ).toMatchObject({
      verdict: 'fail',
      observed: expect.stringContaining(
        'as if the 2 requests of another key in between counted here',
      ),
    })
    counts.a = 0
    counts.b = 0
    expect(
      (
        await decide(
          'RATE-14',
          rows((own) => own),
        )
      ).verdict,
    ).toBe('pass')
  })

  test('RATE-14: one counter for keys of two accounts fails', async () => {
    const rows = play(
      () => true,
      range(12, 0, 0.2),
      (_, nth) => (nth % 3 === 0 ? { keyFp: 'key-b', account: 'b' } : { account: 'a' }),
    )
    expect(await decide('RATE-14', rows)).toMatchObject({ verdict: 'fail' })
  })

  test('RATE-15: a separate counter for each endpoint fails', async () => {
    const rows = play(
      () => true,
      range(12, 0, 0.2),
      (_, nth) => ({
        endpoint: nth % 3 === 0 ? 'messages' : 'chat',
        rateRemaining: nth % 3 === 0 ? 19 - nth / 3 : 19 - (nth - Math.ceil(nth / 3)),
      }),
    )
    expect(await decide('RATE-15', rows)).toMatchObject({ verdict: 'fail' })
  })

  test('RATE-16: an hour limit that is never enforced fails', async () => {
    const contract: Contract = {
      ...defaultContract,
      bands: [
        {
          name: 'all',
          minBalance: 1,
          maxBalance: null,
          requests: { minute: 20, hour: 50, day: 400 },
        },
      ],
    }
    const seconds = Array.from({ length: 6 }, (_, nth) => range(20, nth * 61, 0.5)).flat()
    const verdict = await decide(
      'RATE-16',
      play(() => true, seconds),
      contract,
    )
    expect(verdict).toMatchObject({ verdict: 'fail', observed: '120 admitted within one hour' })
  })

  test('RATE-18: a limit that changes while the balance stays in its band fails', async () => {
    const rows = play(
      () => true,
      range(6, 0, 1),
      (_, nth) => ({ rateLimit: nth < 3 ? 60 : 20 }),
    )
    expect(await decide('RATE-18', rows)).toMatchObject({
      verdict: 'fail',
      witnesses: [{ slot: 2 }, { slot: 3 }],
    })
  })

  test('RATE-18: a limit that follows a balance across an edge while the key shows neither accuses nobody', async () => {
    const rows = play(
      () => true,
      [0, ...range(20, 1, 1), 120],
      (_, nth) =>
        nth === 0
          ? { rateLimit: 60, creditsRemaining: 110 }
          : nth === 21
            ? { rateLimit: 20, creditsRemaining: 89 }
            : { rateLimit: null, rateRemaining: null, creditsRemaining: null },
    )
    expect((await decide('RATE-18', rows)).verdict).not.toBe('fail')
  })

  test('RATE-02, -18: bands with the same limit accuse nobody whose balance is in another of them', async () => {
    const band = (minBalance: number, maxBalance: number | null) => ({
      ...{ name: `${minBalance}+`, minBalance, maxBalance },
      requests: { minute: 20, hour: 2000, day: 4000 },
    })
    const contract: Contract = { ...defaultContract, bands: [band(1, 50), band(51, null)] }
    const rows = play(() => true, range(12, 0, 20))
    for (const rule of ['RATE-02', 'RATE-18'])
      expect((await decide(rule, rows, contract)).verdict).toBe('not-observed')
  })

  test('RATE-19: a Retry-After that ends in another rejection fails', {
    tags: 'whole',
  }, async () => {
    const waiting = (retryAfter: number) =>
      play(fixedAnchored(20), probing, ({ status }) => (status === 429 ? { retryAfter } : {}))
    expect(await decide('RATE-19', waiting(0))).toMatchObject({
      verdict: 'fail',
      observed: 'retry-after 0, and 429 again 12 s later',
    })
    expect((await decide('RATE-19', waiting(59))).verdict).toBe('pass')
  })

  test('RATE-19: an epoch or milliseconds in Retry-After fail', { tags: 'whole' }, async () => {
    for (const retryAfter of [1_767_225_600, 42_000]) {
      const rows = play(fixedAnchored(20), probing, ({ status }) =>
        status === 429 ? { retryAfter } : {},
      )
      expect(await decide('RATE-19', rows)).toMatchObject({
        verdict: 'fail',
        observed: `${retryAfter}`,
      })
    }
  })
})
