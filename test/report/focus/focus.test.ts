import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defaultContract } from '../../../src/contract/default.ts'
import { compare, rational, readNumber } from '../../../src/money/rational.ts'
import { type Charge, type FocusAccount, focusRow } from '../../../src/report/focus/charges.ts'
import { focusIssues, sumOf } from '../../../src/report/focus/check.ts'
import {
  columnsOf,
  type FocusColumn,
  type FocusRow,
  focusColumns,
} from '../../../src/report/focus/columns.ts'
import { focusCsv } from '../../../src/report/focus/csv.ts'
import { readFocus } from '../../../src/report/focus/export-focus.ts'
import { tries } from '../../nightly/tries.ts'
import { openStore } from '../../store/opened.ts'
import { accounts, enterMarked, keyNames, marksOfOthers, subject } from '../marked-accounts.ts'
import { enterEvents, utc } from '../usage-events.ts'

const n = (text: string) => readNumber(text)!
const of: FocusAccount = {
  ...{
    account: 'acct-204',
    label: 'Nordlicht Studio',
    product: 'Example Text API',
    serviceName: 'Text Generation API',
  },
  ...{ currency: 'USD', creditPrice: n('0.0125'), invoice: 'INV-3107', creditCurrency: 'Credits' },
  ...{ periodStart: '2026-11-01', periodEnd: '2026-12-01' },
}
const names = { 'key-1f': 'billing', 'key-77': 'search' }

/** The entries of the sample, as its own program has them. */
function sampleCharges(): readonly Charge[] {
  const entry = (
    type: 'purchase' | 'expiry' | 'refund',
    summary: string,
    [startUs, endUs]: readonly [number, number],
    sku: string,
    credits: string,
    cost: string,
  ): Charge => ({
    type,
    summary,
    startUs,
    endUs,
    sku,
    priceId: '2026-07',
    credits: n(credits),
    cost: n(cost),
    tags: {},
  })
  const usage = (
    [day, hour]: readonly [number, number],
    model: 'text-large' | 'text-small',
    kind: 'input' | 'output' | 'cached input',
    tokens: number,
    key: 'key-1f' | 'key-77',
    requests: number,
    isCorrection = false,
  ): Charge => {
    const prices = {
      'text-large': { input: 40, output: 160, 'cached input': 8 },
      'text-small': { input: 8, output: 32, 'cached input': 2 },
    }
    return {
      ...{
        type: 'tokens',
        startUs: utc(2026, 11, day, hour),
        endUs: utc(2026, 11, day, hour + 1),
        model,
        kind,
      },
      ...{
        tokens: rational(BigInt(tokens)),
        perMillion: rational(BigInt(prices[model][kind])),
        priceId: '2026-07',
      },
      ...{
        key: { id: key, name: names[key] },
        requests,
        creditsKnown: requests,
        tags: { environment: 'production' },
        isCorrection,
      },
    }
  }
  const hours = (
    [
      [[3, 9], 'text-large', 2e6, 5e5, 1e6, 'key-1f', 40],
      [[3, 10], 'text-small', 4e6, 1e6, 0, 'key-77', 96],
      [[4, 14], 'text-large', 1e6, 25e4, 5e5, 'key-1f', 22],
      [[4, 23], 'text-small', 8e6, 2e6, 2e6, 'key-77', 210],
      [[5, 8], 'text-large', 3e6, 1e6, 0, 'key-77', 61],
      [[6, 0], 'text-small', 2e6, 5e5, 1e6, 'key-1f', 33],
    ] as const
  ).flatMap(([at, model, input, output, cached, key, requests]) => [
    usage(at, model, 'input', input, key, requests),
    usage(at, model, 'output', output, key, 0),
    ...(cached > 0 ? [usage(at, model, 'cached input', cached, key, 0)] : []),
  ])
  return [
    entry(
      'purchase',
      'Package of 4,000 credits',
      [utc(2026, 11, 2), utc(2027, 2, 2)],
      'pack-4000',
      '4000',
      '50',
    ),
    entry(
      'expiry',
      '160 credits expired unused',
      [utc(2026, 11, 20), utc(2026, 11, 20, 1)],
      'pack-4000',
      '160',
      '2',
    ),
    ...hours.slice(0, 16),
    usage([6, 12], 'text-large', 'output', 25e4, 'key-1f', 0, true),
    entry(
      'refund',
      'Refund of a failed request of 5 November',
      [utc(2026, 11, 5, 8), utc(2026, 11, 5, 9)],
      'refund',
      '20',
      '0.25',
    ),
  ]
}

