/**
 * Columns of a FOCUS 1.2 file (https://focus.finops.org/focus-specification/v1-2/), in our order. Own columns begin with
 * `x_`. Numbers are decimals as text, without exponents.
 */
export const focusColumns = {
  BilledCost: 'number',
  BillingAccountId: 'text',
  BillingAccountName: 'text',
  BillingAccountType: 'text',
  BillingCurrency: 'text',
  BillingPeriodEnd: 'time',
  BillingPeriodStart: 'time',
  ChargeCategory: 'text',
  ChargeClass: 'text',
  ChargeDescription: 'text',
  ChargeFrequency: 'text',
  ChargePeriodEnd: 'time',
  ChargePeriodStart: 'time',
  CommitmentDiscountStatus: 'text',
  ConsumedQuantity: 'number',
  ConsumedUnit: 'text',
  ContractedCost: 'number',
  ContractedUnitPrice: 'number',
  EffectiveCost: 'number',
  InvoiceId: 'text',
  InvoiceIssuerName: 'text',
  ListCost: 'number',
  ListUnitPrice: 'number',
  PricingCategory: 'text',
  PricingCurrency: 'text',
  PricingCurrencyContractedUnitPrice: 'number',
  PricingCurrencyEffectiveCost: 'number',
  PricingCurrencyListUnitPrice: 'number',
  PricingQuantity: 'number',
  PricingUnit: 'text',
  ProviderName: 'text',
  PublisherName: 'text',
  RegionId: 'text',
  RegionName: 'text',
  ResourceId: 'text',
  ResourceName: 'text',
  ResourceType: 'text',
  ServiceCategory: 'text',
  ServiceName: 'text',
  ServiceSubcategory: 'text',
  SkuId: 'text',
  SkuMeter: 'text',
  SkuPriceDetails: 'json',
  SkuPriceId: 'text',
  SubAccountId: 'text',
  SubAccountName: 'text',
  SubAccountType: 'text',
  Tags: 'json',
  x_Requests: 'number',
  x_CreditsKnown: 'number',
  x_AggregateWidthSeconds: 'number',
} as const
export type FocusColumn = keyof typeof focusColumns

/** A charge, by column. Empty text is null. */
export type FocusRow = Readonly<Record<FocusColumn, string>>

export const focusVersions = ['1.2', '1.3', '1.4'] as const
export type FocusVersion = (typeof focusVersions)[number]

/**
 * The columns of a version, each with our column whose value it shows. Version 1.3 adds two, for the service and for its host, of
 * which a usage store knows only the provider and the publisher; 1.4 drops the two that they replace.
 */
export function columnsOf(version: FocusVersion): ReadonlyMap<string, FocusColumn> {
  const names = (Object.keys(focusColumns) as FocusColumn[]).map((name) => [name, name] as const)
  if (version === '1.2') return new Map(names)
  const added: (readonly [string, FocusColumn])[] = [
    ['ServiceProviderName', 'ProviderName'],
    ['HostProviderName', 'PublisherName'],
  ]
  const kept =
    version === '1.3'
      ? names
      : names.filter(([name]) => name !== 'ProviderName' && name !== 'PublisherName')
  return new Map<string, FocusColumn>([...kept, ...added])
}
