import { lookup } from '../../../user/lookup.ts'
import { chargeTokens, type TokenKind } from './charge-tokens.ts'
import type { KnownFormat } from './format.ts'
import { at, type Fields, first, listOf } from './row.ts'

const costTypes: Readonly<Record<string, string>> = lookup({
  regular: 'usage',
  tax: 'tax',
  adjustment: 'adjustment',
  rounding_error: 'adjustment',
})

/** A credit that lowers the price is a discount: `SUSTAINED_USAGE_DISCOUNT`. The others are given, such as a promotion. */
const creditType = (word: string) => (/DISCOUNT|MARGIN/i.test(word) ? 'discount' : 'credit')

/**
 * Google Cloud's billing export, as BigQuery writes rows of JSON. `cost` is before its credits, which are a list in the row; rows are
 * never stated again, so all of them add up. Names of fields:
 * cloud.google.com/billing/docs/how-to/export-data-bigquery-tables/standard-usage
 */
export const gcpBilling: KnownFormat = {
  name: 'Google Cloud billing export',
  source: 'gcp',
  recognises: (has) =>
    has('billing_account_id') && has('usage_start_time') && has('credits') && has('sku'),
  amountColumns: () => false,
  needed: ['usage_start_time', 'usage_end_time', 'cost', 'currency', 'cost_type', 'credits'],
  *rows(row) {
    const sku = String(at(row, 'sku', 'description') ?? '')
    const { model, kind } = skuOf(sku)
    const charge = {
      time: row.usage_start_time,
      end: row.usage_end_time,
      model,
      account: at(row, 'project', 'id'),
      unit: String(row.currency ?? ''),
      ...(isOther(row, sku) ? { otherService: String(at(row, 'service', 'description')) } : {}),
    }
    yield {
      ...charge,
      type: typeOf(row),
      cost: row.cost,
      // The unit is a count, or tokens: what is counted stands in the name.
      ...(kind === null || !/^(count|tokens?)$/i.test(String(at(row, 'usage', 'unit')))
        ? {}
        : chargeTokens(at(row, 'usage', 'amount'), 'tokens', kind)),
    }
    for (const { type, amount } of listOf(row.credits))
      yield { ...charge, type: creditType(String(type ?? '')), cost: amount }
  },
}

/**
 * The model and the kind of token in a name: `Generate content input token count gemini 2.5 flash short input text`,
 * `Gemini 2.5 Pro Text Output - Predictions`, `Claude Haiku 4.5 Input Tokens`.
 */
export function skuOf(sku: string): {
  readonly model: string | null
  readonly kind: TokenKind | null
} {
  const [, after] = /\btoken count (?:for )?(.+)$/i.exec(sku) ?? []
  const [, before] =
    /^(.+?) (?:(?:text|image|audio|video|thinking|cached|batch|GA) )*(?:input|output|cache (?:read|write))\b/i.exec(
      sku,
    ) ?? []
  const model =
    after?.replace(
      /(?: (?:short|long|input|output|text|image|audio|video|thinking|flex|batch|priority|caching))+$/i,
      '',
    ) ?? before
  if (model === undefined) return { model: null, kind: null }
  return { model, kind: /token/i.test(sku) ? kindOf(sku) : null }
}

function kindOf(sku: string): TokenKind {
  if (/output/i.test(sku)) return 'output'
  if (!/cach/i.test(sku)) return 'input'
  return /writ|creat/i.test(sku) ? 'cacheWrite' : 'cached'
}

/** A row that corrects an earlier month says how in `adjustment_info`. */
function typeOf(row: Fields): string {
  const type = costTypes[String(row.cost_type ?? 'regular').toLowerCase()] ?? 'adjustment'
  const corrects = first(at(row, 'adjustment_info', 'mode'), at(row, 'adjustment_info', 'type'))
  return type === 'usage' && corrects !== undefined ? 'correction' : type
}

/** Taxes and roundings name an invoice. Models of others are sold under their own names. */
function isOther(row: Fields, sku: string): boolean {
  const service = String(first(at(row, 'service', 'description')) ?? '')
  return (
    service !== '' &&
    !/vertex|gemini|generative|\bAI\b|model|claude|mistral|llama|invoice|tax|support/i.test(
      service,
    ) &&
    !/token/i.test(sku)
  )
}
