import { expect, test } from 'vitest'
import type { ScenarioError } from '../../src/scenario/faults.ts'
import { parseScenario } from '../../src/scenario/parse.ts'

/** Sentences about a scenario of one step and one phase, without their path. */
function faultsOf(phase: string, { step = '', more = '' } = {}): readonly string[] {
  const text = `name: n
question: q
model: svc-k2
steps:
  chat: { endpoint: chat${step} }
phases:
  - { name: steady, ${phase} }
${more}`
  try {
    parseScenario(text, 'a.yaml')
  } catch (error) {
    return (error as ScenarioError).message.split('\n').slice(1)
  }
  return []
}

const plain = 'load: poisson, rate: 5/s, duration: 1s'

test('ranges that stand on their head are faults', () => {
  expect(
    faultsOf('load: concurrency, users: 2, think: { min: 5s, max: 900ms }, duration: 1s', {
      step: ', prompt: { synthetic: { uniform: { min: 20, max: 10 } } }',
    }),
  ).toEqual([
    '  line 5, steps.chat.prompt.synthetic.uniform.max: expected max to be at least min, 20; came 10.',
    '  line 7, phases[0].think.max: expected max to be at least min, "5s"; came "900ms".',
  ])
  expect(faultsOf('load: sweep, start: 100/s, max: 600/min, trial: 1s')).toEqual([
    '  line 7, phases[0].max: expected max to be at least start, "100/s"; came "600/min".',
  ])
  expect(faultsOf('load: sweep, start: 10/s, max: 600/min, trial: 1s')).toEqual([])
})

test('a phase that would send nothing is a fault', () => {
  const zero = '  line 7, phases[0].rate: a rate of 0 sends nothing; ask for more.'
  expect(faultsOf('load: poisson, rate: 0/s, duration: 1s')).toEqual([zero])
  expect(faultsOf('load: constant, rate: { from: 0/s, to: 0/min }, duration: 1s')).toEqual([zero])
  expect(faultsOf('load: constant, rate: { from: 0/s, to: 5/s }, duration: 1s')).toEqual([])
  const day = (weight: number) =>
    faultsOf(`load: day, rate: 5/s, duration: 24s, weights: [${Array(24).fill(weight).join(', ')}]`)
  expect(day(0)).toEqual(['  line 7, phases[0].weights: weights that are all 0 send nothing.'])
  expect(day(1)).toEqual([])
  const stages = (to: string) =>
    faultsOf(
      `load: stages, stages: [{ rate: 0/s, duration: 1s }, { rate: { from: 0/s, to: ${to} }, duration: 1s }]`,
    )
  expect(stages('0/min')).toEqual([
    '  line 7, phases[0].stages: stages that are all 0 send nothing.',
  ])
  expect(stages('1/min')).toEqual([])
  expect(faultsOf('load: poisson, rate: 5/s, duration: 0s')).toEqual([
    '  line 7, phases[0].duration: expected a duration above 0; came "0s".',
  ])
})

test('what cannot be sent as it is written is a fault of its line', () => {
  expect(faultsOf(plain, { step: ", headers: { Host: x, 'a b': y, x-fine: '1' }" })).toEqual([
    '  line 5, steps.chat.headers.Host: header Host is set by the transport from the base URL and the body; leave it out.',
    '  line 5, steps.chat.headers.a b: header "a b": a name is letters, digits and -, a value printable ASCII on one line.',
  ])
  expect(
    faultsOf(plain, { step: ' }\n  list: { endpoint: models, wrong: malformed-json' }),
  ).toEqual([
    '  line 6, steps.list.wrong: malformed-json needs a request with a body; use it with chat or messages.',
  ])
})

test('one mistake is told once, and without what follows from it', () => {
  expect(faultsOf(plain, { step: ' }\n  other: { endpoint: chatt, stream: true' })).toEqual([
    '  line 6, steps.other.endpoint: expected one of chat, messages, models, credits, other; came "chatt".',
  ])
  expect(faultsOf(plain, { more: 'ca_file: []' })).toEqual([
    '  line 8, ca_file: expected a path of a PEM file; came [].',
  ])
})

test('gaps of streams take no filter, for they have no rows', () => {
  const more = "thresholds: ['chat.itl{model=a}.p95 < 1s']"
  expect(faultsOf(plain, { step: ', stream: true', more })).toEqual([
    '  line 8, thresholds[0]: gaps of streams have no rows of their own, so itl takes no filter; name a step.',
  ])
})

test('a key that was written into a scenario is never shown', () => {
  for (const keys of [
    'keys: { k: sk-secret }',
    'keys: sk-secret',
    'keys: { k: { env: [sk-secret] } }',
  ]) {
    const faults = faultsOf(plain, { more: keys })
    expect(faults.length).toBe(1)
    expect(faults.join()).toContain('which is not shown here')
    expect(faults.join()).not.toContain('sk-secret')
  }
})
