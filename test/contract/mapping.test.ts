import { expect, test } from 'vitest'
import { camelKeys, merged, snake, valueAt, withoutNulls } from '../../src/contract/mapping.ts'

test('a field of a contract is `costCredits` in code and `cost_credits` in its file', () => {
  expect(camelKeys({ cost_credits: [{ per_s: null, a_b_c: 'x_y' }], id: 1 })).toEqual({
    costCredits: [{ perS: null, aBC: 'x_y' }],
    id: 1,
  })
  expect([snake('costCredits'), snake('aBC'), snake('id')]).toEqual(['cost_credits', 'a_b_c', 'id'])
})

test('a mapping is merged by fields, and anything else replaces what was there', () => {
  const base = { a: { b: 1, c: [1, 2] }, d: 1 }
  expect(merged(base, { a: { c: [3] }, e: null })).toEqual({ a: { b: 1, c: [3] }, d: 1, e: null })
  expect(merged(base, { a: undefined, d: { x: 1 } })).toEqual({ a: base.a, d: { x: 1 } })
  expect(merged(base, undefined)).toBe(base)
  expect(merged(base, JSON.parse('{"__proto__": {"d": 2}, "toString": 1}'))).toEqual(base)
})

test('null leaves out a section and a field, and is a value deeper', () => {
  const band = { from: 1, to: null }
  expect(withoutNulls({ a: null, b: { c: null, d: { e: null }, f: [band, null] } })).toEqual({
    b: { d: { e: null }, f: [band, null] },
  })
  expect([withoutNulls(null), withoutNulls([null])]).toEqual([null, [null]])
})

test('the value at a path is undefined where the path ends', () => {
  const value = { a: [{ b: 1 }] }
  expect(valueAt(value, ['a', 0, 'b'])).toBe(1)
  expect(valueAt(value, [])).toBe(value)
  expect([valueAt(value, ['a', 1, 'b']), valueAt(value, ['x', 'y'])]).toEqual([
    undefined,
    undefined,
  ])
})
