import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { exportTable } from '../../src/store/files/export.ts'
import { writeOutput } from '../../src/store/files/output.ts'
import { storeFile } from '../../src/store/session/store-file.ts'
import { openStore, type Store } from './opened.ts'
import { plainRow } from './plain-row.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-output-'))
let store: Store
beforeAll(async () => {
  store = await openStore(':memory:')
  await appendAttempts(store, [plainRow(0), plainRow(1)])
})
afterAll(() => {
  store.close()
  rmSync(folder, { recursive: true })
})

const fullDisk = '/dev/full'

test('an output into a missing folder names the folder, and does not blame the store', async () => {
  const csv = join(folder, 'missing/x.csv')
  const summary = `${csv} cannot be written: there is no folder ${join(folder, 'missing')}. Make it, or name another file.`
  await expect(exportTable(store, { what: 'attempts', file: csv, format: 'csv' })).rejects.toThrow(
    summary,
  )
  expect(() => writeOutput(csv, 'x')).toThrow(summary)
})

test('an output into a folder that is not there, and names no file, says so', () => {
  const path = `${join(folder, 'ops')}/`
  expect(() => writeOutput(path, 'x')).toThrow(
    `${path} cannot be written: it is a folder, which is not there. Name a file, such as ${path}page.html.`,
  )
})

test('an output onto a folder is refused as such', async () => {
  const path = join(folder, 'a-folder')
  mkdirSync(path)
  const summary = `${path} cannot be written: it is a folder. Name a file in it.`
  await expect(
    exportTable(store, { what: 'attempts', file: path, format: 'json' }),
  ).rejects.toThrow(summary)
  expect(() => writeOutput(path, 'x')).toThrow(summary)
})

test.skipIf(!existsSync(fullDisk))(
  'an output on a full disk is reported as such (needs /dev/full)',
  async () => {
    const summary = `${fullDisk} cannot be written: its disk is full. Free some room, or name a file on another disk.`
    expect(() => writeOutput(fullDisk, 'x')).toThrow(summary)
    await expect(
      exportTable(store, { what: 'attempts', file: fullDisk, format: 'csv' }),
    ).rejects.toThrow(summary)
  },
)

test('an output gets its name when it is complete, and replaces the old file', async () => {
  const [csv, link] = [join(folder, 'rows.csv'), join(folder, 'link.csv')]
  // Left over from a killed export.
  writeFileSync(`${csv}.partial`, 'half a')
  expect(await exportTable(store, { what: 'attempts', file: csv, format: 'csv' })).toBe(2)
  const lines = readFileSync(csv, 'utf8').trimEnd().split('\n')
  expect(lines).toHaveLength(3)
  symlinkSync(csv, link)
  writeOutput(link, 'behind the link')
  expect(readFileSync(csv, 'utf8')).toBe('behind the link')
  expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([])
})

test('an export is compressed by its extension', async () => {
  const file = join(folder, 'rows.jsonl.gz')
  await exportTable(store, { what: 'attempts', file, format: 'jsonl' })
  expect([...readFileSync(file).subarray(0, 2)]).toEqual([0x1f, 0x8b])
})

test('a store in memory is refused if a file is required', () => {
  for (const path of [':memory:', ':memory:x', '']) {
    expect(() => storeFile(path)).toThrow('--db: expected a file; got')
  }
  expect(storeFile('a.duckdb')).toBe('a.duckdb')
})