const sample = (name: string) =>
  readFileSync(join(import.meta.dirname, `focus-1.2-${name}.csv`), 'utf8')

test('the sample of 20 rows is written byte for byte, with credits and with the code for no currency', () => {
  for (const [name, creditCurrency] of [
    ['credits', 'Credits'],
    ['pass', 'XXX'],
  ] as const) {
    const rows = sampleCharges().map((charge) => focusRow(charge, { ...of, creditCurrency }))
    expect(rows).toHaveLength(20)
    expect(focusIssues(rows)).toEqual([])
    expect(focusCsv(rows, columnsOf('1.2'))).toBe(sample(name))
  }
})

const rows = () => sampleCharges().map((charge) => focusRow(charge, of))
const sum = (column: FocusColumn, category: string) =>
  sumOf(
    rows().filter((row) => row.ChargeCategory === category),
    column,
  )

test('what was bought is what was used, expired, refunded and is left', () => {
  const used = sum('EffectiveCost', 'Usage')
  const left = n('39.225')
  const parts = [used, sum('EffectiveCost', 'Adjustment'), sum('EffectiveCost', 'Credit'), left]
  const total = parts.reduce(
    (all, part) => all + Number(part.numerator) / Number(part.denominator),
    0,
  )
  expect(compare(used, n('9.025'))).toBe(0)
  expect(total).toBeCloseTo(50, 10)
  expect(compare(sum('BilledCost', 'Purchase'), n('50'))).toBe(0)
})

/** Every issue of the document, those that the official validator notices and those that it does not. */
const mutations: readonly (readonly [string, number, Partial<FocusRow>])[] = [
  ['ListCost is not price × quantity', 2, { ListCost: '1.01' }],
  ['ContractedCost is not price × quantity', 2, { ContractedCost: '0.99' }],
  ['a category of charges that does not exist', 2, { ChargeCategory: 'Use' }],
  ['a category of prices that does not exist', 2, { PricingCategory: 'Usual' }],
  ['a frequency that does not exist', 2, { ChargeFrequency: 'Monthly' }],
  ['a class that does not exist', 2, { ChargeClass: 'Corrected' }],
  ['a charge that ends before it starts', 2, { ChargePeriodEnd: '2026-11-03T08:00:00Z' }],
  ['a charge outside the billing period', 2, { ChargePeriodStart: '2026-10-03T09:00:00Z' }],
  ['negative use', 2, { ConsumedQuantity: '-2000000.0' }],
  ['a positive correction', 18, { ConsumedQuantity: '250000.0' }],
  ['a positive refund', 19, { EffectiveCost: '0.25' }],
  ['a purchase that costs effectively', 0, { EffectiveCost: '50.0' }],
  ['an empty BilledCost', 2, { BilledCost: '' }],
  ['an empty PricingQuantity', 2, { PricingQuantity: '' }],
  ['no SkuPriceId', 2, { SkuPriceId: '' }],
  ['no PricingUnit', 2, { PricingUnit: '' }],
  ['Tags that are no JSON', 2, { Tags: 'environment=production' }],
  ['a currency in small letters', 2, { BillingCurrency: 'usd' }],
  ['a date without its zone', 2, { ChargePeriodStart: '2026-11-03T09:00:00' }],
  ['a cost that is whole', 2, { EffectiveCost: '1' }],
  ['a consumed quantity of a purchase', 0, { ConsumedQuantity: '1.0' }],
  ['an account without an id', 2, { BillingAccountId: '' }],
  ['an invoice on some rows only', 2, { InvoiceId: '' }],
  ['the same kind of the same hour twice', 3, { SkuId: 'text-large/input' }],
  ['another provider', 2, { ProviderName: 'Another' }],
  ['a category of services that does not exist', 2, { ServiceCategory: 'AI' }],
]

