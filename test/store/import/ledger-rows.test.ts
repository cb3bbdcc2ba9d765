import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { importFile } from '../../../src/store/import/import-file.ts'
import { parseMapping } from '../../../src/store/import/mapping.ts'
import { emptyStore, type Store } from '../opened.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-ledger-rows-'))
afterAll(() => rmSync(folder, { recursive: true }))
let store: Store
beforeEach(async () => {
  store = await emptyStore()
  onTestFinished(() => store.close())
})

const importText = (text: string, mapping?: string, name = 'ledger.csv') => {
  const file = join(folder, name)
  writeFileSync(file, text)
  return importFile(store, {
    file,
    ...(mapping === undefined ? {} : { mapping: parseMapping(mapping) }),
  })
}
const rows = () =>
  store.rows<object>(
    `SELECT id, type::VARCHAR AS type, credits::DOUBLE AS credits, account, terms FROM usage_events ORDER BY id`,
  )
const count = async () => (await rows()).length

const header = 'id,time,type,account,credits,expires,name,priority,models,refersTo'
/** A table of a host, with the names of our fields. */
const table = (...lines: readonly string[]) => `${[header, ...lines].join('\n')}\n`
const pack = 'p1,2026-11-01T08:00:00Z,purchase,a,4000,2026-12-31,Pack,,,'

test('rows of grants keep when they expire, what they are called, their priority and their models', {
  tags: 'whole',
}, async () => {
  const imported = await importText(
    table(
      pack,
      'g1,2026-11-02T08:00:00Z,grant,a,500,,Bonus,-1,"nova-mini, nova",',
      'g2,2026-11-03T08:00:00Z,gift,a,7.25,9999-12-31,,,"[""nova""]",',
      'x1,2026-11-09T00:00:00Z,expiry,a,-100,,,,,p1',
      'u1,2026-11-04T08:00:00Z,usage,a,3,,,,,',
    ),
  )
  expect(imported).toMatchObject({ kind: 'log', accepted: 5, rejected: 0 })
  expect(imported.kind === 'log' && imported.notes.slice(0, 4)).toEqual([
    '1 expiry, -100 credits',
    '1 gift, 7.25 credits',
    '1 grant, 500 credits',
    '1 purchase, 4000 credits',
  ])
  const terms = (of: object) =>
    JSON.stringify({
      ...{ name: null, expiresUs: null, priority: null, models: null, refersTo: null },
      ...of,
    })
  const sorted = (text: string | null) =>
    text === null
      ? null
      : JSON.stringify(JSON.parse(text), Object.keys(JSON.parse(text)).toSorted())
  const found = (await rows()) as {
    id: string
    type: string
    credits: number
    terms: string | null
  }[]
  expect(
    found.map(({ id, type, credits, terms: own }) => [id, type, credits, sorted(own)]),
  ).toEqual(
    [
      ['g1', 'grant', 500, terms({ name: 'Bonus', priority: -1, models: 'nova-mini, nova' })],
      ['g2', 'gift', 7.25, terms({ models: '["nova"]' })],
      ['p1', 'purchase', 4000, terms({ name: 'Pack', expiresUs: Date.UTC(2026, 11, 31) * 1000 })],
      ['u1', 'usage', 3, null],
      ['x1', 'expiry', -100, terms({ refersTo: 'p1' })],
    ].map(([id, type, credits, own]) => [id, type, credits, sorted(own as string | null)]),
  )
})

test('a ledger that is imported again adds nothing, and one with another expiry is refused', {
  tags: 'whole',
}, async () => {
  await importText(table(pack))
  const again = await importText(table(pack, 'p2,2026-11-05T08:00:00Z,purchase,a,10,,,,,'))
  expect(again).toMatchObject({ accepted: 1, duplicates: 1, rejected: 0 })
  await expect(importText(table(pack.replace('2026-12-31', '2027-01-31')))).rejects.toThrow(
    /Nothing was imported\.\n {2}row 1: id: it was imported before with other content; map version if the newest counts/,
  )
  expect(await count()).toBe(2)
})

test('the newest version of a grant counts, if rows have a version', {
  tags: 'whole',
}, async () => {
  const mapping =
    'fields: { id: id, time: time, type: type, account: account, credits: credits, expires: expires, version: changed }'
  const row = (expires: string, changed: string) =>
    `id,time,type,account,credits,expires,changed\np1,2026-11-01,purchase,a,40,${expires},${changed}\n`
  await importText(row('2026-12-31', '2026-11-01'), mapping)
  await importText(row('2027-01-31', '2026-11-20'), mapping)
  expect(await rows()).toEqual([
    {
      ...{ id: 'p1', type: 'purchase', credits: 40, account: 'a' },
      terms: `{"expiresUs":${Date.UTC(2027, 0, 31) * 1000}}`,
    },
  ])
})

