import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { importFile } from '../../../src/store/import/import-file.ts'
import { parseMapping } from '../../../src/store/import/mapping.ts'
import { openStore } from '../opened.ts'
import { readSample } from './read-sample.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-mixed-widths-'))
afterAll(() => rmSync(folder, { recursive: true }))

const fields = 'fields: { time: from, end: to, model: model, credits: amount, unit: currency }'
const hour = (at: number, amount: string) =>
  `2026-11-09T${at}:00:00Z,2026-11-09T${at + 1}:00:00Z,m,${amount}`
const month = (amount: string) => `2026-11-01T00:00:00Z,2026-12-01T00:00:00Z,,${amount}`

async function used(lines: readonly string[], rules = '') {
  const path = join(folder, 'bill.csv')
  const text = ['from,to,model,amount,currency', ...lines.map((line) => `${line},USD`)]
  writeFileSync(path, `${text.join('\n')}\n`)
  const store = await openStore(':memory:')
  try {
    await importFile(store, {
      file: path,
      mapping: parseMapping(`source: bill\n${rules}\n${fields}`),
    })
    return (await readSample(store, 'UTC')).cost?.USD?.used
  } finally {
    store.close()
  }
}

test('a monthly charge beside hours is refused until the mapping says that amounts are disjoint', {
  tags: 'whole',
}, async () => {
  const lines = [hour(10, '0.01'), hour(11, '0.02'), month('20')]
  await expect(used(lines)).rejects.toThrow(
    '20 USD from 2026-11-01 00:00 to 2026-12-01 00:00 UTC is not the sum of the narrower amounts within that time',
  )
  expect(await used(lines, 'amounts: disjoint')).toBe('20.03')
})

test('a total of hours is no charge, and counts once', async () => {
  expect(await used([hour(10, '0.01'), hour(11, '0.02'), month('0.03')])).toBe('0.03')
})
