import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ColumnFile, fieldsOf } from '../../src/store/read/column-file.ts'

let folder: string
let file: ColumnFile
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-'))
  file = new ColumnFile(join(folder, 's.duckdb'), 0)
})
afterEach(() => {
  file.close()
  rmSync(folder, { recursive: true })
})

test('columns on disk have the values that were kept, NaN among them', () => {
  const columns = [0, 1, 2].map((nth) =>
    Float64Array.from({ length: 1000 }, (_, row) => (row === nth ? Number.NaN : row / 7 + nth)),
  )
  const kept = columns.map((column) => file.keep(column))
  expect(kept.map(({ values }) => values)).toEqual(columns)
  expect(kept[1]!.part(1, 3)).toEqual(Float64Array.of(Number.NaN, 2 / 7 + 1))
  expect(file.keep(new Float64Array()).values).toHaveLength(0)
})

test('a file has no name, so nothing is left of it', () => {
  file.keep(Float64Array.of(1))
  expect(readdirSync(folder)).toEqual([])
})

test('the columns that were read first leave the memory, and are read again', () => {
  const first = file.keep(Float64Array.of(1, 2))
  const before = first.values
  expect(first.values).toBe(before)
  for (let nth = 0; nth < 40; nth++) void file.keep(Float64Array.of(nth, nth)).values
  expect(first.values).not.toBe(before)
  expect(first.values).toEqual(before)
})

test('an object of columns reads a field when it is asked for', () => {
  const fields = fieldsOf({ a: file.keep(Float64Array.of(3)) })
  expect(Object.keys(fields)).toEqual(['a'])
  expect(fields.a).toEqual(Float64Array.of(3))
})
