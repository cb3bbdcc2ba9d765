import { expect, test } from 'vitest'
import { resolveKeys } from '../../src/run/send/keys.ts'
import { chatScenario } from './target.ts'

const scenario = chatScenario('  - { name: steady, load: constant, rate: 1/s, duration: 1s }')

test('a key is taken from its variable, trimmed', () => {
  expect(resolveKeys(scenario, {}, { ASSAY_API_KEY: ' sk-one\n' })).toEqual([
    { name: 'default', account: 'default', weight: 1, key: 'sk-one' },
  ])
})

test('a key that is invalid in a header is refused before a run, with its source only', () => {
  for (const value of ['sk-one\nsk-two', 'sk-ü', 'sk-\u0000']) {
    expect(() => resolveKeys(scenario, {}, { ASSAY_API_KEY: value })).toThrow(
      /^The key default is not valid in a header: expected printable ASCII on one line in the variable ASSAY_API_KEY; got something else, which is not shown here\. Put one API key there, and nothing more\.$/,
    )
  }
  expect(() => resolveKeys(scenario, {}, { ASSAY_API_KEY: ' ' })).toThrow('has no text')
  expect(() => resolveKeys(scenario, {}, {})).toThrow('ASSAY_API_KEY, which is not set')
})
