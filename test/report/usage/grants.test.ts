import { expect, test } from 'vitest'
import { parseGrants } from '../../../src/report/usage/grants.ts'
import { utc } from '../usage-events.ts'

test('grants have their names, credits, and the local day on which they expire', () => {
  const text = `
- { name: Standard, credits: 4200, expires: 2026-12-01 }
- { name: Starter, credits: 0 }
- { name: Free, credits: 0.5, expires: null }`
  expect(parseGrants(text, 'grants.yaml', 'America/New_York')).toEqual([
    { name: 'Standard', credits: 4_200, expiresUs: utc(2026, 12, 1, 5) },
    { name: 'Starter', credits: 0, expiresUs: null },
    { name: 'Free', credits: 0.5, expiresUs: null },
  ])
})

test.each([
  ['- [', /^grants\.yaml is not YAML: .+$/m],
  ['- { name: a }', /^grants\.yaml is not a list of grants:[\s\S]*credits[\s\S]*Expected e\.g\./],
  [`- { name: '', credits: 5 }`, /is not a list of grants/],
  ['- { name: a, credits: -1 }', /is not a list of grants/],
  ['- { name: a, credits: 5, until: 2026-12-01 }', /is not a list of grants/],
  ['- { name: a, credits: 5, expires: soon }', /"soon" is not a date/],
])('a text that is not a list of grants is refused: %s', (text, summary) => {
  expect(() => parseGrants(text, 'grants.yaml', 'UTC')).toThrow(summary)
})