test.each(mutations)('%s is refused', (_, at, change) => {
  const changed = rows().map((row, place) => (place === at ? { ...row, ...change } : row))
  expect(focusIssues(rows())).toEqual([])
  expect(focusIssues(changed)).not.toEqual([])
})

test('1.3 adds two columns with the same values, and 1.4 leaves two out', () => {
  const all = Object.keys(focusColumns)
  expect([...columnsOf('1.2').keys()]).toEqual(all)
  expect([...columnsOf('1.3').keys()]).toEqual([...all, 'ServiceProviderName', 'HostProviderName'])
  expect([...columnsOf('1.4').keys()]).toEqual([
    ...all.filter((name) => !['ProviderName', 'PublisherName'].includes(name)),
    ...['ServiceProviderName', 'HostProviderName'],
  ])
  const [head, , line] = focusCsv(rows(), columnsOf('1.4')).split('\n')
  expect(head!.endsWith('ServiceProviderName,HostProviderName')).toBe(true)
  expect(line!.endsWith('Example Text API,Example Text API')).toBe(true)
})

const november = {
  fromUs: utc(2026, 11, 1),
  toUs: utc(2026, 12, 1),
  contract: defaultContract,
  priceId: 'log',
}

test('rows of a store add up to its usage, by token where the prices explain the credits', {
  tags: 'whole',
}, async () => {
  const store = await openStore(':memory:')
  await enterEvents(store, [
    {
      atUs: utc(2026, 11, 3, 9),
      account: 'a',
      keyFp: 'k1',
      model: 'large',
      credits: 0.8,
      promptTokens: 30_000,
      cachedTokens: 10_000,
      completionTokens: 0,
    },
    {
      atUs: utc(2026, 11, 3, 9, 30),
      account: 'a',
      keyFp: 'k1',
      model: 'large',
      credits: 0.16,
      promptTokens: 0,
      completionTokens: 1000,
    },
    { atUs: utc(2026, 11, 3, 9), account: 'a', keyFp: 'k1', model: 'odd', credits: 0.333333 },
    { atUs: utc(2026, 11, 4), account: 'a', keyFp: 'k2', model: 'large', credits: null },
    { atUs: utc(2026, 11, 4), account: 'b', keyFp: 'k3', model: 'large', credits: 77 },
  ])
  const prices = { large: { input: '36', output: '160', 'cached input': '8' } }
  const made = await readFocus(store, {
    ...november,
    of: { ...of, account: 'a' },
    bucket: 'hour',
    keyNames: { k1: 'billing' },
    prices,
    view: 'billing',
  })
  expect(made.unknownRequests).toBe(1)
  expect(
    made.rows.map((row) => [
      row.SkuId,
      row.SubAccountName,
      row.PricingQuantity,
      row.EffectiveCost,
      row.x_Requests,
    ]),
  ).toEqual([
    ['large/input', 'billing', '0.02', '0.009', '2'],
    ['large/output', 'billing', '0.001', '0.002', '0'],
    ['large/cached input', 'billing', '0.01', '0.001', '0'],
    ['odd/request', 'billing', '0.333333', '0.0041666625', '1'],
  ])
  const showback = await readFocus(store, {
    ...november,
    of: { ...of, account: 'a' },
    bucket: 'day',
    keyNames: {},
    prices: {},
    view: 'showback',
  })
  expect(
    showback.rows.every((row) => row.BilledCost === row.EffectiveCost && row.BilledCost !== '0.0'),
  ).toBe(true)
  store.close()
})

