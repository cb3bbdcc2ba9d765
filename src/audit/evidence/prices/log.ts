import { isMapping } from '../../../contract/price-reader.ts'
import type { LogTerms } from '../../../contract/prices.ts'
import { multiply, one } from '../../../money/rational.ts'
import type { StatedCost } from '../../../price/judge/request.ts'
import { UserError } from '../../../user/user-error.ts'
import { amountOf, atPlace, parseWritten, WrittenNumber } from './answer-json.ts'
import { csvRows } from './csv.ts'

/** A row of the service's own log. */
export interface LogRow {
  readonly id: string | null
  readonly cost: StatedCost | null
  /** Every name that the row gives: a gateway's own, the vendor's. */
  readonly models: readonly string[]
  readonly atMs: number | null
  /** The time is of whole seconds, or finer. */
  readonly tokens: { readonly prompt: number | null; readonly completion: number | null }
  /** Whoever pays: rows of others are not those of the audited requests. */
  readonly payer: string | null
  readonly line: number
}

/** Places in the rows of well-known logs. */
const known: Readonly<
  Record<'cost' | 'id' | 'model' | 'at' | 'prompt' | 'completion' | 'payer', readonly string[]>
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
  prompt: ['prompt_tokens', 'native_tokens_prompt', 'input_tokens', 'tokens_prompt'],
  completion: [
    'completion_tokens',
    'native_tokens_completion',
    'output_tokens',
    'tokens_completion',
  ],
  payer: ['api_key', 'token_name', 'key', 'api_key_name', 'user'],
}

/**
 * Reads the service's own log: a JSON list, a page with a list in it, one object a line, or CSV with a head. Numbers keep their text.
 *
 * @param terms the contract's places; null for those of well-known logs
 * @throws UserError if the text is no log, ends in the middle, or has no cost in any row
 */
export function readPriceLog(
  text: string,
  file: string,
  terms: LogTerms | null,
): readonly LogRow[] {
  const rows = rowsOf(text, file)
  const read = rows.map((row, at) => logRow(row, at + 1, terms))
  if (rows.length > 0 && read.every(({ cost }) => cost === null)) {
    const names = Object.keys(rows[0] as object).slice(0, 12)
    throw new UserError(
      'import',
      `--log: ${file} has no cost in any row. Expected ${terms?.cost ?? known.cost.join(', ')}; its fields are ${names.join(', ')}. Name the place in the contract: evidence: { log: { cost: … } }.`,
    )
  }
  return read
}

function rowsOf(text: string, file: string): readonly unknown[] {
  const csv = csvRows(text)
  if (csv !== null) return csv
  const trimmed = text.trim()
  const whole = parseWritten(trimmed)
  const list = listIn(whole)
  if (list !== null) return list
  const lines = trimmed.split(/\r?\n/).filter((line) => line.trim() !== '')
  return lines.map((line, at) => {
    const row = parseWritten(line)
    if (isMapping(row)) return row
    const isLast = at === lines.length - 1 && at > 0
    throw new UserError(
      'import',
      isLast
        ? `--log: ${file} ends in the middle of line ${at + 1}, and nothing was judged. Export it again.`
        : `--log: ${file}, line ${at + 1}: expected a JSON object, as LiteLLM's /spend/logs or new-api's /api/log write it.`,
    )
  })
}

/** The list of rows of a document: itself, or the list in a page. */
function listIn(document: unknown): readonly unknown[] | null {
  if (Array.isArray(document)) return document.filter(isMapping)
  if (!isMapping(document)) return null
  for (const place of ['data', 'logs', 'items', 'rows', 'results', 'data.items', 'data.logs']) {
    const list = atPlace(document, place)
    if (Array.isArray(list)) return list.filter(isMapping)
  }
  const { data } = document
  return [isMapping(data) ? data : document]
}

function logRow(row: unknown, line: number, terms: LogTerms | null): LogRow {
  const first = (own: string | null | undefined, usual: readonly string[]) => {
    for (const place of own == null ? usual : [own]) {
      const value = atPlace(row, place)
      if (value !== undefined && value !== null && value !== '') return value
    }
    return undefined
  }
  const amount = amountOf(first(terms?.cost, known.cost))
  const tokens = terms?.tokens ?? {}
  return {
    id: textOf(first(terms?.id, known.id)),
    cost:
      amount === null
        ? null
        : { place: 'log', ...amount, value: multiply(amount.value, terms?.times ?? one) },
    models: [terms?.model, ...known.model].flatMap((place) => {
      const name = place == null ? null : textOf(atPlace(row, place))
      return name === null || name === '' ? [] : [name]
    }),
    atMs: timeOf(first(terms?.at, known.at)),
    tokens: {
      prompt: countOf(first(tokens.prompt, known.prompt)),
      completion: countOf(first(tokens.completion, known.completion)),
    },
    payer: textOf(first(undefined, known.payer)),
    line,
  }
}

function textOf(value: unknown): string | null {
  if (value instanceof WrittenNumber) return value.text
  return typeof value === 'string' ? value : null
}

function countOf(value: unknown): number | null {
  const text = textOf(value)
  const count = text === null ? Number.NaN : Number(text)
  return Number.isSafeInteger(count) ? count : null
}

/** A time of UTC where it has no offset; seconds, milliseconds or text. */
function timeOf(value: unknown): number | null {
  const text = textOf(value)
  if (text === null) return null
  if (/^\d{10}(\.\d+)?$/.test(text)) return Number(text) * 1000
  if (/^\d{13}(\.\d+)?$/.test(text)) return Number(text)
  const iso = text.trim().replace(' ', 'T')
  const at = Date.parse(/(Z|[+-]\d\d:?\d\d)$/i.test(iso) ? iso : `${iso}Z`)
  return Number.isNaN(at) ? null : at
}
