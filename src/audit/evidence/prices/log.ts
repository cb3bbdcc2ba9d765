import {
  type LoggedTokens,
  type LogTerms,
  type LogToken,
  logTokens,
  type PriceTerms,
} from '../../../contract/prices.ts'
import { isEqual, negate, one, type Rational } from '../../../money/rational.ts'
import type { StatedCost } from '../../../price/judge/request.ts'
import { entryOf } from '../../../user/lookup.ts'
import { UserError } from '../../../user/user-error.ts'
import { amountOf, atPlace, WrittenNumber } from './answer-json.ts'
import { type IsRow, logRows } from './log-rows.ts'
import { isPlainNumber, readTime } from './log-time.ts'
import { type InUnit, inUnit } from './stated-costs.ts'
import { unreadableText } from './unreadable.ts'

export interface LogRow {
  readonly id: string | null
  readonly cost: StatedCost | null
  /** A cost that is no number, as it is written; null without one. */
  readonly unreadable: string | null
  /** Counts and a time that nobody can read: `prompt "1,234"`. */
  readonly unread: readonly string[]
  /** Every name that the row gives: a gateway's own, the vendor's. */
  readonly models: readonly string[]
  readonly atMs: number | null
  /** Whether its time is written without a zone, and so read as UTC. */
  readonly isZoneOpen: boolean
  readonly tokens: LoggedTokens
  /** Whoever pays: rows of others are not those of the audited requests. */
  readonly payer: string | null
  readonly line: number
}

/** Places in the rows of well-known logs. */
export const usualPlaces: Readonly<
  Record<'cost' | 'id' | 'model' | 'at' | 'payer', readonly string[]>
> = {
  cost: ['spend', 'quota', 'total_cost', 'cost_total', 'cost', 'usage.cost', 'credits', 'amount'],
  id: ['request_id', 'generation_id', 'response_id', 'id'],
  model: ['model_group', 'model', 'model_name', 'model_permaslug', 'request_model'],
  at: [
    'startTime',
    'start_time',
    'created_at',
    'request_created_at',
    'timestamp',
    'time',
    'at',
    'date',
  ],
  payer: ['api_key', 'token_name', 'key', 'api_key_name', 'user'],
}

/** OpenRouter and new-api have parts of the prompt and of the output under these names; LiteLLM has them deeper. */
const usualTokens: Readonly<Record<LogToken, readonly string[]>> = {
  prompt: ['prompt_tokens', 'native_tokens_prompt', 'input_tokens', 'tokens_prompt'],
  completion: [
    'completion_tokens',
    'native_tokens_completion',
    'output_tokens',
    'tokens_completion',
  ],
  cache_read: [
    'native_tokens_cached',
    'other.cache_tokens',
    'metadata.usage_object.prompt_tokens_details.cached_tokens',
  ],
  cache_write: [],
  cache_write_1h: [],
  reasoning: [
    'native_tokens_reasoning',
    'metadata.usage_object.completion_tokens_details.reasoning_tokens',
  ],
}

/**
 * Reads the service's own log: a JSON list, a page with a list in it, one object or page a line, or CSV with a head. Numbers
 * keep their text.
 *
 * @param terms the contract's places; null for those of well-known logs
 * @throws UserError if the text is no log, ends in the middle, or has no cost in any row
 */
export function readPriceLog(
  text: string,
  file: string,
  terms: LogTerms | null,
  money: Money | null = null,
): readonly LogRow[] {
  const rows = logRows(text, file, isRowOf(terms)).filter((row) => !isNoCharge(row))
  const read = rows.map((row, at) => logRow(row, at + 1, terms, money))
  if (rows.length > 0 && read.every((row) => row.cost === null && row.unreadable === null)) {
    const names = Object.keys(rows[0] as object).slice(0, 12)
    throw new UserError(
      'import',
      `--log: ${file} has no cost in any row. Expected ${terms?.cost ?? usualPlaces.cost.join(', ')}; its fields are ${names.join(', ')}. Name the place in the contract: evidence: { log: { cost: … } }.`,
    )
  }
  return read
}

/** The value at the contract's place, or else at the first usual one that has any. */
export function placed(
  row: unknown,
  own: string | null | undefined,
  usual: readonly string[],
): unknown {
  for (const place of own == null ? usual : [own]) {
    const value = atPlace(row, place)
    if (value !== undefined && value !== null && value !== '') return value
  }
  return undefined
}

/** A number that was parsed without its text. */
const asText = (value: unknown) => (typeof value === 'number' ? String(value) : value)

/** What tells a row of the log from a page of it: a cost, and what it is for. A page may have a sum of costs. */
export function isRowOf(terms: LogTerms | null): IsRow {
  return (document) =>
    amountOf(asText(placed(document, terms?.cost, usualPlaces.cost))) !== null &&
    (['id', 'model', 'at'] as const).some(
      (name) => placed(document, terms?.[name], usualPlaces[name]) !== undefined,
    )
}

/** Types of rows of one-api and new-api that are no charge: purchases, what operators did, and what the system did. */
const noCharges = ['1', '3', '4']
const refundType = '6'

