import { expect, test } from 'vitest'
import { readRunVerdict, stoppedText } from '../../src/report/run-verdict.ts'

test('why a run ended early is told in a sentence, whatever a store may hold', () => {
  expect(stoppedText('budget')).toBe(
    'Ended early: what was left of max_credits paid for no further request.',
  )
  expect(stoppedText('unreachable')).toBe(
    'The service was never reached: no request got a connection.',
  )
  expect(stoppedText('constructor')).toBe('Ended early: constructor.')
  expect(readRunVerdict('{"stopped":"budget"}').stopped).toBe('budget')
  expect(readRunVerdict('{').stopped).toBe(null)
})
