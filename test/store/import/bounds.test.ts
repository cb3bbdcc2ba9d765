import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { importFile } from '../../../src/store/import/import-file.ts'
import { parseMapping } from '../../../src/store/import/mapping.ts'
import { openStore } from '../../../src/store/session/open.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-bounds-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('a small compressed file with a line of 80 MB is refused with the bound and the place', {
  tags: 'whole',
}, async () => {
  const [file, path] = [join(folder, 'long.jsonl.gz'), join(folder, 's.duckdb')]
  const good = '{"id":"a","time":"2026-01-01T00:00:00Z","credits":1}\n'
  writeFileSync(file, gzipSync(Buffer.concat([Buffer.from(good), Buffer.alloc(80e6, 0x61)])))
  expect(statSync(file).size).toBeLessThan(100_000)
  const store = await openStore(path)
  await expect(importFile(store, { file })).rejects.toThrow(
    `${file}: expected lines of at most 64 MB; the one that begins at byte ${good.length} of its text has more. Nothing was imported.`,
  )
  expect(await store.rows('SELECT count(*) AS n FROM usage_events')).toEqual([{ n: 0 }])
  store.close()
  expect(existsSync(`${path}.import`)).toBe(false)
})

test.each(['log.csv', 'log.csv.gz'])(
  'a full disk ends the import of %s with what is full, and nothing stays',
  async (name) => {
    const file = join(folder, name)
    const rows = Array.from({ length: 3000 }, (_, n) => `r${n},2026-01-01T00:00:00Z,${n}\n`)
    const text = `id,time,credits\n${rows.join('')}`
    writeFileSync(file, name.endsWith('.gz') ? gzipSync(text) : text)
    // Its device takes no byte.
    const path = join(folder, `${name}.duckdb`)
    const store = await openStore(path)
    const full: typeof store = {
      ...store,
      session: async (scope) => {
        const session = await store.session(scope)
        return {
          ...session,
          execute: (sql, parameters) =>
            sql.includes('TABLE staging.stored')
              ? Promise.reject(
                  new Error(
                    `IO Error: Could not write file "${path}.import/staged.duckdb": No space left on device`,
                  ),
                )
              : session.execute(sql, parameters),
        }
      },
    }
    await expect(importFile(full, { file })).rejects.toThrow(
      `Nothing of ${file} was imported: ${path}.import/staged.duckdb cannot be written: its disk is full. Free some room, or name a file on another disk.`,
    )
    expect(await store.rows('SELECT count(*) AS n FROM usage_events')).toEqual([{ n: 0 }])
    expect(existsSync(`${path}.import`)).toBe(false)
    expect(await importFile(store, { file })).toMatchObject({ accepted: 3000 })
    store.close()
  },
)

test('an id is whole or refused: two that differ late are never one', {
  tags: 'whole',
}, async () => {
  const file = join(folder, 'ids.jsonl')
  const long = 'ä'.repeat(199)
  const line = (id: string, change: object) =>
    JSON.stringify({ id, time: '2026-01-01T00:00:00Z', credits: 1, unit: 'credits', ...change })
  const fields = ['account', 'model', 'keyFp', 'unit'] as const
  const rows = fields.flatMap((field) => [
    line(`${field}-a`, { [field]: `${long}aa` }),
    line(`${field}-b`, { [field]: `${long}ab` }),
    line(`${field}-ok`, { [field]: field === 'unit' ? 'x'.repeat(40) : `${long}a` }),
  ])
  writeFileSync(file, `${rows.join('\n')}\n`)
  const store = await openStore(':memory:')
  const mapping = parseMapping(
    'fields: { id: id, time: time, credits: credits, account: account, model: model, keyFp: keyFp, unit: unit }',
    'ids.yaml',
  )
  const summary = await importFile(store, {
    file,
    mapping,
    rejectsFile: join(folder, 'ids.rejected'),
  })
  expect(summary).toMatchObject({ accepted: 4, rejected: 8 })
  expect(await store.rows('SELECT id FROM usage_events ORDER BY id')).toEqual(
    fields.map((field) => ({ id: `${field}-ok` })).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  )
  expect(readFileSync(join(folder, 'ids.rejected'), 'utf8')).toContain(
    'expected at most 200 characters',
  )
  store.close()
})
