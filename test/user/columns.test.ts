import { expect, test } from 'vitest'
import { columnsOf, filled } from '../../src/user/columns.ts'

test.each([
  ['gpt-4', 5],
  ['日本語', 6],
  ['モデルa', 7],
  ['한국', 4],
  ['a😀b', 4],
  ['e\u0301te', 3],
  ['', 0],
])('a terminal shows %j in %i columns', (text, columns) => {
  expect(columnsOf(text)).toBe(columns)
  expect(filled(text, 10)).toBe(`${text}${' '.repeat(10 - columns)}`)
})

test('a text wider than its column stays whole', () => {
  expect(filled('日本語', 4)).toBe('日本語')
})
