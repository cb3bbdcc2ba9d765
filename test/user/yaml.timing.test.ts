// @module-tag whole
import { expect, test } from 'vitest'
import { parseDocument } from 'yaml'
import { parseContract } from '../../src/contract/load.ts'
import { yamlDocument } from '../../src/user/yaml.ts'

/** The least of three, in milliseconds: the others waited for the machine. */
const leastMs = (work: () => unknown) =>
  Math.min(
    ...[1, 2, 3].map(() => {
      const startMs = performance.now()
      work()
      return performance.now() - startMs
    }),
  )

test('a mapping of 20,000 names takes little more than without a look for those that stand twice', () => {
  const text = Array.from({ length: 20_000 }, (_, at) => `acct-${at}: { label: A }\n`).join('')
  const plain = leastMs(() => parseDocument(text, { uniqueKeys: false }))
  // Each name beside all before it took ten times as long.
  expect(leastMs(() => yamlDocument(text)) / plain).toBeLessThan(2.5)
})

test('a contract of four times as many models takes about four times as long', () => {
  const contractOf = (models: number) => ({
    models: Array.from({ length: models }, (_, at) => ({ id: `m${at}`, cost_credits: 1 })),
  })
  const [few, many] = [contractOf(5000), contractOf(20_000)]
  const of = (contract: unknown) => leastMs(() => parseContract(contract, 'a.yaml'))
  // Each model beside all before it took sixteen times as long.
  expect(of(many) / of(few)).toBeLessThan(8)
})
