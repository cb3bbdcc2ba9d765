import {
  add,
  compare,
  multiply,
  type Rational,
  rational,
  readNumber,
} from '../../money/rational.ts'
import { isObject, jsonOf } from '../../user/json.ts'
import { words } from '../../user/words.ts'
import { type FocusColumn, type FocusRow, focusColumns } from './columns.ts'

/** Values that the specification allows. */
const allowed: Readonly<Partial<Record<FocusColumn, readonly string[]>>> = {
  ChargeCategory: ['Usage', 'Purchase', 'Tax', 'Credit', 'Adjustment'],
  ChargeClass: ['', 'Correction'],
  ChargeFrequency: ['One-Time', 'Recurring', 'Usage-Based'],
  PricingCategory: ['', 'Standard', 'Dynamic', 'Committed', 'Other'],
  ServiceCategory: ['AI and Machine Learning'],
  ServiceSubcategory: ['Generative AI'],
  CommitmentDiscountStatus: ['', 'Used', 'Unused'],
}

const neededColumns: readonly FocusColumn[] = [
  ...words('BilledCost BillingAccountId BillingAccountName BillingCurrency BillingPeriodStart'),
  ...words('BillingPeriodEnd ChargeCategory ChargeDescription'),
  ...([
    'ChargePeriodStart',
    'ChargePeriodEnd',
    'ContractedCost',
    'EffectiveCost',
    'ListCost',
  ] as const),
  ...([
    'InvoiceIssuerName',
    'ProviderName',
    'PublisherName',
    'ServiceCategory',
    'ServiceName',
  ] as const),
  ...words('PricingQuantity PricingUnit PricingCurrency SkuId SkuPriceId ListUnitPrice'),
  ...words('ContractedUnitPrice ChargeFrequency'),
]

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
const numberPattern = /^-?\d+\.\d+$/
const countPattern = /^\d*$/

/**
 * Checks rows as the official validator does not: allowed values, periods, signs, and costs as price times quantity, in
 * exact decimals.
 *
 * @returns issues, each with its row (from 1) and column
 */
export function focusIssues(rows: readonly FocusRow[]): readonly string[] {
  const issues: string[] = []
  for (const [at, row] of rows.entries()) {
    for (const issue of issuesOf(row)) issues.push(`row ${at + 1}: ${issue}`)
  }
  const invoices = new Set(rows.map((row) => row.InvoiceId !== ''))
  if (invoices.size > 1) issues.push('InvoiceId: all rows have one, or none')
  const places = new Map<string, number>()
  for (const [at, row] of rows.entries()) {
    if (row.ChargeCategory !== 'Usage') continue
    const place = [
      row.SubAccountId,
      row.SkuId,
      row.ChargePeriodStart,
      row.ResourceId,
      row.ChargeClass,
      row.Tags,
    ].join('\n')
    const before = places.get(place)
    if (before !== undefined)
      issues.push(`row ${at + 1}: the same key, kind, tags and time as row ${before + 1}`)
    places.set(place, at)
  }
  return issues
}

function issuesOf(row: FocusRow): readonly string[] {
  const issues: string[] = []
  const issue = (column: FocusColumn, summary: string) =>
    issues.push(
      `${column}: ${summary}, got ${row[column] === '' ? 'nothing' : JSON.stringify(row[column])}`,
    )
  for (const column of neededColumns) if (row[column] === '') issue(column, 'expected a value')
  for (const [name, values] of Object.entries(allowed)) {
    const column = name as FocusColumn
    if (!values.includes(row[column])) issue(column, `expected one of ${values.join(', ')}`)
  }
  for (const [name, kind] of Object.entries(focusColumns)) {
    const column = name as FocusColumn
    const text = row[column]
    if (text === '') continue
    if (kind === 'time' && !timePattern.test(text))
      issue(column, 'expected a time such as 2026-11-03T09:00:00Z')
    if (kind === 'json' && !isObject(jsonOf(text))) issue(column, 'expected a JSON object')
    const pattern = name.startsWith('x_') ? countPattern : numberPattern
    if (kind === 'number' && !pattern.test(text)) issue(column, 'expected a decimal')
  }
  if (!/^[A-Z]{3}$/.test(row.BillingCurrency)) issue('BillingCurrency', 'expected an ISO 4217 code')
  if (!/^(Credits|[A-Z]{3})$/.test(row.PricingCurrency))
    issue('PricingCurrency', 'expected Credits or an ISO 4217 code')
  if (row.SkuPriceId === '' && row.SkuPriceDetails !== '')
    issue('SkuPriceDetails', 'expected nothing without SkuPriceId')
  if (new Set([row.InvoiceIssuerName, row.ProviderName, row.PublisherName]).size > 1) {
    issue('ProviderName', 'expected the name of the issuer of the invoice')
  }
  return [...issues, ...periodIssues(row), ...costIssues(row)]
}

