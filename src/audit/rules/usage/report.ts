import {
  type Exchange,
  exchangesOf,
  isList,
  isObject,
  type Json,
  type JsonObject,
} from '../../exchange/exchange.ts'
import type { Evidence } from '../../rule.ts'

/**
 * What an answer of the credits endpoint says, whatever its fields are called (gap G-09): found by
 * their names, so another deployment's words fit too.
 */
export interface UsageReport {
  readonly exchange: Exchange
  readonly granted: number | null
  /** Over all time. */
  readonly consumed: number | null
  /** Over the range that was asked for, where the answer tells it apart. */
  readonly consumedInRange: number | null
  readonly remaining: number | null
  readonly requests: number | null
  readonly averageTokens: number | null
  readonly days: readonly Bucket[] | null
  readonly hours: readonly Bucket[] | null
}

/** A line of a break-down. */
export interface Bucket {
  /** The first ten characters of its time: the day, in the report's own zone. */
  readonly day: string | null
  readonly credits: number | null
  readonly requests: number | null
  readonly tokens: number | null
  readonly averageTokens: number | null
}

/** All answers of the credits endpoint that were captured whole, in order of time for each account. */
export async function usageReports(evidence: Evidence): Promise<readonly UsageReport[]> {
  const exchanges = await exchangesOf(evidence)
  return exchanges.flatMap((exchange) => {
    const body = exchange.row.endpoint === 'credits' && exchange.isOk ? exchange.came : undefined
    return isObject(body) ? [readReport(exchange, body)] : []
  })
}

function readReport(exchange: Exchange, body: JsonObject): UsageReport {
  return {
    exchange,
    granted: numberNamed(body, /granted/, /total_credits/, /purchased/),
    consumed: numberNamed(body, /total_(?:consumed|used|spent|usage)/, ...spent),
    consumedInRange: numberNamed(body, /^(?:consumed|used|spent|usage)$/, ...spent),
    remaining: numberNamed(body, /remaining/, /balance/, /left/),
    requests: numberNamed(body, /^requests$/, /total_requests/, /request_count/),
    averageTokens: numberNamed(body, /(?:average|avg|mean).*token/),
    days: bucketsNamed(body, /da(?:y|ily)/),
    hours: bucketsNamed(body, /hour/),
  }
}

/** What credits that are gone may be called. */
const spent = [/consumed/, /used/, /spent/, /usage/]

/** A number by its name, the first pattern first, here or one level down. */
function numberNamed(body: JsonObject, ...patterns: readonly RegExp[]): number | null {
  for (const pattern of patterns) {
    for (const [name, value] of [...Object.entries(body), ...inner(body)]) {
      if (typeof value === 'number' && pattern.test(name.toLowerCase())) return value
    }
  }
  return null
}

function inner(body: JsonObject): readonly (readonly [string, Json | undefined])[] {
  return Object.values(body).flatMap((value) => (isObject(value) ? Object.entries(value) : []))
}

function bucketsNamed(body: JsonObject, pattern: RegExp): readonly Bucket[] | null {
  for (const [name, value] of [...Object.entries(body), ...inner(body)]) {
    if (!pattern.test(name.toLowerCase())) continue
    if (isList(value)) return value.filter(isObject).map((line) => readBucket(line, null))
    if (isObject(value)) {
      return Object.entries(value).map(([key, line]) =>
        isObject(line)
          ? readBucket(line, key)
          : { ...noBucket, day: dayOf(key), credits: numeric(line) },
      )
    }
  }
  return null
}

const noBucket: Bucket = {
  day: null,
  credits: null,
  requests: null,
  tokens: null,
  averageTokens: null,
}

function readBucket(line: JsonObject, key: string | null): Bucket {
  const time = ['date', 'day', 'start', 'hour', 'time']
    .map((name) => line[name])
    .find((value) => typeof value === 'string')
  const prompt = numberNamed(line, /prompt_tokens/, /input_tokens/)
  const completion = numberNamed(line, /completion_tokens/, /output_tokens/)
  return {
    day: dayOf(key ?? (time as string | undefined) ?? ''),
    credits: numberNamed(line, /credits/, ...spent),
    requests: numberNamed(line, /requests/),
    tokens:
      prompt !== null && completion !== null
        ? prompt + completion
        : numberNamed(line, /^(?:total_)?tokens$/),
    averageTokens: numberNamed(line, /(?:average|avg|mean).*token/),
  }
}

function dayOf(time: string): string | null {
  return /^\d{4}-\d{2}-\d{2}/.exec(time)?.[0] ?? null
}

function numeric(value: Json | undefined): number | null {
  return typeof value === 'number' ? value : null
}

/** Sum of one field over buckets; null where one does not tell it. */
export function sumOf(
  buckets: readonly Bucket[],
  field: 'credits' | 'requests' | 'tokens',
): number | null {
  let sum = 0
  for (const bucket of buckets) {
    const value = bucket[field]
    if (value === null) return null
    sum += value
  }
  return sum
}