test.each([
  ['p2,2026-11-05T08:00:00Z,prize,a,10,,,,,', 'row 2: type: expected one of usage, refund, '],
  ['p2,2026-11-05T08:00:00Z,purchase,a,ten,,,,,', 'row 2: credits: expected a number, got "ten"'],
  [
    'p2,2026-11-05T08:00:00Z,purchase,a,-10,,,,,',
    'row 2: purchase: expected an amount of 0 or more',
  ],
  ['p2,2026-11-05T08:00:00Z,purchase,a,,,,,,', 'row 2: purchase: expected an amount, got nothing'],
  [
    'p2,2026-11-05T08:00:00Z,purchase,a,10,soon,,,,',
    'row 2: expires: expected a time after that of the row, or nothing if it never expires, got "soon"',
  ],
  ['p2,2026-11-05T08:00:00Z,grant,a,10,2026-11-04,,,,', 'row 2: expires: expected a time after'],
  ['p2,2026-11-05T08:00:00Z,grant,a,10,,,high,,', 'row 2: priority: expected a whole number'],
  ['p2,yesterday,grant,a,10,,,,,', 'row 2: time: expected a time between 2000 and 2100'],
])(
  'a ledger with the row %s is refused whole, with the reason',
  { tags: 'whole' },
  async (line, why) => {
    await expect(importText(table(pack, line))).rejects.toThrow(why)
    await expect(importText(table(pack, line))).rejects.toThrow(
      /ledger\.csv: credits that are held need every row of their ledger, .* Nothing was imported\./,
    )
    expect(await count()).toBe(0)
  },
)

test('a line of usage may be rejected beside a ledger, as in any log', {
  tags: 'whole',
}, async () => {
  const imported = await importText(
    table(
      pack,
      'u1,2026-11-04T08:00:00Z,usage,a,three,,,,,',
      'u2,2026-11-04T08:00:00Z,usage,a,3,,,,,',
    ),
  )
  expect(imported).toMatchObject({ accepted: 2, rejected: 1 })
})

test('a file that ends in the middle is no ledger', async () => {
  await expect(importText(`${table(pack)}p2,2026-11-05T08:00:00Z,purchase`)).rejects.toThrow(
    /ends in the middle/,
  )
  expect(await count()).toBe(0)
})

test('keys in names of grants are hidden', { tags: 'whole' }, async () => {
  await importText(table(pack.replace('Pack', 'for sk-abcdefghijklmnopqrstuvwx')))
  const [{ terms }] = (await rows()) as [{ terms: string }]
  expect(terms).not.toContain('sk-abcdef')
  expect(terms).toContain('[key]')
})

