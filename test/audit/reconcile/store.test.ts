import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import type { BillLine, LogLine } from '../../../src/audit/reconcile/lines.ts'
import { type ReconcileFiles, reconcileFiles } from '../../../src/audit/reconcile/read-bill.ts'
import { sourceNamed, storedLines } from '../../../src/audit/reconcile/store-lines.ts'
import { parseContract } from '../../../src/contract/load.ts'
import { decimalText } from '../../../src/money/rational.ts'
import { logPrices } from '../../../src/price/price-log.ts'
import { sumsOf } from '../../../src/report/reconcile/sums.ts'
import { importFile } from '../../../src/store/import/import-file.ts'
import { parseMapping } from '../../../src/store/import/mapping.ts'
import { parseYaml } from '../../../src/user/yaml.ts'
import { tries } from '../../nightly/tries.ts'
import { openStore, type Store } from '../../store/opened.ts'
import { contract, expectCauses, sidesOf, world } from './world.ts'

/** A bill and a log that were imported are reconciled as their files are. */
const folder = mkdtempSync(join(tmpdir(), 'assay-reconcile-store-'))
afterAll(() => rmSync(folder, { recursive: true }))

const csv = (name: string, head: string, rows: readonly string[]) => {
  const path = join(folder, name)
  writeFileSync(path, `${[head, ...rows].join('\n')}\n`)
  return path
}
const mapping = (source: string) =>
  parseMapping(`
source: ${source}
fields: { id: id, time: time, model: model, type: type, requests: requests, credits: amount, unit: unit,
  promptTokens: input, cachedTokens: cached, completionTokens: output }
`)

const cellsOf = (line: BillLine | LogLine, nth: number) => {
  const { id, day, model, counts } = line
  const [type, amount] = 'amount' in line ? [line.type, decimalText(line.amount)] : ['usage', '']
  const requests = type === 'usage' ? 1 : 0
  const tokens = [counts?.input, counts?.cached, counts?.output].map((count) => count ?? '')
  return [
    id ?? `line-${nth}`,
    `${day}T12:00:00Z`,
    model,
    type,
    requests,
    ...tokens,
    amount,
    'USD',
  ].join()
}
const head = 'id,time,model,type,requests,input,cached,output,amount,unit'

async function entered(store: Store, source: string, lines: readonly (BillLine | LogLine)[]) {
  const file = csv(`${source}.csv`, head, lines.map(cellsOf))
  expect(await importFile(store, { file, mapping: mapping(source) })).toMatchObject({
    rejected: 0,
  })
  return sourceNamed(store, source, '--bill')
}

test('each cause of a difference has its exact amount in random worlds, from a store', {
  tags: 'whole',
  timeout: 1_800_000,
}, async () => {
  const store = await openStore(':memory:')
  let nth = 0
  try {
    await fc.assert(
      fc.asyncProperty(world, async (each) => {
        // A store has each id once, so no request is charged twice in it.
        const requests = each.requests.map((asked) =>
          asked.fault === 'doubled' ? { ...asked, fault: 'none' as const } : asked,
        )
        const sides = sidesOf({ ...each, requests })
        if (sides.bill.length === 0) return
        const bill = await entered(store, `bill-${nth}`, sides.bill)
        const log = await entered(store, `log-${nth++}`, sides.log)
        expectCauses(await reconcileFiles({ bill, log, contract }), sides)
      }),
      { numRuns: tries(8, 200), seed: 58 },
    )
  } finally {
    store.close()
  }
})

const samples = join(import.meta.dirname, '../../store/import/bill-samples')
const log = csv('own.jsonl', '', [])
writeFileSync(
  log,
  [9, 10]
    .map((day) => ({
      ...{ request_id: `r-${day}`, model: 'none', spend: 0.006 },
      ...{ startTime: `2026-11-${String(day).padStart(2, '0')}T08:00:00Z` },
      ...{ prompt_tokens: 1000, completion_tokens: 100 },
    }))
    .map((row) => `${JSON.stringify(row)}\n`)
    .join(''),
)

test.each([
  ['aws-cur2.csv', 'USD'],
  ['azure-cost-details.csv', 'EUR'],
  ['copilot.csv', 'USD'],
  ['cursor.csv', 'USD'],
  ['focus-charges.csv', 'USD'],
  ['focus-litellm.csv', 'USD'],
])(
  '%s from a store has the sums and the causes that its file has',
  { tags: 'whole' },
  async (name, unit) => {
    const files = {
      ...{ bill: join(samples, name), log },
      contract: parseContract(
        parseYaml(
          `{ name: c, extends: none, currency: ${unit}, models: [{ id: none, price: { input: 4, output: 20 } }] }`,
        ),
        'c.yaml',
      ),
    }
    const store = await openStore(':memory:')
    try {
      const named = async (file: string) => {
        const imported = await importFile(store, { file })
        return sourceNamed(store, 'source' in imported ? imported.source : '', '--bill')
      }
      const stored = { ...files, bill: await named(files.bill), log: await named(log) }
      const said = async (each: ReconcileFiles) => {
        const { bill, expected, difference, causes, unknown } = sumsOf(
          (await reconcileFiles(each)).cells,
        )
        return {
          ...{ bill: decimalText(bill), expected: decimalText(expected!), unknown },
          difference: decimalText(difference),
          causes: causes.map(({ cause, amount }) => [cause, decimalText(amount)]),
        }
      }
      expect(await said(stored)).toEqual(await said(files))
    } finally {
      store.close()
    }
  },
)

test('an amount that prices gave is none that the bill states, and a source that is not there is named', async () => {
  const store = await openStore(':memory:')
  try {
    const unpriced = join(folder, 'unpriced.jsonl')
    writeFileSync(unpriced, readFileSync(log, 'utf8').replaceAll('"spend":0.006,', '"spend":null,'))
    const asked = parseContract(
      parseYaml(
        '{ name: c, extends: none, currency: USD, models: [{ id: none, price: { input: 4, output: 20 } }] }',
      ),
      'c.yaml',
    )
    await importFile(store, { file: unpriced, source: 'litellm', prices: logPrices(asked) })
    const bill = await sourceNamed(store, 'litellm', '--bill')
    await expect(reconcileFiles({ bill, log, contract: asked })).rejects.toThrow(
      /the source litellm has no amount in any of its 2 lines/,
    )
    await expect(sourceNamed(store, 'focus', '--bill')).rejects.toThrow(
      /--bill focus: no such file, and no source of the store\. Its sources are litellm\./,
    )
  } finally {
    store.close()
  }
})

test('a sum that a later one replaced is no line of its source', async () => {
  const store = await openStore(':memory:')
  const daily = parseMapping(`
source: daily
fields: { time: day, end: end, model: model, credits: amount, unit: unit }
`)
  try {
    for (const amount of ['1.5', '2.5']) {
      const file = csv(`daily-${amount}.csv`, 'day,end,model,amount,unit', [
        `2026-11-09T00:00:00Z,2026-11-10T00:00:00Z,a,${amount},USD`,
        `2026-11-10T00:00:00Z,2026-11-11T00:00:00Z,a,${amount},USD`,
      ])
      expect(await importFile(store, { file, mapping: daily })).toMatchObject({ accepted: 2 })
    }
    expect(await storedLines({ store, source: 'daily' })).toBe(2)
  } finally {
    store.close()
  }
})
