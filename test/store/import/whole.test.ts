import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { importFile } from '../../../src/store/import/import-file.ts'
import { parseMapping } from '../../../src/store/import/mapping.ts'
import { openStore, type Store } from '../../../src/store/session/open.ts'
import { tries } from '../../nightly/tries.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-whole-'))
let store: Store
beforeAll(async () => {
  store = await openStore(':memory:')
})
afterAll(() => {
  store.close()
  rmSync(folder, { recursive: true })
})

const mapping = parseMapping('fields: { id: id, time: at, model: note }', 'map.yaml')
let files = 0

async function imported(name: string, bytes: Uint8Array | string, partial = false, within = '') {
  const file = join(folder, within, `${files++}-${name}`)
  writeFileSync(file, bytes)
  const source = `s${files}`
  const counts = await importFile(store, { file, mapping, source, partial })
  const rows = await store.rows<{ id: string; model: string }>(
    'SELECT id, model FROM usage_events WHERE source = $1 ORDER BY id::INTEGER',
    [source],
  )
  return { counts, rows }
}

const note = (id: number) => `so "${'é,\n'.repeat(id % 3)}" ${id * 7919}`
const rows = Array.from({ length: 12 }, (_, id) => ({
  id,
  at: '2026-11-01T00:00:00Z',
  note: note(id),
}))
const jsonl = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
const csv = `id,at,note\r\n${rows
  .map((row) => `${row.id},${row.at},"${row.note.replaceAll('"', '""')}"\r\n`)
  .join('')}`
const list = JSON.stringify(rows, null, 1)
const forms: Readonly<Record<string, Buffer>> = {
  'log.jsonl': Buffer.from(jsonl),
  'log.json': Buffer.from(list),
  'log.csv': Buffer.from(csv),
  'log.csv.gz': gzipSync(csv),
  'two.jsonl.gz': Buffer.concat([gzipSync(jsonl.slice(0, 300)), gzipSync(jsonl.slice(300))]),
  'two.jsonl.zst': Buffer.concat([
    zstdCompressSync(jsonl.slice(0, 300)),
    zstdCompressSync(jsonl.slice(300)),
  ]),
  'utf16.csv': Buffer.from(`\uFEFF${csv}`, 'utf16le'),
  'utf16be.jsonl': Buffer.from(`\uFEFF${jsonl}`, 'utf16le').swap16(),
  'mark.jsonl': Buffer.from(`\uFEFF${jsonl}`),
  'unmarked-utf16.csv': Buffer.from(csv, 'utf16le'),
  'unmarked-utf16be.jsonl': Buffer.from(jsonl, 'utf16le').swap16(),
  'log.parquet': await parquetOf(rows),
}

async function parquetOf(values: readonly object[]): Promise<Buffer> {
  const path = join(folder, 'made.parquet')
  const other = await openStore(':memory:')
  await other.execute(
    `COPY (SELECT unnest(from_json($1, '[{"id":"VARCHAR","at":"VARCHAR","note":"VARCHAR"}]'), recursive := true))
     TO '${path}' (FORMAT parquet)`,
    [JSON.stringify(values)],
  )
  other.close()
  return readFileSync(path)
}

test.each(Object.entries(forms))('%s is read as one whole file', async (name, bytes) => {
  const { counts, rows: got } = await imported(name, bytes)
  expect(counts).toMatchObject({ lines: 12, accepted: 12, rejected: 0 })
  expect(got).toEqual(rows.map(({ id, note: model }) => ({ id: String(id), model })))
})

test.each(Object.entries(forms))(
  '%s, cut at any byte, is refused, or has whole lines only',
  { tags: 'whole', timeout: 60_000 },
  async (name, bytes) => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: bytes.length - 1 }), async (length) => {
        const cut = await imported(name, bytes.subarray(0, length)).catch((error) => error.message)
        if (typeof cut === 'string') {
          expect(cut).toMatch(
            /ends in the middle|is damaged|never closed|has no (header|column)|no whole Parquet file/,
          )
          return
        }
        // A cut behind a whole line, or behind a whole member, cannot be seen.
        expect(cut.counts).toMatchObject({ rejected: 0 })
        expect(cut.rows).toEqual(
          rows.slice(0, cut.rows.length).map(({ id, note: model }) => ({ id: String(id), model })),
        )
      }),
      {
        numRuns: tries(20, 100),
        examples: [[1], [2], [5], [bytes.length - 1], [bytes.length - 2]].map(([n]) => [n!]),
      },
    )
  },
)

test('a cut file says how many whole lines it has, and --partial takes them', async () => {
  const cut = gzipSync(jsonl).subarray(0, -9)
  await expect(imported('cut.jsonl.gz', cut)).rejects.toThrow(
    /cut\.jsonl\.gz ends in the middle \(\d+ whole lines\)\. Nothing was imported\. Add --partial to import the whole lines\.$/,
  )
  const { counts, rows: got } = await imported('cut.jsonl.gz', cut, true)
  expect(counts).toMatchObject({ rejected: 0, accepted: got.length })
  expect(got.length).toBeGreaterThan(5)
  const short = csv.slice(0, csv.lastIndexOf(',') + 3)
  await expect(imported('short.csv', short)).rejects.toThrow(
    /short\.csv ends in the middle, without a line break \(11 whole lines\)/,
  )
  expect((await imported('short.csv', short, true)).counts).toMatchObject({ accepted: 11 })
})

test('a quote that is never closed refuses the file and names its line', {
  tags: 'whole',
}, async () => {
  const text = `id,at,note\n1,2026-11-01T00:00:00Z,a\n2,2026-11-01T00:00:00Z,"b\n${'3,2026-11-01T00:00:00Z,c\n'.repeat(50_000)}`
  await expect(imported('quote.csv', text)).rejects.toThrow(
    /quote\.csv: the quote in line 3 is never closed, so the lines after it cannot be read\. Nothing was imported\.$/,
  )
  // Wherever it is, also in the last line, and if the cells after it look like a row.
  for (const last of ['2,t,"b', '2,"t,b', '"2,t,b', '2,t,"b,c,d', '2,t,"b""', '2,t,"b\n3,t,c']) {
    const rows = last.replaceAll('t', '2026-11-01T00:00:00Z')
    await expect(
      imported('last.csv', `id,at,note\n1,2026-11-01T00:00:00Z,a\n${rows}\n`),
    ).rejects.toThrow(/last\.csv: the quote in line 3 is never closed/)
  }
  const { counts } = await imported('odd.csv', 'id,at,note\n1,x,"a"b\n2,2026-11-01T00:00:00Z,c\n')
  expect(counts).toMatchObject({ lines: 2, accepted: 1, rejected: 1 })
})

