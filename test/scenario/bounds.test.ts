import { expect, test } from 'vitest'
import { parseScenario } from '../../src/scenario/parse.ts'
import { parseThreshold } from '../../src/scenario/threshold.ts'
import { tokensOf } from '../../src/schedule/draw.ts'
import { RandomStream } from '../../src/schedule/random.ts'

const scenarioOf = (step: string, phase = 'load: constant, rate: 1/s, duration: 1s') =>
  parseScenario(
    `name: n\nquestion: q?\nmodel: m\nsteps: { chat: { endpoint: chat, ${step} } }\nphases: [{ name: p, ${phase} }]\n`,
    's.yaml',
  )

test.each([
  ['prompt: { synthetic: 1e9 }', undefined, 'from 1 to 10,000,000'],
  ['prompt: { synthetic: 10, pool: 1000000000 }', undefined, 'from 1 to 1,000,000'],
  ['prompt: { synthetic: { empirical: [20000000] } }', undefined, 'from 1 to 10,000,000'],
  ['prompt: { synthetic: { normal: { mean: 1e9, sd: 1 } } }', undefined, 'at most 10,000,000'],
  [
    'prompt: { synthetic: { lognormal: { median: 1e9, sigma: 1 } } }',
    undefined,
    'at most 10,000,000',
  ],
  ['weight: 1e308', undefined, 'a weight of at most 1,000,000,000'],
  [
    'path: "/a HTTP/1.1\\r\\nX-Evil: 1"',
    undefined,
    'a path that begins with /, of printable ASCII',
  ],
  ['prompt: x', 'load: gamma, burstiness: 1e-300, rate: 1/s, duration: 1s', 'a shape from 0.001'],
])('a step with %s is refused', (step, phase, summary) => {
  expect(() => scenarioOf(step, phase)).toThrow(summary)
})

test('100,000 spaces in a threshold are refused at once', () => {
  expect(parseThreshold(`a${' '.repeat(100_000)}b`)).toBe('a condition of at most 1000 characters')
})

test.each([
  ['keys: { default: { env: A, weight: 1e308 } }', 'a weight of at most 1,000,000,000'],
  ['keys: { "a\\e[2J": { env: A } }', 'expected a name without control characters'],
  ['keys: { a: { env: A, account: "b\\u202e" } }', 'expected a name without control characters'],
  ['objectives: { __proto__: 1 }', '__proto__ cannot be a name; use another.'],
])('a scenario with %s is refused', (line, summary) => {
  const text = `name: n\nquestion: q?\nmodel: m\n${line}\nsteps: { chat: { endpoint: chat } }\nphases: [{ name: p, load: constant, rate: 1/s, duration: 1s }]\n`
  expect(() => parseScenario(text, 's.yaml')).toThrow(summary)
})

test.each([
  ['__proto__', '__proto__ cannot be a name; use another.'],
  ['"a\\e]0;x\\a"', 'expected a name without control characters'],
])('a step or a phase named %s is refused', (name, summary) => {
  const text = (step: string, phase: string) =>
    `name: n\nquestion: q?\nmodel: m\nsteps: { ${step}: { endpoint: chat } }\nphases: [{ name: ${phase}, load: constant, rate: 1/s, duration: 1s }]\n`
  expect(() => parseScenario(text(name, 'p'), 's.yaml')).toThrow(summary)
  if (name !== '__proto__')
    expect(() => parseScenario(text('chat', name), 's.yaml')).toThrow(summary)
})

test('a step may have the name of a member of every object', () => {
  const text = `name: n\nquestion: q?\nmodel: m\nsteps: { constructor: { endpoint: chat }, toString: { endpoint: chat } }\nphases: [{ name: valueOf, load: constant, rate: 1/s, duration: 1s }]\n`
  const { steps, phases } = parseScenario(text, 's.yaml')
  expect(steps.map(({ name }) => name)).toEqual(['constructor', 'toString'])
  expect(phases.map(({ name }) => name)).toEqual(['valueOf'])
})

test('the name and the question of a scenario have no escape sequences and marks of direction', () => {
  const text = `name: "n\\e[31m\\u202em"\nquestion: "Is it\\e]0;title\\a safe\\u200f?"\nmodel: m\nsteps: { chat: { endpoint: chat } }\nphases: [{ name: p, load: constant, rate: 1/s, duration: 1s }]\n`
  const { name, question } = parseScenario(text, 's.yaml')
  expect([name, question]).toEqual(['n m', 'Is it safe ?'])
})

test('a drawn length is at most that of a number that is written', () => {
  const random = new RandomStream(1, 'lengths')
  const lengths = { kind: 'lognormal', median: 1e7, sigma: 50 } as const
  const drawn = Array.from({ length: 200 }, (_, at) => tokensOf(lengths, random, at))
  expect([Math.min(...drawn), Math.max(...drawn)]).toEqual([1, 10_000_000])
})

test.each([
  ['ttft: 0.4us', 'objectives.ttft'],
  ['ttft: 0.0001us/input_token', 'objectives.ttft'],
  [`response: ${'9'.repeat(310)}s`, 'objectives.response'],
])('an objective of %s is refused, and no limit of 0', (objective, field) => {
  expect(() =>
    parseScenario(
      `{ name: a, question: b, model: m, objectives: { ${objective} }, steps: { s: { endpoint: chat } }, phases: [{ name: p, load: constant, rate: 1/s, duration: 1s }] }`,
      'a.yaml',
    ),
  ).toThrow(field)
})
