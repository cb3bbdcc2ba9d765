import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decimalText, readNumber } from '../../../src/money/rational.ts'
import { amountText, exactAmount } from '../../../src/report/usage/amount.ts'
import { readUsageIn } from '../../../src/report/usage/read.ts'
import { terminalUsage } from '../../../src/report/usage/terminal.ts'
import { exportTable } from '../../../src/store/files/export.ts'
import { importFile } from '../../../src/store/import/import-file.ts'
import { added } from '../../store/import/samples.ts'
import { openStore } from '../../store/opened.ts'
import { usageOptions } from '../usage-events.ts'

/** Amounts of 25 digits, 18 of them decimals: far past a double. */
const amount = fc
  .bigInt({ min: 10n ** 24n, max: 10n ** 25n - 1n })
  .map((units) => `${units / 10n ** 18n}.${String(units % 10n ** 18n).padStart(18, '0')}`)

test('an amount of 25 digits is shown exactly, or with its exact text beside it', () => {
  fc.assert(
    fc.property(amount, fc.constantFrom('USD', 'JPY', 'credits'), (text, unit) => {
      const exactly = exactAmount(text, unit) ?? amountText(text, unit).replaceAll(',', '')
      expect(decimalText(readNumber(exactly)!)).toBe(decimalText(readNumber(text)!))
    }),
  )
})

test('the sum of imported amounts of 25 digits is exact on the page and by day', {
  tags: 'whole',
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-digits-'))
  const amounts = fc.sample(amount, { numRuns: 40, seed: 25 })
  const file = join(folder, 'log.jsonl')
  writeFileSync(
    file,
    amounts
      .map((text, at) => `{"id": "e${at}", "time": "2026-11-03T10:00:00Z", "credits": ${text}}\n`)
      .join(''),
  )
  const store = await openStore(':memory:')
  expect(await importFile(store, { file, source: 'log' })).toMatchObject({ accepted: 40 })
  const page = await readUsageIn(store, usageOptions({ contract: null, timezone: 'UTC' }))
  const sum = added(amounts)
  expect(page.totals.money).toEqual([{ unit: 'credits', used: sum, refunds: '0', computed: '0' }])
  expect(page.days.map(({ money }) => money.credits)).toEqual([sum])
  store.close()
  rmSync(folder, { recursive: true })
})

test('on a terminal, an amount of any length stands apart from the count before it', {
  tags: 'whole',
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-digits-'))
  const file = join(folder, 'log.jsonl')
  const line = (id: string, day: number, credits: string) =>
    `{"id": "${id}", "time": "2026-11-0${day}T10:00:00Z", "model": "m${day}", "credits": ${credits}}\n`
  writeFileSync(
    file,
    line('a', 3, '1234567.123456789012345678') + line('b', 4, '0.000000000000000002'),
  )
  const store = await openStore(':memory:')
  await importFile(store, { file, source: 'log' })
  const page = await readUsageIn(store, usageOptions({ contract: null, timezone: 'UTC' }))
  const text = terminalUsage(page)
  expect(text).toMatch(/2026-11-03 +1 +1,234,567\.12/)
  expect(text).toMatch(/2026-11-04 +1 +0\.000000000000000002/)
  expect(text).toMatch(/m4 +1 +0\.000000000000000002/)
  expect(text).toMatch(/exactly\s+1234567\.12345678901234568/)
  for (const format of ['csv', 'json', 'parquet'] as const) {
    const out = join(folder, `out.${format}`)
    await exportTable(store, { what: 'usage', file: out, format })
    const read = `read_${format === 'json' ? 'json_objects' : format}`
    const rows = await store.rows<{ text: string }>(
      `SELECT ${
        format === 'json' ? `regexp_extract(json::VARCHAR, '"credits":([^,]*)', 1)` : 'credits'
      }::VARCHAR AS text
       FROM ${read}('${out}'${format === 'csv' ? ', all_varchar = true' : format === 'json' ? `, format = 'array'` : ''})
       ORDER BY text`,
    )
    // In JSON an amount is a text, because many readers keep only 17 digits of a number.
    const texts = rows.map(({ text: each }) => (format === 'json' ? JSON.parse(each) : each))
    expect([format, texts]).toEqual([
      format,
      ['0.000000000000000002', '1234567.123456789012345678'],
    ])
  }
  store.close()
  rmSync(folder, { recursive: true })
})