test('the cut end of a file is found by its own delimiter', async () => {
  const cut =
    'Date;Model;Input (w/ Cache Write);Input (w/o Cache Write);Cache Read;Output Tokens;Cost\n'
  const line = (note: string) => `2026-11-01T00:00:00Z;${note};0;10;0;5;0.1\n`
  const file = join(folder, 'semicolons.csv')
  // The last record breaks off in a cell with a line break, which a comma would not begin.
  writeFileSync(file, `${cut}${line('a')}${line('b')}2026-11-01T00:00:00Z;"x\ny`)
  const counts = await importFile(store, { file, partial: true })
  expect(counts).toMatchObject({ accepted: 2, rejected: 0 })
})

test('the rejects are never written over a page, and pages are those of a known log', async () => {
  const [one, two] = ['page-a.jsonl', 'page-b.jsonl'].map((name, at) => {
    const file = join(folder, name)
    writeFileSync(file, `{"id":${at},"at":"2026-11-01T00:00:00Z","note":"x"}\n`)
    return file
  })
  const options = { file: one!, pages: [two!], mapping }
  await expect(importFile(store, { ...options, rejectsFile: two! })).rejects.toThrow(
    /the rejects: expected a file of its own; got .*page-b\.jsonl/,
  )
  await expect(importFile(store, options)).rejects.toThrow(
    `${one}: pages of a list are those of a known log; with a mapping, import each file by itself.`,
  )
})

