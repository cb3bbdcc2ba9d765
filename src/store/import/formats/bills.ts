import { meterOf } from './azure.ts'
import { chargeTokens, type TokenKind } from './charge-tokens.ts'
import type { KnownFormat } from './format.ts'
import { skuOf } from './gcp.ts'
import { at, type Fields, first, nextDay } from './row.ts'

/** `lineItem/UsageStartDate` of the older report, as the newer one names it: `line_item_usage_start_date`. */
const curName = (name: string) =>
  name.includes('/')
    ? name
        .split('/')
        .map((part) => part.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase())
        .join('_')
    : name

const curRow = (row: Fields): Fields =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [curName(name), value]))

const curKinds = {
  'input-tokens': 'input',
  'output-tokens': 'output',
  'cache-read-input-token-count': 'cached',
  'cache-write-input-token-count': 'cacheWrite',
} as const

/** Meters of the models that AWS sells as its own: `USE1-NovaPro-input-tokens-batch`. */
const usageMeter =
  /^(?:(?:[A-Z]{2,4}\d|EU)-)?(.+?)-(input-tokens|output-tokens|cache-(?:read|write)-input-token-count)(?:-.*)?$/

/**
 * Meters of models that AWS sells for others: `USE1-MP:USE1_CacheReadInputTokenCount_Global-Units`,
 * `USE1-MP:USE1_output_tokens_standard-Units`. The model is the name of the product.
 */
const marketMeter = /MP:[A-Z0-9]+_(\w*tokens?\w*)-Units$/i

function marketKind(meter: string): TokenKind {
  if (/output/i.test(meter)) return 'output'
  if (!/cache/i.test(meter)) return 'input'
  return /write/i.test(meter) ? 'cacheWrite' : 'cached'
}

/** `Claude Haiku 4.5 (Amazon Bedrock Edition)`. */
function productModel(row: Fields): string | null {
  const name = String(
    first(
      row.product_product_name,
      at(row.product, 'product_name'),
      row.product_servicename,
      at(row.product, 'servicename'),
    ) ?? '',
  )
  const [, model] = /^(.+?) \(Amazon Bedrock Edition\)$/.exec(name) ?? []
  return model ?? null
}

/** The words of `line_item_line_item_type`. Any other is an adjustment: no use. */
function curType(word: string): string {
  if (/^(Usage|DiscountedUsage|SavingsPlanCoveredUsage)$/.test(word)) return 'usage'
  if (/Discount|SavingsPlanNegation/.test(word)) return 'discount'
  if (word === 'Fee') return 'purchase'
  if (/Fee$/.test(word)) return 'fee'
  return /^(Credit|Tax|Refund)$/.test(word) ? word.toLowerCase() : 'adjustment'
}

/**
 * AWS Cost and Usage Report, 2.0 and the older one. Names of columns:
 * docs.aws.amazon.com/cur/latest/userguide/table-dictionary-cur2-line-item.html; usage types of Bedrock:
 * docs.aws.amazon.com/bedrock/latest/userguide/cost-mgmt-understanding-cur-data.html. By that dictionary,
 * `identity_line_item_id` differs from one report to the next, so it is no part of a charge's identity.
 */
export const awsCur: KnownFormat = {
  name: 'AWS Cost and Usage Report',
  source: 'aws',
  recognises: (has) =>
    (has('line_item_line_item_type') && has('line_item_unblended_cost')) ||
    (has('lineItem/LineItemType') && has('lineItem/UnblendedCost')),
  amountColumns: (name) =>
    /_cost$|_rate$|_amount$|_price$|_quantity$|effective_cost|^identity_line_item_id$|^bill_invoice_id$/.test(
      curName(name),
    ),
  needed: [
    'line_item_usage_start_date',
    'line_item_usage_end_date',
    'line_item_usage_type',
    'line_item_currency_code',
  ],
  items: (document) => [curRow(document)],
  *rows(row) {
    const usageType = String(row.line_item_usage_type ?? '')
    const [, own, ownKind] = usageMeter.exec(usageType) ?? []
    const [, meter] = marketMeter.exec(usageType) ?? []
    const kind =
      meter === undefined ? curKinds[ownKind as keyof typeof curKinds] : marketKind(meter)
    const model = own ?? productModel(row)
    yield {
      time: row.line_item_usage_start_date,
      end: row.line_item_usage_end_date,
      type: curType(String(row.line_item_line_item_type ?? '')),
      model,
      account: row.line_item_usage_account_id,
      cost: row.line_item_unblended_cost,
      unit: String(row.line_item_currency_code ?? ''),
      ...(isAwsOther(row, usageType) ? { otherService: String(row.line_item_product_code) } : {}),
      ...(kind === undefined
        ? {}
        : chargeTokens(row.line_item_usage_amount, row.pricing_unit, kind)),
    }
  },
}

/**
 * A service of AWS that is none of models, such as `AmazonS3` or a plan of another service, `ComputeSavingsPlans`. Codes of the
 * marketplace, which sells models too, are no names.
 */
const isAwsOther = (row: Fields, usageType: string) => {
  const code = String(row.line_item_product_code ?? '')
  return (
    code !== '' &&
    !/^[a-z0-9]{20,}$/.test(code) &&
    !/bedrock|sagemaker|machinelearning|nova|amazonq/i.test(code) &&
    !/token/i.test(usageType)
  )
}

/** The kind of token in the name of a meter. */
function meterKind(name: string) {
  if (/output|completion/i.test(name)) return 'output'
  if (/cach/i.test(name)) return /writ|creat/i.test(name) ? 'cacheWrite' : 'cached'
  return /input|prompt/i.test(name) ? 'input' : null
}

