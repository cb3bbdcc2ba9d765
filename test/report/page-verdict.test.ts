import { expect, test } from 'vitest'
import { readPageVerdict, stoppedText } from '../../src/report/page-verdict.ts'

test('an early end is explained in a sentence, for any stored reason', () => {
  expect(stoppedText('budget')).toBe(
    'Ended early: the rest of max_credits does not cover another request.',
  )
  expect(stoppedText('unreachable')).toBe(
    'The service was never reached: no request got a connection.',
  )
  expect(stoppedText('constructor')).toBe('Ended early: constructor.')
  expect(readPageVerdict('{"stopped":"budget"}').stopped).toBe('budget')
  expect(readPageVerdict('{').stopped).toBe(null)
})

test('a rate that failed once is named, and an invalid run never has a good safe rate', () => {
  const sweep = {
    phase: 'climb',
    safePerS: 320,
    failedPerS: null,
    trials: [
      { ratePerS: 320, held: false, goodput: 0.803 },
      { ratePerS: 320, held: true, goodput: 0.999 },
    ],
  }
  const checkOf = (verdict: string, change: object = {}) =>
    readPageVerdict(JSON.stringify({ verdict, sweeps: [{ ...sweep, ...change }] })).sweeps[0]
  expect(checkOf('valid')).toEqual({
    tone: 'warn',
    name: 'Safe rate of climb:',
    figure: '320 requests/s',
    remedy:
      '320 requests/s failed once (goodput 80.3 %), and held when it was tested again: the limit may be there.',
  })
  const all = { trials: [{ ratePerS: 320, held: true }] }
  expect(checkOf('valid', all)).toMatchObject({
    tone: 'good',
    remedy: 'No rate failed: the limit is above the tested rates.',
  })
  expect(checkOf('invalid', all)).toMatchObject({
    tone: 'warn',
    name: 'Rate of climb (unreliable):',
  })
})
