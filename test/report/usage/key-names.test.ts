import { expect, test } from 'vitest'
import { fingerprintOf } from '../../../src/attempt/fingerprint.ts'
import { parseKeyNames } from '../../../src/report/usage/key-names.ts'

test('names are assigned to fingerprints, which may be all digits', () => {
  expect(
    parseKeyNames(`3f2a91c04d7e: billing (a1b2)\n012345678901: ${'n'.repeat(60)}\n`, 'n'),
  ).toEqual({
    '3f2a91c04d7e': 'billing (a1b2)',
    '012345678901': 'n'.repeat(60),
  })
})

const key = 'sk-live-1'
const letters = 'has no name of 1 to 60 letters'

test.each([
  [`${key}: billing`, 'names.yaml: entry 1 does not begin with a fingerprint'],
  [`3f2a91c04d7e: one\n${key}: two`, 'names.yaml: entry 2 does not begin with a fingerprint'],
  [`${fingerprintOf(key)}: ${key}`, 'names.yaml: entry 1 has the key itself as its name'],
  [`- ${key}`, 'names.yaml is not a list of names'],
  [key, 'names.yaml is not a list of names'],
  ['', 'names.yaml is not a list of names'],
  [`${key}: [`, 'names.yaml is not YAML'],
  ['0123456789ab: one\n3f2a91c04d7e: one', 'names.yaml: entry 2 has the name of another key'],
  [`0123456789ab: ''`, `names.yaml: entry 1 ${letters}`],
  [`0123456789ab: ${'n'.repeat(61)}`, `names.yaml: entry 1 ${letters}`],
  ['0123456789ab: [one]', `names.yaml: entry 1 ${letters}`],
])('an invalid list of names is refused without quoting it: %#', (text, summary) => {
  const refuse = () => parseKeyNames(text, 'names.yaml')
  expect(refuse).toThrow(`${summary}. Expected a line for each key`)
  expect(refuse).not.toThrow(/sk-live-1/)
})
