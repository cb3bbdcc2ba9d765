import { expect, test } from 'vitest'
import { parseDurations, parseLengths } from '../../src/service/distribution.ts'

test.each([
  'lognormal(300ms,)',
  'lognormal(300ms,0x10)',
  'lognormal(300ms,Infinity)',
  'lognormal(300ms,1e400)',
])('%s has no sigma', (text) => {
  expect(() => parseDurations(text, '--ttft')).toThrow(
    '--ttft: expected a time such as 20ms, or constant(a), uniform(a,b), exponential(mean), normal(mean,deviation), lognormal(median,sigma); got',
  )
})

test('the shapes of a time are read', () => {
  expect(parseDurations('lognormal(300ms, 0.4)', '--ttft')).toEqual({
    ...{ kind: 'lognormal', median: 300_000, sigma: 0.4 },
  })
  expect(parseDurations('constant(20ms)', '--itl')).toEqual(parseDurations('20ms', '--itl'))
  expect(parseLengths('lognormal(40,0)', '--tokens')).toMatchObject({ sigma: 0 })
})