/** As the services document their exports. */
const exports = {
  'Orb: entries of a credit ledger': {
    mapping: `
source: orb
where: { entry_type: [increment, credit_block_expiry, void], entry_status: committed }
fields:
  id: id
  time: created_at
  type: { column: entry_type, values: { increment: grant, credit_block_expiry: expiry, void: expiry } }
  account: customer.external_customer_id
  credits: amount
  expires: credit_block.expiry_date
  refersTo: credit_block.id
  name: description
`,
    lines: [
      ['increment', 'committed', 'e1', 500, 'b1', '2026-12-31T00:00:00Z', 'Promotion'],
      ['decrement', 'committed', 'e2', -20, 'b1', '2026-12-31T00:00:00Z', null],
      ['increment', 'pending', 'e3', 90, 'b2', null, null],
      ['void', 'committed', 'e4', -30, 'b1', '2026-12-31T00:00:00Z', 'by mistake'],
    ].map(([entry_type, entry_status, id, amount, block, expiry_date, description]) => ({
      ...{ id, entry_type, entry_status, amount, description, currency: 'credits' },
      created_at: '2026-11-02T10:00:00+00:00',
      customer: { id: 'cus_1', external_customer_id: 'a' },
      credit_block: { id: block, expiry_date, per_unit_cost_basis: '0.02' },
    })),
    found: [
      ['e1', 'grant', 500, { name: 'Promotion', refersTo: 'b1' }],
      ['e4', 'expiry', -30, { name: 'by mistake', refersTo: 'b1' }],
    ],
  },
  'Lago: transactions of a wallet': {
    mapping: `
source: lago
where: { status: settled, transaction_status: [purchased, granted, voided] }
fields:
  id: lago_id
  time: settled_at
  type: { column: transaction_status, values: { purchased: purchase, granted: grant, voided: expiry } }
  account: lago_wallet_id
  credits: credit_amount
  name: name
  priority: priority
`,
    lines: [
      ['t1', 'settled', 'purchased', 'inbound', '100.0', 'Top-up'],
      ['t2', 'settled', 'invoiced', 'outbound', '12.5', null],
      ['t3', 'pending', 'purchased', 'inbound', '40.0', null],
      ['t4', 'settled', 'voided', 'outbound', '5.0', null],
    ].map(([lago_id, status, transaction_status, transaction_type, credit_amount, name]) => ({
      ...{ lago_id, status, transaction_status, transaction_type, credit_amount, name },
      ...{ lago_wallet_id: 'a', amount: '1.0', source: 'manual', priority: 50 },
      ...{ created_at: '2026-11-02T10:00:00Z', settled_at: '2026-11-02T10:00:05Z' },
    })),
    found: [
      ['t1', 'purchase', 100, { name: 'Top-up', priority: 50 }],
      ['t4', 'expiry', -5, { priority: 50 }],
    ],
  },
  'Stripe: credit grants of a custom unit': {
    mapping: `
source: stripe
where: { absent: voided_at }
fields:
  id: id
  time: effective_at
  type: { column: category, values: { paid: purchase, promotional: gift } }
  account: customer
  credits: amount.custom_pricing_unit.value
  expires: expires_at
  name: name
  priority: priority
`,
    lines: [
      ['credgr_1', 'paid', '1000', Date.UTC(2026, 10, 1) / 1000, null, 50, null],
      [
        'credgr_2',
        'promotional',
        '20',
        Date.UTC(2026, 10, 2) / 1000,
        Date.UTC(2026, 11, 1) / 1000,
        10,
        null,
      ],
      ['credgr_3', 'paid', '70', Date.UTC(2026, 10, 3) / 1000, null, 50, 1_762_200_000],
    ].map(([id, category, value, effective_at, expires_at, priority, voided_at]) => ({
      ...{ id, object: 'billing.credit_grant', category, effective_at, expires_at, priority },
      ...{ voided_at, customer: 'a', name: 'Credits', livemode: true },
      amount: { type: 'custom_pricing_unit', custom_pricing_unit: { id: 'cpu_1', value } },
    })),
    found: [
      ['credgr_1', 'purchase', 1000, { name: 'Credits', priority: 50 }],
      [
        'credgr_2',
        'gift',
        20,
        { name: 'Credits', expiresUs: Date.UTC(2026, 11, 1) * 1000, priority: 10 },
      ],
    ],
  },
  'Metronome: credit grants': {
    mapping: `
source: metronome
fields:
  id: id
  time: effective_at
  type: { value: grant }
  account: customer_id
  credits: grant_amount.amount
  expires: expires_at
  name: name
  priority: priority
`,
    lines: [
      {
        ...{ id: 'm1', name: 'Commit', customer_id: 'a', priority: 1, reason: 'contract' },
        ...{ effective_at: '2026-11-01T00:00:00Z', expires_at: '2027-11-01T00:00:00Z' },
        grant_amount: { amount: 100_000, credit_type: { id: 'c', name: 'Credits' } },
      },
    ],
    found: [
      [
        'm1',
        'grant',
        100_000,
        { name: 'Commit', expiresUs: Date.UTC(2027, 10, 1) * 1000, priority: 1 },
      ],
    ],
  },
} as const

test.each(Object.entries(exports))(
  '%s is mapped by its columns',
  { tags: 'whole' },
  async (name, given) => {
    const lines = given.lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    const imported = await importText(lines, given.mapping, `${name.split(':')[0]}.jsonl`)
    expect(imported).toMatchObject({ rejected: 0, accepted: given.found.length })
    const known = (of: string) =>
      Object.fromEntries(Object.entries(JSON.parse(of)).filter(([, value]) => value !== null))
    const found = (await rows()) as {
      readonly id: string
      readonly type: string
      readonly credits: number
      readonly account: string
      readonly terms: string
    }[]
    expect(found.map(({ id, type, credits }) => [id, type, credits])).toEqual(
      given.found.map((row) => row.slice(0, 3)),
    )
    expect(found.map(({ terms }) => known(terms))).toMatchObject(given.found.map((row) => row[3]))
    expect(new Set(found.map(({ account }) => account))).toEqual(new Set(['a']))
  },
)