/** The type of a row of one-api or new-api; null for a row of any other log. */
const quotaType = (row: unknown): string | null =>
  atPlace(row, 'quota') === undefined ? null : textOf(atPlace(row, 'type'))

function isNoCharge(row: unknown): boolean {
  const type = quotaType(row)
  return type !== null && noCharges.includes(type)
}

const isRefund = (row: unknown) => quotaType(row) === refundType

/** A refund is written as what was paid back. */
function paidBack<Shown extends { readonly text: string }>(amount: Shown, row: unknown): Shown {
  return isRefund(row) && !amount.text.startsWith('-')
    ? { ...amount, text: `-${amount.text}` }
    : amount
}

const valueOfRow = ({ value }: { readonly value: Rational }, row: unknown): Rational =>
  isRefund(row) && value.numerator > 0n ? negate(value) : value

/** The currency of a contract, and the others that it knows. */
export type Money = Pick<PriceTerms, 'currency' | 'is'>

/**
 * An amount in the currency of the contract. A row may name its own: its amount, with that name, is unreadable if the contract
 * knows no rate of it. A contract that says what unit its places have is right.
 */
export function inContract<Shown extends { readonly text: string; readonly value: Rational }>(
  amount: Shown,
  row: unknown,
  terms: LogTerms | null,
  money: Money | null,
): { readonly amount: InUnit<Shown> } | { readonly unreadable: string } {
  const times = terms?.times ?? one
  const named = isEqual(times, one) ? textOf(placed(row, null, currencyPlaces)) : null
  const isOther =
    money !== null && named !== null && named.toUpperCase() !== money.currency.name.toUpperCase()
  if (!isOther) return { amount: inUnit(amount, times) }
  const rate = entryOf(money.is, named) ?? entryOf(money.is, named.toUpperCase())
  return rate === undefined
    ? { unreadable: `${amount.text} ${named}` }
    : { amount: inUnit(amount, rate) }
}

const currencyPlaces = ['currency', 'cost_currency', 'billing_currency', 'spend_currency']

function logRow(row: unknown, line: number, terms: LogTerms | null, money: Money | null): LogRow {
  const first = (own: string | null | undefined, usual: readonly string[]) =>
    placed(row, own, usual)
  const shown = first(terms?.cost, usualPlaces.cost)
  const written = amountOf(shown)
  const told = written === null ? null : inContract(written, row, terms, money)
  const amount = told !== null && 'amount' in told ? told.amount : null
  const places = terms?.tokens ?? {}
  const counts = logTokens.map((name) => [name, first(places[name], usualTokens[name])] as const)
  const at = timeIn(row, terms?.at)
  return {
    id: textOf(first(terms?.id, usualPlaces.id)),
    cost:
      amount === null
        ? null
        : { place: 'log', ...paidBack(amount, row), value: valueOfRow(amount, row) },
    unreadable: told !== null && 'unreadable' in told ? told.unreadable : unreadableText(shown),
    models: [terms?.model, ...usualPlaces.model].flatMap((place) => {
      const name = place == null ? null : textOf(atPlace(row, place))
      return name === null || name === '' ? [] : [name]
    }),
    atMs: timeOf(at),
    isZoneOpen: momentOf(at)?.isZoneOpen ?? false,
    tokens: Object.fromEntries(counts.map(([name, count]) => [name, countOf(count)])) as Record<
      LogToken,
      number | null
    >,
    unread: [
      ...counts.filter(([, count]) => countOf(count) === null),
      ...(timeOf(at) === null ? [['at', at] as const] : []),
    ].flatMap(([name, value]) => {
      const text = writtenText(value)
      return text === null ? [] : [`${name} ${JSON.stringify(text)}`]
    }),
    payer: textOf(first(undefined, usualPlaces.payer)),
    line,
  }
}

/** A value that says something, as it is written. */
function writtenText(value: unknown): string | null {
  const text = textOf(value)?.trim() ?? ''
  return text === '' || /^(?:-|n\/?a|none|null)$/i.test(text) ? null : text
}

export function textOf(value: unknown): string | null {
  if (value instanceof WrittenNumber) return value.text
  return typeof value === 'string' ? value : null
}

export function countOf(value: unknown): number | null {
  const text = textOf(value)
  const count = text === null ? Number.NaN : Number(text)
  return Number.isSafeInteger(count) ? count : null
}

/** A time of UTC where it has no offset; a number of seconds to nanoseconds, or text. */
export const timeOf = (value: unknown): number | null => momentOf(value)?.atMs ?? null

function momentOf(value: unknown) {
  const text = textOf(value)
  return text === null ? null : readTime(text)
}

/** The value at the contract's place of times, or at the first usual one that is none of a duration. */
function timeIn(row: unknown, own: string | null | undefined): unknown {
  if (own != null) return placed(row, own, [])
  const isMoment = (value: unknown) =>
    momentOf(value) !== null || !isPlainNumber(textOf(value)?.trim() ?? '')
  return usualPlaces.at
    .map((place) => placed(row, place, []))
    .find((value) => value !== undefined && isMoment(value))
}