/** Columns in which FOCUS files of clouds name the meter: Azure's, AWS's and Google's. */
const focusMeters = (row: Fields) =>
  [row.SkuMeter, row.x_SkuMeterName, row.x_UsageType, row.x_SkuDescription, row.ChargeDescription]
    .map((name) => String(name ?? ''))
    .filter((name) => name !== '')

/**
 * The model of a line. The resource of a gateway is one; that of a cloud is a path, and then the model stands in the name of the
 * meter.
 */
function focusModel(row: Fields): string | null {
  const resource = String(row.ResourceId ?? '').trim()
  const [, model] = /:(?:foundation-model|inference-profile)\/(.+)$/.exec(resource) ?? []
  if (model !== undefined) return model
  if (resource !== '' && !/^(?:\/|arn:|https?:)/i.test(resource)) return resource
  const isAzure =
    resource.startsWith('/subscriptions') || /microsoft|azure/i.test(String(row.ProviderName ?? ''))
  const named = focusMeters(row).map((meter) =>
    isAzure
      ? meterOf(meter).model
      : (usageMeter.exec(meter)?.[1] ?? skuOf(meter).model ?? meterOf(meter).model),
  )
  return (
    named.find((name) => name !== null && !/^(?:input|output|cached?|prompt)\b/i.test(name)) ?? null
  )
}

/** `ServiceCategory` is a closed list of names; `Other` may be anything. A line that counts tokens is one of models. */
const isFocusOther = (row: Fields) =>
  !/^(|other|ai and machine learning)$/i.test(String(row.ServiceCategory ?? '').trim()) &&
  !/token/i.test(String(first(row.ConsumedUnit, row.PricingUnit) ?? ''))

/**
 * FOCUS 1.x (focus.finops.org), as LiteLLM and others write it. A line is a charge of any width; the quantity of LiteLLM
 * is 1 on every line, though a line is a day of a key and a user, so requests are not known.
 */
export const focusCharges: KnownFormat = {
  name: 'FOCUS',
  source: 'focus',
  recognises: (has) => has('BilledCost') && has('ChargePeriodStart') && has('ChargeCategory'),
  amountColumns: (name) =>
    /Cost$|Quantity$|UnitPrice$|PricingCurrency(ContractedUnitPrice|EffectiveCost|ListUnitPrice)|^InvoiceId$/.test(
      name,
    ),
  needed: ['ChargePeriodEnd', 'BillingCurrency'],
  *rows(row) {
    const [meter = row.SkuId] = focusMeters(row)
    const kind = meterKind(String(meter ?? '')) ?? meterOf(String(meter ?? '')).kind
    const category = String(row.ChargeCategory ?? '').toLowerCase()
    yield {
      time: row.ChargePeriodStart,
      end: row.ChargePeriodEnd,
      type: String(row.ChargeClass ?? '') === 'Correction' ? 'correction' : category,
      model: focusModel(row),
      account: row.SubAccountId,
      ...(row.BillingAccountType === 'API Key'
        ? { keyFp: first(row.BillingAccountName, row.BillingAccountId) }
        : {}),
      cost: row.BilledCost,
      unit: String(row.BillingCurrency ?? ''),
      ...(isFocusOther(row)
        ? { otherService: String(first(row.ServiceName, row.ServiceCategory)) }
        : {}),
      ...(kind === null || !/token/i.test(String(row.ConsumedUnit ?? ''))
        ? {}
        : chargeTokens(row.ConsumedQuantity, row.ConsumedUnit, kind)),
    }
  },
}

/**
 * GitHub's report of Copilot's premium requests: docs.github.com/en/billing/reference/billing-reports. The quantity is
 * weighted by the model, so requests are not known. `net_amount` is what is paid.
 */
export const copilot: KnownFormat = {
  name: 'GitHub Copilot billing',
  source: 'copilot',
  recognises: (has) => has('applied_cost_per_quantity') && has('net_amount'),
  amountColumns: (name) => /amount$|quantity$|quota$/.test(name),
  needed: ['date', 'model'],
  *rows(row) {
    const day = String(row.date ?? '')
    yield {
      time: day,
      end: nextDay(day),
      type: 'usage',
      model: first(row.model, row.sku),
      account: row.username,
      cost: row.net_amount,
      unit: 'USD',
      // The same report lists all that GitHub bills.
      ...(/^(|copilot|models|spark)$/i.test(String(row.product ?? '').trim())
        ? {}
        : { otherService: String(row.product) }),
    }
  },
}

/**
 * Fireworks' export of billing metrics: docs.fireworks.ai/accounts/exporting-billing-metrics. It has no money, and equal
 * lines of one second are requests of their own.
 */
export const fireworks: KnownFormat = {
  name: 'Fireworks billing metrics',
  source: 'fireworks',
  withoutIds: true,
  recognises: (has) => has('accelerator_seconds') && has('base_model_name'),
  leavesOut: 'hardware by the second, which is no request',
  needed: ['start_time', 'prompt_tokens', 'completion_tokens'],
  *rows(row) {
    const count = (value: unknown) => (first(value) === undefined ? null : Number(value))
    const tokens = (count(row.prompt_tokens) ?? 0) + (count(row.completion_tokens) ?? 0)
    if (
      first(row.accelerator_seconds) !== undefined &&
      (tokens === 0 || Number(row.accelerator_seconds) > 0)
    )
      return
    yield {
      time: row.start_time,
      model: row.base_model_name,
      account: row.email,
      input: count(row.prompt_tokens),
      output: count(row.completion_tokens),
    }
  },
}
