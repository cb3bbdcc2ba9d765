import { expect, test } from 'vitest'
import { admittedRate, answerLines } from '../../src/cli/runs/bench.ts'
import { searchText } from '../../src/cli/runs/live-block.ts'
import { safeRateText } from '../../src/report/safe-rate.ts'
import { countText, failedRate, heldRate, rateText } from '../../src/report/search-words.ts'
import { searchShape } from '../../src/report/stored-search.ts'

const hold = { step: 'hold', of: 'requests', ratePerS: 10, requests: 800, reset: null } as const

test('the countdown of a search counts while a trial is sent', () => {
  const at = (s: number) => searchText({ ...hold, endsUs: 120e6 }, s * 1e6)
  expect([at(20), at(98), at(119)]).toEqual([
    'confirmation 10.0/s with 800 requests, 80.0 s; about 100.0 s to go',
    'confirmation 10.0/s with 800 requests, 80.0 s; about 22.0 s to go',
    'confirmation 10.0/s with 800 requests, 80.0 s; about 1.00 s to go',
  ])
  expect(at(121)).toBe('confirmation 10.0/s with 800 requests, 80.0 s; ends soon')
})

const trial = (ratePerS: number, change: object = {}) => ({
  ...{
    phase: `search ${ratePerS}`,
    step: 'bracket',
    ratePerS,
    planned: 100,
    sent: 100,
    judged: 100,
  },
  ...{ missed: 0, result: 'held', why: 'held', lastedUs: 10e6, ...change },
})

function wordsOf(trials: readonly object[], failedPerS: number | null, lowPerS: number | null) {
  const safeRate = { kind: 'bracket', lowPerS, failedPerS, needs: null }
  return safeRateText(searchShape.parse({ phase: 's', trials, safeRate }), false).because[0]
}

test.each([
  [{ why: 'misses', missed: 9 }, '9 of 100 missed'],
  [{ why: 'misses', missed: 9, limited: 8 }, '8 of 100 got 429'],
  [{ why: 'backlog' }, 'its backlog grew'],
  [{ why: 'margin', missed: 2, mostMissed: 0.063 }, 'up to 6.3 % may miss'],
])('a rate that failed says why: %j', (change, reason) => {
  const trials = [trial(4), trial(6.5, { result: 'failed', ...change })]
  expect(wordsOf(trials, 6.5, 4)).toContain(`6.5/s failed after 10.0 s (${reason})`)
})

test('trials that held above a rate that failed are not called none', () => {
  const trials = [trial(4, { result: 'failed', why: 'misses', missed: 9 }), trial(8)]
  expect(wordsOf(trials, 4, null)).toMatch(
    /^A trial sustained 8\.0\/s, but a rate at or below it failed, 4\.0\/s failed/,
  )
  expect(wordsOf([trial(4, { result: 'failed', why: 'misses' })], 4, null)).toMatch(
    /^No tested rate was sustained/,
  )
})

test('the last lines of bench name a rate limit that ended the search, and no other cause', () => {
  const answer = (limited: number) =>
    answerLines(
      {
        phase: 's',
        objective: '95 % of first tokens within 1 s',
        trials: [trial(8), trial(16, { result: 'failed', why: 'misses', missed: 60, limited })],
        safeRate: { kind: 'none', because: 'no hold', failedPerS: 16 },
      },
      false,
    )
  expect(answer(58)).toBe(
    "No rate is safe (95 % of first tokens within 1 s).\nThe service's rate limit ended the search: 58 of 60 misses were 429.\n",
  )
  expect(answer(2)).toBe('No rate is safe (95 % of first tokens within 1 s).\n')
})

test('the rate that a limit of a minute admits is that of its minute, however fast it was used up', () => {
  const used = [
    { ...trial(8), sent: 60, lastedUs: 8e6 },
    { ...trial(50), sent: 440, lastedUs: 9e6 },
    { ...trial(35), sent: 70, limited: 70, lastedUs: 2e6 },
  ]
  const { trials } = searchShape.parse({ phase: 's', trials: used })
  expect(admittedRate(trials)).toBe('8.3/s')
  const longer = trials.map((each) => ({ ...each, lastedUs: 40e6 }))
  // 500 in 120 s are 4.17/s, and no more is asked for.
  expect(admittedRate(longer)).toBe('4.1/s')
})

