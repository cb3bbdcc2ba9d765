import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonValues } from '../../../src/store/import/whole/json-values.ts'

test('values that follow each other are split, and rests are none', () => {
  expect(jsonValues('{"a": "}\\""}\n[1, {}] {}')).toEqual(['{"a": "}\\""}', '[1, {}]', '{}'])
  for (const text of ['{"a": 1', '{} x', '{} "a"', '1', ']', '{"a": "b}'])
    expect(jsonValues(text), text).toBeNull()
  expect(jsonValues(' \n')).toEqual([])
})

test('any objects and lists, written one after the other, are found again', () => {
  const value = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()))
  fc.assert(
    fc.property(fc.array(value), fc.boolean(), (values, isPretty) => {
      const texts = values.map((each) => JSON.stringify(each, null, isPretty ? 1 : 0))
      expect(jsonValues(texts.join('\n'))).toEqual(texts)
    }),
  )
})
