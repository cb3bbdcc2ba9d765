import { expect, test } from 'vitest'
import { admittedRate, answerLines } from '../../src/cli/runs/bench.ts'
import { searchText } from '../../src/cli/runs/live-block.ts'
import { safeRateText, searchShape } from '../../src/report/safe-rate.ts'

const hold = { step: 'hold', of: 'requests', ratePerS: 10, requests: 800 } as const

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
  [{ why: 'backlog' }, 'its backlog grew'],
  [{ why: 'margin', missed: 2, mostMissed: 0.063 }, 'up to 6.30 % may miss'],
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
  expect(admittedRate(longer)).toBe('4.2/s')
})