test('own dimensions are Tags of each row, and rows of a tag add up to its usage less refunds', {
  tags: 'whole',
}, async () => {
  const store = await openStore(':memory:')
  const team = (name: string) => JSON.stringify({ [odd]: 'x', team: name })
  const odd = `__proto__ "'/~`
  const at = (hour: number) => ({ atUs: utc(2026, 11, 3, hour), account: 'a', keyFp: 'k1' })
  await enterEvents(store, [
    { ...at(9), credits: 8, tags: team('search') },
    { ...at(9), credits: 2, tags: team('chat') },
    { ...at(10), credits: 4 },
    { ...at(12), credits: -3, tags: team('search'), type: 'refund', requests: 0 },
    { ...at(13), credits: 500, type: 'purchase', requests: 0 },
  ])
  const { rows } = await readFocus(store, {
    ...november,
    of: { ...of, account: 'a' },
    ...{ bucket: 'hour', keyNames: {}, prices: {}, view: 'billing' },
  })
  store.close()
  const sums: Record<string, number> = {}
  for (const { Tags, ChargeCategory, EffectiveCost } of rows) {
    if (ChargeCategory === 'Purchase') continue
    sums[Tags] = (sums[Tags] ?? 0) + Number(EffectiveCost) / 0.0125
  }
  const search = rows.find(({ ChargeCategory }) => ChargeCategory === 'Credit')!.Tags
  expect(Object.entries(JSON.parse(search))).toEqual([
    [odd, 'x'],
    ['team', 'search'],
  ])
  expect(
    Object.values(sums)
      .map(Math.round)
      .sort((a, b) => a - b),
  ).toEqual([2, 4, 5])
  expect([Math.round(sums[search]!), Math.round(sums['{}']!)]).toEqual([5, 4])
})

test('sums of drawn usage are those of the events, by key and model', {
  tags: 'whole',
}, async () => {
  const event = fc.record({
    day: fc.integer({ min: 1, max: 30 }),
    key: fc.constantFrom('k1', 'k2'),
    model: fc.constantFrom('m', 'n'),
    credits: fc.integer({ min: 0, max: 5_000_000 }).map((micro) => micro / 1e6),
  })
  const store = await openStore(':memory:')
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { minLength: 1, maxLength: 12 }),
      fc.constantFrom('hour', 'day'),
      async (events, bucket) => {
        await store.execute('DELETE FROM usage_events')
        await enterEvents(
          store,
          events.map(({ day, key, ...rest }) => ({
            ...rest,
            atUs: utc(2026, 11, day, 5),
            keyFp: key,
            account: 'a',
          })),
        )
        const { rows: made } = await readFocus(store, {
          ...november,
          of: { ...of, account: 'a' },
          bucket,
          keyNames: {},
          prices: {},
          view: 'billing',
        })
        for (const key of ['k1', 'k2']) {
          for (const model of ['m', 'n']) {
            const micro = events
              .filter((each) => each.key === key && each.model === model)
              .reduce((total, { credits }) => total + Math.round(credits * 1e6), 0)
            const own = made.filter(
              (row) => row.SubAccountId === key && row.SkuId === `${model}/request`,
            )
            expect(
              compare(
                sumOf(own, 'PricingCurrencyEffectiveCost'),
                rational(BigInt(micro), 1_000_000n),
              ),
            ).toBe(0)
          }
        }
      },
    ),
    { numRuns: tries(8, 50) },
  )
  store.close()
})

test('the file of one account is the same without the others, and has no mark of them', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const fileOf = async (some: typeof accounts) => {
    const store = await openStore(':memory:')
    await enterMarked(store, some)
    const { rows: made } = await readFocus(store, {
      ...november,
      of: { ...of, account: subject.name },
      bucket: 'hour',
      keyNames,
      prices: {},
      view: 'billing',
    })
    store.close()
    return focusCsv(made, columnsOf('1.2'))
  }
  const file = await fileOf(accounts.slice(0, 12))
  expect(file).toBe(await fileOf([subject]))
  expect(file).toContain(subject.model)
  for (const mark of marksOfOthers) expect(file.includes(mark) ? mark : '').toBe('')
})
