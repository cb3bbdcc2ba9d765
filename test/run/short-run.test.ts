import { expect, test } from 'vitest'
import { phaseLoads } from '../../src/run/plan/loads.ts'
import { isShort } from '../../src/run/record/short-run.ts'
import { chatScenario } from './target.ts'

const isShortWith = (phases: string, more = '', step = '') => {
  const scenario = chatScenario(phases, more, step)
  return isShort(scenario, phaseLoads(scenario))
}

test.each([
  ['{ name: a, load: constant, rate: 20/s, duration: 102s }', true],
  ['{ name: a, load: constant, rate: 20/s, duration: 103s }', false],
  ['{ name: a, load: constant, rate: 1000/s, duration: 1h, max_requests: 2048 }', true],
  ['{ name: a, load: constant, rate: { from: 0/s, to: 40/s }, duration: 102s }', true],
  ['{ name: a, load: concurrency, users: 1, max_requests: 1 }', true],
  ['{ name: a, load: concurrency, users: 1, max_requests: 2049 }', false],
  ['{ name: a, load: concurrency, users: 1, duration: 1s }', false],
  ['{ name: a, load: saturate, connections: 1, duration: 1s }', false],
])('a run of the phase %s is short: %s', (phase, short) => {
  expect(isShortWith(`  - ${phase}`)).toBe(short)
})

test('the requests of all phases count, and each turn of a conversation', () => {
  const half = '  - { name: a, load: constant, rate: 10/s, duration: 102s }'
  expect(isShortWith(`${half}\n${half.replace('name: a', 'name: b')}`)).toBe(true)
  expect(
    isShortWith(`${half}\n${half.replace('name: a', 'name: b').replace('102s', '103s')}`),
  ).toBe(false)
  expect(isShortWith(half, '', ', session: { turns: 2 }')).toBe(true)
  expect(isShortWith(half, '', ', session: { turns: 3 }')).toBe(false)
})
