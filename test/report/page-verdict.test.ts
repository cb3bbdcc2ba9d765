import { expect, test } from 'vitest'
import { readPageVerdict, stoppedText } from '../../src/report/page-verdict.ts'

test('an early end is explained in a sentence, for any stored reason', () => {
  expect(stoppedText('budget')).toBe(
    'Ended early: the rest of max_credits or max_cost does not cover another request.',
  )
  expect(stoppedText('unreachable')).toBe(
    'The service was never reached: no request got a connection.',
  )
  expect(stoppedText('constructor')).toBe('Ended early: constructor.')
  expect(readPageVerdict('{"stopped":"budget"}').stopped).toBe('budget')
  expect(readPageVerdict('{').stopped).toBe(null)
})
