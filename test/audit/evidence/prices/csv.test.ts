import { expect, test } from 'vitest'
import { csvRows } from '../../../../src/audit/evidence/prices/csv.ts'

const rows = (text: string) => csvRows(text, 'log.csv')

test('a row has the cells of the head by name, and short rows have empty ones', () => {
  expect(rows('id;cost\n1;2\n\n;\n3')).toEqual([
    { id: '1', cost: '2' },
    { id: '3', cost: '' },
  ])
  expect(rows('{"id": 1,\n"cost": 2}')).toBe(null)
  expect(rows('id\n1')).toBe(null)
})

test('an amount with a comma and without quotes is refused, and not cut to its first digits', () => {
  expect(() => rows('id,cost\na,"1,234.50"\nb,1,234.50')).toThrow(
    '--log: log.csv, line 3: expected the 2 cells of the head; got 3. A cell with a delimiter must be in quotes.',
  )
  expect(rows('id,cost\na,"1,234.50",\n')).toEqual([{ id: 'a', cost: '1,234.50' }])
})

test('two columns with one name are refused where they differ', () => {
  expect(rows('id,cost,id\n1,2,1')).toEqual([{ id: '1', cost: '2' }])
  expect(() => rows('cost,cost\n1,2')).toThrow(
    '--log: log.csv, line 2: two columns named "cost" have different values. Give each column a name of its own.',
  )
})
