/** Properties that fail, whose output `test/fast-check.test.ts` reads. */
import fc from 'fast-check'
import { expect, test } from 'vitest'

const text = (letters: number) => fc.string({ minLength: letters, maxLength: letters })
const parameters = { seed: 7, endOnFailure: true }

test('of a large case', () => {
  const large = fc.array(fc.record({ text: text(500) }), { minLength: 60 })
  const isOther = fc.property(large, (all) => {
    expect(all).toEqual(all.map((each) => ({ text: `${each.text}!` })))
  })
  fc.assert(isOther, parameters)
})

test('of a text of many letters, awaited', async () => {
  const isEmpty = fc.asyncProperty(text(60_000), async (long) => {
    expect(await Promise.resolve(long)).toBe('')
  })
  await fc.assert(isEmpty, parameters)
})

test('of a case of 435 letters', () => {
  const isOf = fc.property(fc.constant('0123456789abcde'.repeat(29)), () => false)
  fc.assert(isOf, parameters)
})
