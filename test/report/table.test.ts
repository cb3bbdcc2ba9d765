import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatCell, formatDuration, formatNumber, formatShare } from '../../src/report/format.ts'
import { readFront } from '../../src/report/front.ts'
import { readPageVerdict } from '../../src/report/page-verdict.ts'
import { readParts } from '../../src/report/part.ts'
import { bucketWidthS } from '../../src/report/scope.ts'
import { renderTable } from '../../src/report/table.ts'
import { grouped } from '../../src/user/grouped.ts'
import { scriptJson } from '../../src/user/html.ts'

const textOf = (html: string) => html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')

const columnsOf = (names: readonly `p${number}`[]) =>
  Object.fromEntries(names.map((name) => [`${name}_ms`, { needs: [name, 'n'] as const }]))

describe('a table', () => {
  const front = readFront(
    '-- title: T\n-- columns:\n--   p99_ms: { label: p99, group: Service, needs: [p99, n], at_least: cut_ms }\n--   cut_ms: { hidden: true }\nSELECT 1',
    'x.sql',
  )
  const cellsOf = (row: Record<string, unknown>) =>
    textOf(renderTable([row], front).text.split('<tbody>')[1]!).trim()

  test('shows "n too small" below the samples that a percentile needs, and the value from there on', () => {
    const few = renderTable(
      [
        { n: 661, p99_ms: 12.34 },
        { n: 662, p99_ms: 12.34 },
      ],
      front,
    )
    expect(textOf(few.text)).toContain('661 n too small 662 12.3')
    expect(cellsOf({ n: 662, p99_ms: 12.34, cut_ms: null })).toBe('662 12.3')
  })

  test('has one note below for a percentile that no row has samples for', () => {
    const all = textOf(
      renderTable(
        [
          { n: 5, p99_ms: 1 },
          { n: 6, p99_ms: 2 },
        ],
        front,
      ).text,
    )
    expect(all.trim()).toBe('n 5 6 n too small for Service p99: up to 662 samples needed.')
  })

  test('has one note if no percentile has enough samples', () => {
    const columns = { n: { hidden: true }, ...columnsOf(['p50', 'p95', 'p99']) }
    const rows = [{ step: 'chat', n: 5, p50_ms: 1, p95_ms: 1, p99_ms: 1 }]
    expect(textOf(renderTable(rows, { columns }).text).trim()).toBe(
      'step chat n too small for any percentile: at least 11 samples needed.',
    )
  })

  test('folds uninteresting rows behind their count', () => {
    const rows = [1, 2, 3].map((n) => ({ n, folded: n > 1 }))
    const text = textOf(renderTable(rows, { ...front, fold: 'of no interest' }).text)
    expect(text.trim()).toBe('n 1 2 of no interest n 2 3')
  })

  test('marks a percentile that reaches the cut-off as at least', () => {
    expect(cellsOf({ n: 700, p99_ms: 3000, cut_ms: 3000 })).toBe('700 ≥ 3,000')
    expect(cellsOf({ n: 700, p99_ms: 2999, cut_ms: 3000 })).toBe('700 2,999')
  })

  test('shows an unmeasured value as a dash, never as 0', () => {
    expect(cellsOf({ n: 700, p99_ms: null, cut_ms: null })).toBe('700 –')
    expect(cellsOf({ n: 0, p99_ms: null, cut_ms: null })).toBe('0 –')
  })

  test('has the unit in each column head, and groups under one heading', () => {
    const head = textOf(renderTable([{ n: 700, p99_ms: 1 }], front).text.split('<tbody>')[0]!)
    expect(head).toContain('Service')
    expect(head).toContain('p99 ms')
  })
})

