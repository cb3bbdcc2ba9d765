import {
  decimalText,
  multiply,
  negate,
  type Rational,
  rational,
  readNumber,
} from '../../money/rational.ts'
import { type FocusColumn, type FocusRow, focusColumns } from './columns.ts'

/** What all rows of a file share. */
export interface FocusAccount {
  /** The account's own id, never a hash. */
  readonly account: string
  readonly label: string
  readonly product: string
  readonly serviceName: string
  /** ISO 4217. */
  readonly currency: string
  /** Of one credit, in the currency. */
  readonly creditPrice: Rational
  /** Null if the period has no invoice: then no row has one. */
  readonly invoice: string | null
  /** What `PricingCurrency` calls credits: `Credits` by the specification, `XXX` for the validator. */
  readonly creditCurrency: string
  /** Days as `2026-11-01`, UTC; the end is exclusive. */
  readonly periodStart: string
  readonly periodEnd: string
}

interface Timed {
  /** Unix microseconds. */
  readonly startUs: number
  readonly endUs: number
}

/** The price of credits that are used up: what a credit cost, or nothing for gifts. */
export type Charge =
  | (Timed & {
      readonly type: 'tokens'
      readonly model: string
      /** `input` is without `cached input`: kinds are disjoint. */
      readonly kind: string
      readonly tokens: Rational
      /** Credits for a million tokens. */
      readonly perMillion: Rational
      /** The price's own id: when it began. */
      readonly priceId: string
      readonly key: FocusKey
      readonly requests: number
      readonly creditsKnown: number
      readonly tags: Readonly<Record<string, string>>
      /** A refund after the invoice: tokens and costs are negative. */
      readonly isCorrection: boolean
      readonly requestId?: string
    })
  | (Timed & {
      readonly type: 'credits'
      readonly model: string | null
      readonly credits: Rational
      readonly key: FocusKey
      readonly tags: Readonly<Record<string, string>>
      readonly requests: number
      readonly creditsKnown: number
      readonly widthS: number | null
    })
  | (Timed & {
      readonly type: 'purchase' | 'expiry' | 'refund'
      readonly summary: string
      readonly sku: string
      readonly priceId: string
      readonly credits: Rational
      /** In the currency; of a purchase, what it cost. */
      readonly cost: Rational
      readonly tags: Readonly<Record<string, string>>
    })

export interface FocusKey {
  readonly id: string
  readonly name: string
}

/** A decimal that every reader takes for one: whole numbers have `.0`. */
export function focusNumber(value: Rational): string {
  const text = decimalText(value)
  return text.includes('.') ? text : `${text}.0`
}

const time = (us: number) => new Date(us / 1000).toISOString().replace('.000Z', 'Z')
const day = (text: string) => `${text}T00:00:00Z`
const empty = Object.fromEntries(Object.keys(focusColumns).map((name) => [name, ''])) as FocusRow
const zero = rational(0n)
const perMillion = rational(1n, 1_000_000n)

/** JSON as other tools of the field write it: with a space after colons and commas. */
const json = (value: Readonly<Record<string, string>>) =>
  `{${Object.entries(value)
    .map((pair) => pair.map((each) => JSON.stringify(each)).join(': '))
    .join(', ')}}`

export function focusRow(charge: Charge, of: FocusAccount): FocusRow {
  const row = {
    ...empty,
    BillingAccountId: of.account,
    BillingAccountName: of.label,
    BillingAccountType: 'Customer',
    BillingCurrency: of.currency,
    InvoiceId: of.invoice ?? '',
    InvoiceIssuerName: of.product,
    BillingPeriodStart: day(of.periodStart),
    BillingPeriodEnd: day(of.periodEnd),
    ProviderName: of.product,
    PublisherName: of.product,
    ServiceName: of.serviceName,
    ServiceCategory: 'AI and Machine Learning',
    ServiceSubcategory: 'Generative AI',
    ChargePeriodStart: time(charge.startUs),
    ChargePeriodEnd: time(charge.endUs),
    PricingCategory: 'Standard',
    Tags: '{}',
  }
  switch (charge.type) {
    case 'tokens':
      return { ...row, ...tokensOf(charge, of) }
    case 'credits':
      return { ...row, ...creditsOf(charge, of) }
    default:
      return { ...row, ...entryOf(charge, of) }
  }
}

/** The four costs and the prices that they come from: what was used up is not billed again. */
function costs(quantity: Rational, credits: Rational, unit: Rational, of: FocusAccount) {
  const price = multiply(unit, of.creditPrice)
  const cost = focusNumber(multiply(price, quantity))
  return {
    BilledCost: '0.0',
    ListCost: cost,
    ContractedCost: cost,
    EffectiveCost: cost,
    ListUnitPrice: focusNumber(price),
    ContractedUnitPrice: focusNumber(price),
    PricingCurrency: of.creditCurrency,
    PricingQuantity: focusNumber(quantity),
    PricingCurrencyListUnitPrice: focusNumber(unit),
    PricingCurrencyContractedUnitPrice: focusNumber(unit),
    PricingCurrencyEffectiveCost: focusNumber(credits),
  }
}

