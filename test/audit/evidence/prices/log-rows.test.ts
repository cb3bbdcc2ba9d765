import { expect, test } from 'vitest'
import { logRows } from '../../../../src/audit/evidence/prices/log-rows.ts'

const rowsOf = (text: string) => logRows(text, 'log.csv', () => true)

test('a log of CSV in which a quote is never closed is refused, with its line', () => {
  expect(() => rowsOf('model,cost,note\na,1,"ok"\nb,2,"x\nc,3,y\n')).toThrow(
    '--log: log.csv: the quote in line 3 is never closed, so the lines after it cannot be read.',
  )
  expect(rowsOf('model,cost\n"a\nb",1\n')).toEqual([{ model: 'a\nb', cost: '1' }])
})
