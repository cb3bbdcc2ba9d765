import { isList, isObject, type JsonObject } from '../json.ts'
import { creditsNamed, spent } from './credits.ts'
import { type Field, fieldsOf, numbersNamed, numeric, timeZoneNamed } from './fields.ts'

/** A line of a breakdown. */
export interface UsageBucket {
  /** The day of its time as written; null if that is in another zone than the report. */
  readonly day: string | null
  /** The earliest moment that its time can mean, Unix milliseconds; null without an hour. */
  readonly startMs: number | null
  readonly credits: number | null
  readonly requests: number | null
  readonly tokens: number | null
}

/** The kinds of breakdowns, recognised by their names or by the keys of a mapping. */
const kinds = {
  day: { name: /(?:^|_)(?:days?|daily)(?:_|$)/, key: /^\d{4}-\d{2}-\d{2}$/ },
  hour: { name: /(?:^|_)(?:hours?|hourly)(?:_|$)/, key: /^\d{4}-\d{2}-\d{2}[T ]\d{2}/ },
} as const
const other = /limit|quota|expir/

/** The lines by day or by hour: a list of objects, or a mapping from times. */
export function bucketsBy(
  kind: keyof typeof kinds,
  fields: readonly Field[],
): readonly UsageBucket[] | null {
  const zone = timeZoneNamed(fields)
  for (const { name, within, value } of fields) {
    if (!kinds[kind].name.test(name) || other.test(`${within} ${name}`)) continue
    if (isList(value) && value.every(isObject)) {
      return value.map((line) => readBucket(line, null, zone))
    }
    if (!isObject(value)) continue
    const lines = Object.entries(value)
    if (lines.length === 0 || !lines.every(([key]) => kinds[kind].key.test(key))) continue
    return lines.map(([key, line]) =>
      isObject(line)
        ? readBucket(line, key, zone)
        : {
            day: dayOf(key, zone),
            startMs: startOf(key, zone),
            credits: /request|token/.test(name) ? null : numeric(line),
            requests: null,
            tokens: null,
          },
    )
  }
  return null
}

function readBucket(line: JsonObject, key: string | null, zone: string | null): UsageBucket {
  const fields = fieldsOf(line)
  const number = (...patterns: readonly RegExp[]) => numbersNamed(fields, ...patterns)[0] ?? null
  const times = ['date', 'day', 'start', 'hour', 'time', 'timestamp', 'period']
    .map((name) => line[name])
    .filter((value) => typeof value === 'string')
  const written = key === null ? times : [key]
  const prompt = number(/prompt_tokens/, /input_tokens/)
  const completion = number(/completion_tokens/, /output_tokens/)
  return {
    day: dayOf(written[0] ?? '', zone),
    startMs: written.map((time) => startOf(time, zone)).find((ms) => ms !== null) ?? null,
    credits: creditsNamed(fields, /^(?:total_)?credits$/, ...spent)[0] ?? null,
    requests: number(/^(?:total_)?requests$/, /^request_count$/),
    tokens:
      prompt !== null && completion !== null ? prompt + completion : number(/^(?:total_)?tokens$/),
  }
}

const isUtc = (zone: string) => /^(?:etc\/)?(?:utc|gmt|z)$/i.test(zone)

/** No clock on earth is further ahead of UTC. */
const furthestAheadMs = 14 * 3_600e3

function startOf(time: string, zone: string | null): number | null {
  const [, date, hour, minutes = '00', offset] =
    /^(\d{4}-\d{2}-\d{2})[T ](\d{2})(?::(\d{2})[\d:.]*)?(Z|[+-]\d{2}:?\d{2})?$/.exec(time) ?? []
  if (date === undefined) return null
  const ms = Date.parse(`${date}T${hour}:${minutes}:00${offset ?? 'Z'}`)
  if (Number.isNaN(ms)) return null
  return offset !== undefined || (zone !== null && isUtc(zone)) ? ms : ms - furthestAheadMs
}

function dayOf(time: string, zone: string | null): string | null {
  const isElsewhere = time.endsWith('Z') && zone !== null && !isUtc(zone)
  return isElsewhere ? null : (/^\d{4}-\d{2}-\d{2}/.exec(time)?.[0] ?? null)
}

/** Sum of a field over buckets; null if one lacks it. */
export function sumOf(
  buckets: readonly UsageBucket[],
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
