import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { TraceColumns, TraceUnit } from '../../../src/scenario/loads.ts'
import { readTrace } from '../../../src/schedule/traces/read.ts'
import { readText } from '../../../src/user/read-text.ts'

interface Given {
  readonly columns?: TraceColumns
  readonly unit?: TraceUnit
}

/** Of each request: due (ms), prompt, answer. */
const read = (text: string, { columns, unit }: Given = {}) =>
  readTrace({
    ...{ path: 't', text, format: null, unit: unit ?? null, columns: columns ?? null },
    beside: () => null,
  }).requests.map(({ atUs, inputTokens, outputTokens }) => [atUs / 1000, inputTokens, outputTokens])

const azure = `GeneratedTokens,TIMESTAMP,ContextTokens
10,2024-05-10 00:00:00.009930+00:00,374
20,2024-05-10 00:00:00.017335+00:00,396
`
const blocks = (...times: readonly (number | string)[]) =>
  times.map(
    (at) => `{"timestamp": ${at}, "input_length": 600, "output_length": 9, "hash_ids": [1, 2]}`,
  )

test('files as strangers have them are read: other order, line ends, failures, ids that are null, commas', () => {
  expect(read(azure)).toEqual([
    [0, 374, 10],
    [7.405, 396, 20],
  ])
  const burst =
    'Timestamp , Model , Request tokens , Response tokens , Total tokens , Log Type\r\n5 , GPT-4 , 472 , 18 , 490 , API log\r\n45 , ChatGPT , 1087 , 0 , 1087 , API log\r\n'
  expect(read(burst)).toEqual([
    [0, 472, 18],
    [40_000, 1087, 0],
  ])
  const bare = ['', ', "hash_ids": []', ', "hash_ids": null'].map(
    (ids, at) => `{"timestamp": ${3000 * at}, "input_length": 7, "output_length": 3${ids}}`,
  )
  const three = [0, 3000, 6000].map((at) => [at, 7, 3])
  expect(read(bare.join('\n'))).toEqual(three)
  expect(read(bare.map((line) => `${line},`).join('\n'))).toEqual(three)
})

test('a packed trace is read whole, also in several frames, and a damaged one is refused', () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-trace-'))
  const file = join(folder, 'trace')
  const of = (bytes: Uint8Array) => {
    writeFileSync(file, bytes)
    return readText(file)
  }
  const [head, tail] = [azure.slice(0, 40), azure.slice(40)]
  expect(of(gzipSync(azure))).toBe(azure)
  expect(of(Buffer.concat([gzipSync(head), gzipSync(tail)]))).toBe(azure)
  expect(of(Buffer.concat([head, tail].map((part) => zstdCompressSync(part))))).toBe(azure)
  for (const packed of [gzipSync(azure), zstdCompressSync(azure)]) {
    expect(() => of(packed.subarray(0, -9))).toThrow('is packed, and damaged or cut off')
  }
  rmSync(folder, { recursive: true })
})

const columns = (time: string): TraceColumns => ({ time, input: 'input', output: 'output' })
const rows = (time: string, ...at: readonly (number | string)[]) =>
  [`${time},input,output`, ...at.map((each) => `${each},100,10`)].join('\n')

test('times whose unit nothing tells are refused with both readings, and a named unit decides', () => {
  const whole = rows('time', 5, -3, 7)
  expect(() => read(whole, { columns: columns('time') })).toThrow(
    'The unit of the times in t is not clear. In milliseconds it is 300 requests/s over 0.01 s, in seconds 0.3 requests/s over 10 s.',
  )
  expect(read(whole, { columns: columns('time'), unit: 's' })).toEqual(
    [0, 8000, 10_000].map((at) => [at, 100, 10]),
  )
  // The s at the end is of another word.
  expect(() => read(rows('status', 5, 7), { columns: columns('status') })).toThrow('is not clear')
  const fractions = blocks(0.25, 27_482.5, 30_535.75).join('\n')
  expect(() => read(fractions)).toThrow('in seconds 0.0000982 requests/s over 30535.5 s')
  expect(read(fractions, { unit: 'ms' }).map(([at]) => at)).toEqual([0, 27_482.25, 30_535.5])
})

test('a trace whose requests are all of one moment needs no unit, and Unix times tell theirs', () => {
  const one = [[0, 100, 10]]
  expect(read(rows('time', 5), { columns: columns('time') })).toEqual(one)
  expect(read(rows('time', 5, 5), { columns: columns('time') })).toEqual([...one, ...one])
  expect(read(rows('time', 0.5), { columns: columns('time') })).toEqual(one)
  const unix = [0, 2].map(
    (at) =>
      `{"timestamp": ${1_793_700_000 + at}, "input_length": 30, "output_length": 9, "hash_ids": [1, 2]}`,
  )
  expect(read(unix.join('\n'))).toEqual([0, 2000].map((at) => [at, 30, 9]))
})

test('a column in minutes or hours is not read in another unit', () => {
  expect(() => read(rows('offset_min', 0, 2), { columns: columns('offset_min') })).toThrow(
    't: offset_min looks like a time in min; a replay takes times in s, ms, us, ns.',
  )
  expect(() => read(rows('startHours', 0, 2), { columns: columns('startHours') })).toThrow('hours')
  expect(read(rows('offset_min', 0, 2), { columns: columns('offset_min'), unit: 's' })).toEqual([
    [0, 100, 10],
    [2000, 100, 10],
  ])
})

test.each([
  ['[', ...blocks(0), ',]'],
  ['sent_s;input;output', '0,5;100;10'],
  ['Timestamp,Model,Request tokens,Response tokens', '5,ChatGPT,-4,18'],
  ['[{"id":"a","conversations":[{"from":"human","value":"Hi"}]}]'],
])('what is no trace is refused in a sentence: %s', (...lines) => {
  const given = lines[0]!.startsWith('sent_s') ? { columns: columns('sent_s') } : {}
  expect(() => read(lines.join('\n'), given)).toThrow(/^t.*\.$/)
})