type Cells = Partial<Record<FocusColumn, string>>

const keyCells = ({ id, name }: FocusKey): Cells => ({
  SubAccountId: id,
  SubAccountName: name,
  SubAccountType: 'API Key',
})

function tokensOf(charge: Extract<Charge, { type: 'tokens' }>, of: FocusAccount): Cells {
  const { model, kind, priceId, key, requests, creditsKnown, tags, isCorrection } = charge
  const tokens = isCorrection ? negate(charge.tokens) : charge.tokens
  const quantity = multiply(tokens, perMillion)
  const meter = kind.charAt(0).toUpperCase() + kind.slice(1)
  return {
    ...costs(quantity, multiply(quantity, charge.perMillion), charge.perMillion, of),
    ChargeCategory: 'Usage',
    ChargeClass: isCorrection ? 'Correction' : '',
    ChargeDescription: `${model}, ${kind} tokens${isCorrection ? ', refunded' : ''}`,
    ChargeFrequency: 'Usage-Based',
    ConsumedQuantity: focusNumber(tokens),
    ConsumedUnit: 'Tokens',
    PricingUnit: '1000000 Tokens',
    SkuId: `${model}/${kind}`,
    SkuMeter: `${meter} Tokens`,
    SkuPriceId: `${model}/${kind}/${priceId}`,
    SkuPriceDetails: json({ x_TokenKind: kind, x_Model: model }),
    Tags: json(tags),
    ...keyCells(key),
    x_Requests: String(requests),
    x_CreditsKnown: String(creditsKnown),
    ...(charge.requestId === undefined
      ? {}
      : { ResourceId: charge.requestId, ResourceName: charge.requestId, ResourceType: 'Request' }),
  }
}

/** Without a price of tokens, what is priced is the credits that were charged. */
function creditsOf(charge: Extract<Charge, { type: 'credits' }>, of: FocusAccount): Cells {
  const { model, credits, key, tags, requests, creditsKnown, widthS } = charge
  const name = model ?? 'unknown model'
  return {
    ...costs(credits, credits, rational(1n), of),
    ChargeCategory: 'Usage',
    ChargeDescription: `${name}, requests`,
    ChargeFrequency: 'Usage-Based',
    ConsumedQuantity: focusNumber(rational(BigInt(requests))),
    ConsumedUnit: 'Requests',
    PricingUnit: 'Credits',
    SkuId: `${name}/request`,
    SkuMeter: 'Requests',
    SkuPriceId: `${name}/request/credits`,
    SkuPriceDetails: json({ x_Model: name }),
    Tags: json(tags),
    ...keyCells(key),
    x_Requests: String(requests),
    x_CreditsKnown: String(creditsKnown),
    x_AggregateWidthSeconds: widthS === null ? '' : String(widthS),
  }
}

function entryOf(
  charge: Extract<Charge, { type: 'purchase' | 'expiry' | 'refund' }>,
  of: FocusAccount,
): Cells {
  const { type, summary, sku, priceId, credits, cost, tags } = charge
  const isPurchase = type === 'purchase'
  const billed = focusNumber(isPurchase ? cost : zero)
  // A purchase is used up later; an expiry and a refund move what was paid.
  const effective = focusNumber(isPurchase ? zero : type === 'refund' ? negate(cost) : cost)
  const price = focusNumber(of.creditPrice)
  return {
    BilledCost: billed,
    ListCost: billed,
    ContractedCost: billed,
    EffectiveCost: effective,
    ChargeCategory: { purchase: 'Purchase', expiry: 'Adjustment', refund: 'Credit' }[type],
    ChargeDescription: summary,
    ChargeFrequency: 'One-Time',
    ListUnitPrice: price,
    ContractedUnitPrice: price,
    PricingCurrency: of.currency,
    PricingCurrencyListUnitPrice: price,
    PricingCurrencyContractedUnitPrice: price,
    PricingCurrencyEffectiveCost: effective,
    PricingUnit: 'Credits',
    PricingQuantity: focusNumber(isPurchase ? credits : zero),
    SkuId: sku,
    SkuMeter: 'Credits',
    SkuPriceId: `${sku}/${priceId}`,
    SkuPriceDetails: json({ x_CreditPack: sku }),
    Tags: json(tags),
  }
}

export const exactNumber = (text: string): Rational => readNumber(text)!