describe('a figure as text', () => {
  test.each([
    ['ms', 0.734, '0.73'],
    ['p95_ms', 12.34, '12.3'],
    ['p95_ms', 1234.5, '1,235'],
    ['error_ratio', 0, '0'],
    ['error_ratio', 0.00001, '<0.01'],
    ['error_ratio', 0.123, '12.3'],
    ['error_ratio', 2.1, '210'],
    ['price_usd', 9.9, '9.90'],
    ['at', new Date(0), 'Thu 1 Jan 1970 00:00:00 UTC'],
    ['n', 12345678901234567890n, '12,345,678,901,234,567,890'],
    ['n', null, '–'],
  ] as const)('%s of %s is %s', (column, value, text) => {
    expect(formatCell(column, value)).toBe(text)
  })

  test('grouped numbers are those of Intl', { tags: 'whole' }, () => {
    const decimals = fc.integer({ min: 0, max: 3 })
    const value = fc.oneof(
      fc.double({ noDefaultInfinity: true }),
      fc.integer().map((thousandths) => thousandths / 1000),
      fc.integer().map((halves) => halves / 2000),
      fc.double({ min: -1e7, max: 1e7 }),
    )
    fc.assert(
      fc.property(value, decimals, decimals, (value, one, other) => {
        const [least, most] = [Math.min(one, other), Math.max(one, other)]
        expect(grouped(value, most, least)).toBe(
          value.toLocaleString('en-US', {
            minimumFractionDigits: least,
            maximumFractionDigits: most,
          }),
        )
      }),
      { numRuns: 2000 },
    )
  })

  test('numbers have at most four digits, and durations have units', () => {
    expect([0.01234, 1.234, 123.45, 1234.5].map(formatNumber)).toEqual([
      '0.0123',
      '1.23',
      '123.5',
      '1,235',
    ])
    expect([0.85, 12.34, 245, 7620].map(formatDuration)).toEqual([
      '850 ms',
      '12.3 s',
      '4 min 05 s',
      '2 h 07 min',
    ])
    // What is not 0 is never shown as 0, and a rounded number is written as one that is exact.
    expect([0.00003, -0.0004, 0.001, 999.96].map(formatNumber)).toEqual([
      ...['0.000030', '-0.00040', '0.0010', '1,000'],
    ])
    expect([0.9996, 59.97, 59.9].map(formatDuration)).toEqual(['1.0 s', '1 min', '59.9 s'])
    expect([0.99999, 0.00001, -0.75].map(formatShare)).toEqual(['>99.99', '<0.01', '-75.0'])
    expect(formatCell('delay_ms', -500)).toBe('-500')
    expect(formatCell('own_usd', 0.004)).toBe('0.0040')
    expect([0.005, 0.5, 1, 0.9999].map(formatShare)).toEqual(['0.50', '50.0', '100', '99.99'])
  })
})

describe('the files of a chart', () => {
  test('are refused with the expected form: no title, no query, no YAML', () => {
    const folder = mkdtempSync(join(tmpdir(), 'assay-parts-'))
    writeFileSync(join(folder, '01-a.sql'), 'SELECT 1')
    expect(() => readParts([folder])).toThrow(/01-a\.sql is a table without a title/)
    writeFileSync(join(folder, '00-b.vl.json'), '{}')
    expect(() => readParts([folder])).toThrow(/00-b\.vl\.json has no query: expected 00-b\.sql/)
    expect(() => readFront('-- title: [\nSELECT 1', 'x.sql')).toThrow(
      /x\.sql: its leading comment is not YAML/,
    )
    expect(() => readFront('-- titel: T\nSELECT 1', 'x.sql')).toThrow(/titel/)
  })

  test('a file with the same name in a later folder replaces an earlier one', () => {
    const [ours, own] = [
      mkdtempSync(join(tmpdir(), 'assay-p-')),
      mkdtempSync(join(tmpdir(), 'assay-p-')),
    ]
    writeFileSync(join(ours, '01-a.sql'), '-- title: Ours\nSELECT 1')
    writeFileSync(join(own, '01-a.sql'), '-- title: Own\nSELECT 1')
    expect(readParts([ours, own]).map((part) => part.front.title)).toEqual(['Own'])
  })
})

describe('data of a page', () => {
  test('JSON in a script cannot end the script', () => {
    const json = scriptJson({ a: '</script><!--\u2028' }).text
    expect(json).not.toMatch(/[<>\u2028]/)
    expect(JSON.parse(json)).toEqual({ a: '</script><!--\u2028' })
  })

  test('an unreadable verdict is empty, never good', () => {
    for (const json of [null, '', '{', '[]', '{"tests":7}']) {
      expect(readPageVerdict(json)).toMatchObject({ tests: [], thresholds: [] })
    }
    const told = readPageVerdict(
      '{"thresholds":[{"text":"t","result":"inconclusive","value":null}]}',
    )
    expect(told.thresholds[0]).toMatchObject({
      tone: 'warn',
      figure: 'inconclusive, without samples',
    })
  })

  test('time buckets have round widths, and no more than the limit', () => {
    expect([
      bucketWidthS(20, 120),
      bucketWidthS(3600, 120),
      bucketWidthS(86_400 * 30, 120),
    ]).toEqual([0.25, 30, 21_600])
  })
})
