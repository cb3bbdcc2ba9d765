import { expect, test } from 'vitest'
import { parseScenario } from '../../src/scenario/parse.ts'
import { parseThreshold } from '../../src/scenario/threshold.ts'

const scenarioOf = (step: string, phase = 'load: constant, rate: 1/s, duration: 1s') =>
  parseScenario(
    `name: n\nquestion: q?\nmodel: m\nsteps: { chat: { endpoint: chat, ${step} } }\nphases: [{ name: p, ${phase} }]\n`,
    's.yaml',
  )

test.each([
  ['prompt: { synthetic: 1e9 }', undefined, 'from 1 to 10,000,000'],
  ['prompt: { synthetic: 10, pool: 1000000000 }', undefined, 'from 1 to 1,000,000'],
  ['weight: 1e308', undefined, 'a weight of at most 1,000,000,000'],
  [
    'path: "/a HTTP/1.1\\r\\nX-Evil: 1"',
    undefined,
    'a path that begins with /, of printable ASCII',
  ],
  ['prompt: x', 'load: gamma, burstiness: 1e-300, rate: 1/s, duration: 1s', 'a shape from 0.001'],
])('a step with %s is refused', (step, phase, says) => {
  expect(() => scenarioOf(step, phase)).toThrow(says)
})

test('100,000 spaces in a threshold are refused at once', () => {
  expect(parseThreshold(`a${' '.repeat(100_000)}b`)).toBe('a threshold of at most 1000 characters')
})