test('a search that waits for a limit says for what and until when', () => {
  const reset = { atUs: 60e6, unixMs: Date.UTC(2026, 10, 29, 10, 5, 12) }
  expect(searchText({ ...hold, endsUs: 120e6, reset }, 17e6)).toBe(
    "waits until 10:05:12 UTC for the service's rate limit to reset, 43.0 s left; then confirmation 10.0/s with 800 requests, 80.0 s",
  )
})

const limited = {
  ...{
    phase: 's',
    objective: '95 % of first tokens within 1 s',
    limit: { perS: 1, decides: true },
  },
  trials: [trial(16, { result: 'failed', why: 'misses', missed: 4, limited: 4 })],
}

test('the limit of a service is the answer of a search that had no time to confirm a rate below it', () => {
  const needs = { budget: 'quick', ratePerS: 0.7, requests: 800 }
  const safeRate = { kind: 'bracket', lowPerS: null, failedPerS: 16, needs }
  const { summary, because } = safeRateText(searchShape.parse({ ...limited, safeRate }), false)
  expect(summary).toBe('Limited to about 60 requests a minute (1.0/s) by the service')
  expect(because.slice(0, 2)).toEqual([
    'The requests that it admitted met the objective (95 % of first tokens within 1 s). No rate below the limit is confirmed yet.',
    'To confirm 0.70/s takes 800 requests: 19 min 03 s more (budget quick).',
  ])
  const perHour = { ...limited, limit: { perS: 20 / 3600, decides: true }, safeRate }
  expect(safeRateText(searchShape.parse(perHour), false).summary).toBe(
    'Limited to about 20 requests an hour (0.0056/s) by the service',
  )
})

test('a safe rate below a limit of the service names the limit, and calls no rate above it unknown', () => {
  const safeRate = { kind: 'held', heldPerS: 0.7, safePerS: 0.64, failedPerS: 16, budget: 'quick' }
  const { because } = safeRateText(searchShape.parse({ ...limited, safeRate }), false)
  expect(because).toContain(
    'The service limits this client to about 60 requests a minute (1.0/s): the limit, not its speed, decides.',
  )
  expect(because.join(' ')).not.toContain('nothing is known')
})

test('a rate that is claimed or sent is never above what held, nor one that failed below what failed', () => {
  expect(heldRate(10.53)).toBe('10/s')
  expect(heldRate(10.58, 'standard')).toBe('10.5/s')
  expect(heldRate(26.9, 'standard')).toBe('26/s')
  expect(heldRate(10.586, 'thorough')).toBe('10.5/s')
  expect(heldRate(0.3)).toBe('0.30/s')
  expect(failedRate(10.53)).toBe('11/s')
  expect(failedRate(6.5)).toBe('6.5/s')
  const safeRate = { kind: 'held', heldPerS: 10.95, safePerS: 10.53, failedPerS: 11.4 }
  const found = { ...safeRate, budget: 'quick', needs: null }
  const hold = trial(10.95, { step: 'hold', mostMissed: 0.00454, missed: 0 })
  const { summary, because } = safeRateText(
    searchShape.parse({ phase: 's', trials: [hold], safeRate: found }),
    false,
  )
  expect(summary).toMatch(/^Safe rate: 10\/s /)
  expect(because[0]).toContain('Sustained 10/s')
  expect(because[0]).toContain('at most 0.46 % with 99 % confidence')
  expect(because[1]).toContain('12/s failed')
})

test('no rate is 0, a small one is not, and one request is one', () => {
  expect(rateText(0)).toBe('0/s')
  expect(rateText(4e-7)).toBe('0.00000040/s')
  expect(countText(1 / 3600, 'requests')).toBe('about 1 request an hour (0.00028/s)')
})
