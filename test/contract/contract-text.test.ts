import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { contractText, loadContract } from '../../src/contract/load.ts'
import { readNumber } from '../../src/money/rational.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-contract-text-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A price as people write it: up to 15 digits, as a number, a text, a fraction or with an exponent. */
const digits = fc.bigInt({ min: 1n, max: 999_999_999_999_999n })
const price = fc.oneof(
  fc
    .tuple(digits, fc.integer({ min: 0, max: 15 }))
    .map(([whole, point]) =>
      `${whole}`
        .padStart(point + 1, '0')
        .replace(new RegExp(`(\\d{${point}})$`), point === 0 ? '$1' : '.$1'),
    ),
  digits.map((whole) => `"${whole}"`),
  fc.tuple(digits, digits).map(([above, below]) => `"${above}/${below}"`),
  fc.tuple(digits, fc.integer({ min: -18, max: 3 })).map(([whole, power]) => `${whole}.0e${power}`),
)

test('the contract in evidence has each price to the last digit of its file', {
  tags: 'whole',
}, () => {
  fc.assert(
    fc.property(price, price, (input, output) => {
      const own = join(folder, 'own.yaml')
      const kept = join(folder, 'kept.json')
      writeFileSync(
        own,
        `extends: none\ncurrency: USD\nmodels: [{ id: m, round: { at: request, digits: 6, mode: half_up }, price: { input: ${input}, output: ${output} } }]\n`,
      )
      writeFileSync(
        kept,
        contractText(own, (file) => file),
      )
      const prices = (path: string) => loadContract(path).prices!.models[0]!.price
      expect(prices(kept)).toEqual(prices(own))
      expect(prices(kept).input!.price).toEqual(readNumber(input.replaceAll('"', '')))
    }),
    { numRuns: 300, seed: 58 },
  )
})
