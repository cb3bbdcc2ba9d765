import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { readUsageIn } from '../../../src/report/usage/read.ts'
import { importFile } from '../../../src/store/import/import-file.ts'
import { parseMapping } from '../../../src/store/import/mapping.ts'
import { openStore } from '../../store/opened.ts'
import { usageOptions } from '../usage-events.ts'

/** A bill and a log of the same requests stand in one store; their sums are never added without a word. */
const folder = mkdtempSync(join(tmpdir(), 'assay-same-use-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(name: string, lines: readonly string[]): string {
  writeFileSync(join(folder, name), `${lines.join('\n')}\n`)
  return join(folder, name)
}

const requests = [
  ['a1', '2026-11-09T08:00:01Z', '0.006'],
  ['a2', '2026-11-09T08:00:07Z', '0.005'],
  ['a3', '2026-11-10T09:30:00Z', '0.0082'],
] as const
const logOf = (name: string, count: number) =>
  file(
    name,
    requests.slice(0, count).map(([id, startTime, spend]) =>
      JSON.stringify({
        ...{ request_id: id, startTime, model: 'gpt-large', spend: Number(spend) },
        ...{ prompt_tokens: 10, completion_tokens: 1 },
      }),
    ),
  )
const log = logOf('spend.jsonl', 3)
const head =
  'BilledCost,BillingCurrency,ChargeCategory,ChargePeriodStart,ChargePeriodEnd,ResourceId'
const charge = (day: number, currency = 'USD') =>
  `0.0110,${currency},Usage,2026-11-${day}T00:00:00Z,2026-11-${day + 1}T00:00:00Z,gpt-large`
const bill = file('bill.csv', [head, charge(10), charge(11)])
const ofOtherDays = file('earlier.csv', [head, charge(20), charge(21)])
const inEuro = file('euro.csv', [head, charge(10, 'EUR')])
const statementOf = (name: string, count: number) =>
  file(name, [
    'call,when,amount,currency',
    ...requests.slice(0, count).map(([id, at, amount]) => `${id},${at},${amount},USD`),
  ])
const statement = statementOf('statement.csv', 3)
const mapping = parseMapping(`
source: vendor
fields: { id: call, time: when, credits: amount, unit: currency }
`)

async function page(
  files: readonly string[],
  sources: readonly string[] = [],
  account: string | null = null,
) {
  const store = await openStore(':memory:')
  onTestFinished(() => store.close())
  for (const each of files) {
    const of = each.endsWith('statement.csv') ? { file: each, mapping } : { file: each }
    expect(await importFile(store, of)).toMatchObject({ rejected: 0 })
  }
  return readUsageIn(store, usageOptions({ contract: null, timezone: 'UTC', sources, account }))
}

const usedOf = ({ totals }: Awaited<ReturnType<typeof page>>) =>
  totals.money.map(({ unit, used }) => [unit, used])

test('a bill and a log of the same days in one currency are not added: the page says which to choose', {
  tags: 'whole',
}, async () => {
  await expect(page([log, bill])).rejects.toThrow(
    'The bill "focus" and the log "litellm" both have amounts in USD of the same days',
  )
  await expect(page([bill, log])).rejects.toThrow('assay usage reconcile')
  expect(usedOf(await page([log, bill], ['focus']))).toEqual([['USD', '0.022']])
  expect(usedOf(await page([log, bill], ['litellm']))).toEqual([['USD', '0.0192']])
})

test('two logs that name the same requests are not added, by the ids of the requests', async () => {
  await expect(page([log, statement])).rejects.toThrow(
    'The logs "litellm" and "vendor" name the same requests, such as a1',
  )
  expect(usedOf(await page([statement, log], ['vendor']))).toEqual([['USD', '0.0192']])
})

test('two logs of one moment alone that name the same request are not added', async () => {
  await expect(
    page([logOf('first.jsonl', 1), statementOf('first-statement.csv', 1)]),
  ).rejects.toThrow('The logs "litellm" and "vendor" name the same requests, such as a1')
})

test('who names both sources adds them, and reads that use of both counts twice', {
  tags: 'whole',
}, async () => {
  const both = await page([log, bill], ['litellm', 'focus'])
  expect(usedOf(both)).toEqual([['USD', '0.0412']])
  expect(both.scope.notes.join('\n')).toContain('requests in both count twice')
  const same = await page([log, statement], ['litellm', 'vendor'])
  expect(same.scope.notes.join('\n')).toContain('such as a1')
})

test.each([
  ['of other days', ofOtherDays, [['USD', '0.0412']]],
  [
    'in another currency',
    inEuro,
    [
      ['EUR', '0.011'],
      ['USD', '0.0192'],
    ],
  ],
])('a bill %s is added to the log', { tags: 'whole' }, async (_, other, used) => {
  expect(usedOf(await page([log, other])).toSorted()).toEqual(used)
})
