import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { csvDelimiter, csvRecords, firstCells } from '../../src/user/csv.ts'

const cellsOf = (text: string, delimiter = ',') =>
  [...csvRecords([text], delimiter)].map(({ cells }) => cells)

describe('records of CSV', () => {
  test.each<readonly [string, string, readonly (readonly string[])[]]>([
    ['an empty first cell', ',5.0,100\n', [['', '5.0', '100']]],
    [
      'empty cells everywhere',
      'a,,\n,,\n',
      [
        ['a', '', ''],
        ['', '', ''],
      ],
    ],
    [
      'delimiters, quotes and lines in quotes',
      '"a,""b""\n c",1\n2,3',
      [
        ['a,"b"\n c', '1'],
        ['2', '3'],
      ],
    ],
    ['spaces around quotes', '1, "a,b" ,2', [['1', 'a,b', '2']]],
    ['text behind a closing quote', '"abc"def,1', [['abcdef', '1']]],
    ['text and a quote behind a closing quote', '"a" b"c,1', [['a b"c', '1']]],
    ['a quote inside a plain cell', '5" disk,1', [['5" disk', '1']]],
    [
      'lines that end with CR, LF or both',
      'a,b\r\n1,2\r3,4\n',
      [
        ['a', 'b'],
        ['1', '2'],
        ['3', '4'],
      ],
    ],
    ['empty lines', '\n\na\n\nb\n', [['a'], ['b']]],
    ['a quoted empty cell alone', '""\n', [['']]],
    ['a quote that nothing closes', 'a,"b\nc', [['a', 'b\nc']]],
  ])('%s', (_, text, cells) => {
    expect(cellsOf(text)).toEqual(cells)
  })

  test('each record has its text and the line at which it begins', () => {
    expect([...csvRecords(['a\r\n"b\r\nc",1\n\nd'], ',')]).toEqual([
      { cells: ['a'], text: 'a', line: 1, openQuoteLine: null },
      { cells: ['b\r\nc', '1'], text: '"b\r\nc",1', line: 2, openQuoteLine: null },
      { cells: ['d'], text: 'd', line: 5, openQuoteLine: null },
    ])
  })

  test('a record says in which line the quote opens that nothing closes', () => {
    const lines = (text: string) =>
      [...csvRecords([text], ',')].map(({ openQuoteLine }) => openQuoteLine)
    expect(lines('a,b\n"1\n2","3\n4,5\n')).toEqual([null, 3])
    expect(lines('a,b\n1,"2\n3""\n')).toEqual([null, 2])
  })

  test('what is written as CSV is read again, in chunks of any size', () => {
    const cell = fc.string({ unit: fc.constantFrom(...'a ,;"\r\n') })
    const records = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1 })
    fc.assert(
      fc.property(records, fc.integer({ min: 1, max: 5 }), (rows, size) => {
        const text = rows
          .map((cells) => cells.map((each) => `"${each.replaceAll('"', '""')}"`).join(','))
          .join('\r\n')
        const chunks = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
        expect([...csvRecords(chunks, ',')].map(({ cells }) => cells)).toEqual(rows)
      }),
    )
  })
})

test('the first record has a delimiter that cuts it', () => {
  expect(csvDelimiter('"a;b",c\n1;2')).toBe(',')
  expect(csvDelimiter('a;b;"c,d"')).toBe(';')
  expect(csvDelimiter('a\tb')).toBe('\t')
  expect(csvDelimiter('alone')).toBe(',')
  expect(firstCells('', ',')).toEqual([''])
})
