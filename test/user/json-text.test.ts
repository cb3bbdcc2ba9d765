import { expect, test } from 'vitest'
import { withoutMark } from '../../src/user/byte-order-mark.ts'
import { jsonOf } from '../../src/user/json.ts'

test('a byte order mark before JSON is skipped, and a second one is not', () => {
  expect(jsonOf('\ufeff{"a":"\ufeffb"}')).toEqual({ a: '\ufeffb' })
  expect(jsonOf('\ufeff\ufeff{}')).toBeUndefined()
  expect(jsonOf('\ufeff')).toBeUndefined()
  expect(withoutMark('\ufeff\ufeffa')).toBe('\ufeffa')
})

test('a text that is not JSON is undefined, and null is null', () => {
  expect([jsonOf('{'), jsonOf(''), jsonOf('null')]).toEqual([undefined, undefined, null])
})
