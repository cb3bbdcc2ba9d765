import { expect, test } from 'vitest'
import { searchText } from '../../src/cli/runs/live-block.ts'
import { safeRateText, searchShape } from '../../src/report/safe-rate.ts'

const hold = { step: 'hold', of: 'requests', ratePerS: 10, requests: 800 } as const

test('the countdown of a search counts while a trial is sent', () => {
  const at = (s: number) => searchText({ ...hold, endsUs: 120e6 }, s * 1e6)
  expect([at(20), at(98), at(119)]).toEqual([
    'hold 10.0/s with 800 requests, 80.0 s; about 100.0 s to go',
    'hold 10.0/s with 800 requests, 80.0 s; about 22.0 s to go',
    'hold 10.0/s with 800 requests, 80.0 s; about 1.00 s to go',
  ])
  expect(at(121)).toBe('hold 10.0/s with 800 requests, 80.0 s; ends soon')
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
    /^A trial held at 8\.0\/s, but a rate at or below it failed, 4\.0\/s failed/,
  )
  expect(wordsOf([trial(4, { result: 'failed', why: 'misses' })], 4, null)).toMatch(
    /^No tested rate was sustained/,
  )
})