function periodIssues(row: FocusRow): readonly string[] {
  const [start, end] = [Date.parse(row.ChargePeriodStart), Date.parse(row.ChargePeriodEnd)]
  const [from, to] = [Date.parse(row.BillingPeriodStart), Date.parse(row.BillingPeriodEnd)]
  return [
    ...(end > start ? [] : ['ChargePeriodEnd: expected a time after ChargePeriodStart']),
    ...(to > from ? [] : ['BillingPeriodEnd: expected a time after BillingPeriodStart']),
    ...(start >= from && start < to
      ? []
      : ['ChargePeriodStart: expected a time within the billing period']),
    // What is bought may last longer.
    ...(row.ChargeCategory === 'Purchase' || end <= to
      ? []
      : ['ChargePeriodEnd: expected a time within the billing period']),
  ]
}

function costIssues(row: FocusRow): readonly string[] {
  const value = (column: FocusColumn): Rational | null =>
    numberPattern.test(row[column]) ? readNumber(row[column]) : null
  const issues: string[] = []
  const quantity = value('PricingQuantity')
  for (const [cost, price] of [
    ['ListCost', 'ListUnitPrice'],
    ['ContractedCost', 'ContractedUnitPrice'],
  ] as const) {
    const [total, unit] = [value(cost), value(price)]
    if (total === null || unit === null || quantity === null) continue
    if (compare(total, multiply(unit, quantity)) !== 0) {
      issues.push(
        `${cost}: ${row[cost]} is not ${price} × PricingQuantity (${row[price]} × ${row.PricingQuantity})`,
      )
    }
  }
  const isUsage = row.ChargeCategory === 'Usage'
  const isCorrection = row.ChargeClass === 'Correction'
  if (!isUsage && (row.ConsumedQuantity !== '' || row.ConsumedUnit !== '')) {
    issues.push('ConsumedQuantity: expected nothing, as nothing was used')
  }
  if (isUsage && row.ConsumedQuantity === '')
    issues.push('ConsumedQuantity: expected what was used')
  const signs: readonly (readonly [FocusColumn, 'positive' | 'negative' | 'zero'])[] = isUsage
    ? (
        [
          'ConsumedQuantity',
          'PricingQuantity',
          'ListCost',
          'ContractedCost',
          'EffectiveCost',
          'PricingCurrencyEffectiveCost',
        ] as const
      ).map((column) => [column, isCorrection ? 'negative' : 'positive'] as const)
    : row.ChargeCategory === 'Purchase'
      ? [
          ['BilledCost', 'positive'],
          ['EffectiveCost', 'zero'],
          ['PricingQuantity', 'positive'],
        ]
      : row.ChargeCategory === 'Credit'
        ? [
            ['BilledCost', 'negative'],
            ['EffectiveCost', 'negative'],
          ]
        : row.ChargeCategory === 'Adjustment'
          ? [
              ['BilledCost', 'zero'],
              ['EffectiveCost', 'positive'],
            ]
          : []
  for (const [column, sign] of signs) {
    const number = value(column)
    if (number === null) continue
    const order = compare(number, rational(0n))
    if (order === 0 || order === { positive: 1, negative: -1, zero: 0 }[sign]) continue
    issues.push(
      `${column}: expected ${sign === 'zero' ? '0' : `a ${sign} amount or 0`}, got ${row[column]}`,
    )
  }
  return issues
}

export function sumOf(rows: readonly FocusRow[], column: FocusColumn): Rational {
  return rows.reduce(
    (sum, row) => (row[column] === '' ? sum : add(sum, readNumber(row[column])!)),
    rational(0n),
  )
}