test('no copy of a log stays behind', async () => {
  const { counts } = await imported('left.csv.gz', gzipSync(csv))
  expect(counts).toMatchObject({ accepted: 12 })
  expect(readFileSync(join(folder, `${files - 1}-left.csv.gz`)).length).toBeGreaterThan(0)
  const { readdirSync } = await import('node:fs')
  expect(readdirSync(folder).filter((name) => name.endsWith('.import'))).toEqual([])
})

test.each([
  ['log.zip', 'PK\x03\x04', 'is a zip archive. Unpack it, and import what is in it.'],
  ['log.xlsx', 'PK\x03\x04', 'is a workbook. Save it as CSV or JSON Lines.'],
  ['log.csv.bz2', 'BZh91AY', 'is a bzip2 file. Unpack it, and import what is in it.'],
  ['log.csv.xz', '\xfd7zXZ\0', 'is an xz file. Unpack it, and import what is in it.'],
  ['log.tar', `log.csv${'\0'.repeat(250)}ustar`, 'is a tar archive. Unpack it,'],
  ['log.db', 'SQLite format 3\0', 'is an SQLite database. Save it as CSV or JSON Lines.'],
  ['log.csv', '\n<!DOCTYPE html><p>Log in', 'is a page, not a log.'],
  ['log.csv', '\0\0\xfe\xff\0\0\0i', 'is UTF-32 text. Save it as UTF-8.'],
])('%s is refused by what it is, also in a .gz', async (name, text, why) => {
  const bytes = Buffer.from(text, 'latin1')
  await expect(imported(name, bytes)).rejects.toThrow(`${name} ${why}`)
  await expect(imported(`${name}.gz`, gzipSync(bytes))).rejects.toThrow(`${name}.gz ${why}`)
})

test('a folder named like a column replaces none of a log', async () => {
  const lake = join(folder, 'at=2020-01-01', 'note=other', 'id=7')
  mkdirSync(lake, { recursive: true })
  const parquet = join(lake, 'log.parquet')
  await store.execute(
    `COPY (SELECT 1 AS id, '2026-11-01T00:00:00Z' AS at, 'mine' AS note) TO '${parquet}' (FORMAT parquet)`,
  )
  const bytes = readFileSync(parquet)
  const logs = {
    csv: 'id,at,note\n1,2026-11-01T00:00:00Z,mine\n',
    jsonl: '{"id":1,"at":"2026-11-01T00:00:00Z","note":"mine"}\n',
    parquet: bytes,
  }
  for (const [name, text] of Object.entries(logs)) {
    const file = join('at=2020-01-01', 'note=other', 'id=7')
    const { rows, counts } = await imported(`log.${name}`, text, false, file)
    expect([name, counts.kind === 'log' && counts.accepted, rows]).toEqual([
      ...[name, 1, [{ id: '1', model: 'mine' }]],
    ])
  }
})

test('an empty file is called empty, and with a mapping it has no lines', async () => {
  const file = join(folder, 'empty.csv')
  writeFileSync(file, '')
  await expect(importFile(store, { file })).rejects.toThrow(`${file} is empty.`)
  expect((await imported('hour.jsonl', '')).counts).toMatchObject({ lines: 0, accepted: 0 })
})

test('a compressed archive that ends early is refused by what it is, with --partial, too', async () => {
  const tar = Buffer.alloc(20_480, 'a')
  tar.write('ustar', 257)
  const cut = gzipSync(tar).subarray(0, -9)
  const why = 'is a tar archive. Unpack it, and import what is in it. Nothing was imported.'
  await expect(imported('cut.jsonl.gz', cut)).rejects.toThrow(why)
  await expect(imported('cut.jsonl.gz', cut, true)).rejects.toThrow(why)
})
