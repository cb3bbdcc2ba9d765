import { expect, test } from 'vitest'
import { fieldsOf, numeric, unreadableNamed } from '../../src/credits/fields.ts'

test('a field has its name in lower case with underscores, its path, and the names around it', () => {
  expect(fieldsOf({ byDay: { usedCredits: 1 }, lines: [{ left: 2 }] })).toEqual([
    { name: 'by_day', path: 'byDay', within: '', value: { usedCredits: 1 } },
    { name: 'lines', path: 'lines', within: '', value: [{ left: 2 }] },
    { name: 'used_credits', path: 'byDay.usedCredits', within: ' by_day', value: 1 },
  ])
  expect(fieldsOf({ lines: [{ left: 2 }] }, 'and lines').at(-1)).toEqual({
    ...{ name: 'left', path: 'lines.left', within: ' lines', value: 2 },
  })
})

test('a name has at most 100 letters, and a body 50 levels', () => {
  expect(fieldsOf({ ['a'.repeat(101)]: 1 })[0]!.name).toBe('a'.repeat(100))
  let deep: Parameters<typeof fieldsOf>[0] = { left: 1 }
  for (let depth = 0; depth < 60; depth++) deep = { deeper: deep }
  expect(fieldsOf(deep)).toHaveLength(50)
})

test('a text of digits that is no number is unreadable, and a number or a word is not', () => {
  const found = (value: string | number) => unreadableNamed(fieldsOf({ left: value }), /left/)
  expect(['1,499', '97', 97, 'none', '-1.5', '1e3'].map(found)).toEqual([
    ...['1,499', null, null, null, null, '1e3'],
  ])
  expect(['97', '-1.5', 97, '1,499', '9007199254740992', null].map(numeric)).toEqual([
    ...[97, -1.5, 97, null, null, null],
  ])
})
