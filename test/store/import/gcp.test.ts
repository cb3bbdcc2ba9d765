import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { importFile } from '../../../src/store/import/import-file.ts'
import { openStore } from '../opened.ts'
import { readSample } from './read-sample.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-gcp-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A row of the export, with the names and the nesting of Google's reference. */
const line = (sku: string, cost: number, fields: object = {}) => ({
  billing_account_id: '01ABCD-234567-89EFGH',
  service: { id: 'C7E2-9256-1C43', description: 'Vertex AI' },
  sku: { id: sku, description: sku },
  usage_start_time: '2026-11-09 10:00:00 UTC',
  usage_end_time: '2026-11-09 11:00:00 UTC',
  project: { id: 'p-1', name: 'One' },
  labels: [],
  location: { region: 'us-central1' },
  export_time: '2026-11-09 15:01:02.981774 UTC',
  cost,
  currency: 'USD',
  currency_conversion_rate: 1,
  usage: { amount: 0, unit: 'count', amount_in_pricing_units: 0, pricing_unit: 'count' },
  credits: [],
  invoice: { month: '202611' },
  cost_type: 'regular',
  adjustment_info: {},
  ...fields,
})
const month = {
  usage_start_time: '2026-11-01 00:00:00 UTC',
  usage_end_time: '2026-12-01 00:00:00 UTC',
}
const invoice = { ...month, service: { id: 'X', description: 'Invoice' }, project: null }
const counted = (amount: number) => ({ usage: { amount, unit: 'count' } })
const input = line('Generate content input token count gemini 2.5 flash short input text', 1.25, {
  ...counted(1_983_966),
  credits: [
    { name: 'Promotion', amount: -0.25, type: 'PROMOTION', id: 'c1' },
    { name: 'Committed use', amount: -0.1, type: 'COMMITTED_USAGE_DISCOUNT', id: 'c2' },
  ],
})
const lines = [
  input,
  line(
    'Generate content cached input token count gemini 2.5 flash short input text',
    0.02,
    counted(16_000),
  ),
  line('Generate content output token count gemini 2.5 flash text', 2, counted(461_280)),
  line('Gemini 2.5 Pro Text Output - Predictions', 0.5),
  line('N1 Core', 40, {
    service: { id: '6F81', description: 'Compute Engine' },
    credits: [{ name: 's', amount: -12, type: 'SUSTAINED_USAGE_DISCOUNT' }],
  }),
  line('Tax', 0.55, { ...invoice, cost_type: 'tax' }),
  line('Rounding error', 0.0049, { ...invoice, cost_type: 'rounding_error' }),
]

async function read(...files: readonly (readonly object[])[]) {
  const store = await openStore(':memory:')
  try {
    const notes: string[] = []
    for (const [at, rows] of files.entries()) {
      const path = join(folder, `export-${at}.jsonl`)
      writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
      const said = await importFile(store, { file: path })
      expect(said.rejected).toBe(0)
      if (said.kind === 'log') notes.push(...said.notes)
    }
    return { ...(await readSample(store, 'UTC')), notes }
  } finally {
    store.close()
  }
}

test('a bill of Google Cloud has its credits, its tax and its rounding beside the use, and other services left out', async () => {
  const { cost, tokens, days, notes } = await read(lines)
  expect(cost).toEqual({
    USD: {
      used: '3.77',
      adjustments: { credit: '-0.25', discount: '-0.1', tax: '0.55', adjustment: '0.0049' },
      net: '3.9749',
    },
  })
  expect(tokens).toMatchObject({ input: 1_999_966, cached: 16_000, output: 461_280 })
  expect(Object.keys(days['2026-11-09']!).toSorted()).toEqual([
    'Gemini 2.5 Pro',
    'gemini 2.5 flash',
  ])
  expect(notes.join('\n')).toContain('28 USD: they are of other services (Compute Engine).')
})

test('rows of Google Cloud that two exports share count once, and equal rows of one export each', {
  tags: 'whole',
}, async () => {
  const later = { ...input, export_time: '2026-11-09 19:00:00 UTC', cost: -0.25, credits: [] }
  const { cost } = await read([input, input], [input, input, later])
  expect(cost).toEqual({
    USD: { used: '2.25', adjustments: { credit: '-0.5', discount: '-0.2' }, net: '1.55' },
  })
})
