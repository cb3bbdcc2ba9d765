import { dayMs, hourMs } from '../../../user/durations.ts'
import { isList, isObject, type Json, type JsonObject } from '../json.ts'
import {
  type Field,
  fieldsOf,
  numbersNamed,
  numeric,
  ofCredits,
  spent,
  timeZoneNamed,
} from './fields.ts'
import { dayIn, isZone, localSpan } from './zones.ts'

/** A line of a breakdown. */
export interface UsageBucket {
  /** Its day in the zone of the report, else as written; null if it is of two days, or its time is unknown. */
  readonly day: string | null
  /** Its day as written: the zone that a report names may be that of its reader. */
  readonly written: string | null
  /** The earliest moment at which it can begin, Unix milliseconds; null without a time. */
  readonly startMs: number | null
  /** The latest moment at which it can end. */
  readonly endMs: number | null
  readonly credits: number | null
  readonly requests: number | null
  readonly tokens: number | null
}

/** The kinds of breakdowns, recognised by their names or by the keys of a mapping. */
const kinds = {
  day: { name: /(?:^|_)(?:days?|daily)(?:_|$)/, key: /^\d{4}-\d{2}-\d{2}$/ },
  hour: { name: /(?:^|_)(?:hours?|hourly)(?:_|$)/, key: /^\d{4}-\d{2}-\d{2}[T ]\d{2}/ },
} as const
type Kind = keyof typeof kinds

const other = /limit|quota|expir/

/** Objects whose lines are those of a part of the account. */
const ofAPart = /model|endpoint|keys?\b|user|project|team|member|organi[sz]ation/

export interface Breakdowns {
  readonly days: readonly UsageBucket[] | null
  readonly hours: readonly UsageBucket[] | null
}

/** The lines by day and by hour, of the whole account or of the same part of it: lists of objects, or mappings from times. */
export function breakdownsOf(fields: readonly Field[]): Breakdowns {
  const zone = timeZoneNamed(fields)
  const [days, hours] = (['day', 'hour'] as const).map((kind) => breakdownsBy(kind, fields, zone))
  const first = [...days!, ...hours!].toSorted((a, b) => a.part.length - b.part.length)[0]
  const linesIn = (all: typeof days) => all!.find(({ part }) => part === first?.part)?.lines ?? null
  return { days: linesIn(days), hours: linesIn(hours) }
}

function breakdownsBy(kind: Kind, fields: readonly Field[], zone: string | null) {
  return fields.flatMap(({ name, within, value }) => {
    if (!kinds[kind].name.test(name) || other.test(`${within} ${name}`)) return []
    const lines = linesOf(kind, name, value, zone)
    return lines === null ? [] : [{ part: ofAPart.test(within) ? within : '', lines }]
  })
}

function linesOf(
  kind: Kind,
  name: string,
  value: Json | undefined,
  zone: string | null,
): readonly UsageBucket[] | null {
  if (isList(value) && value.every(isObject))
    return value.map((line) => readBucket(kind, line, null, zone))
  if (!isObject(value)) return null
  const lines = Object.entries(value)
  if (lines.length === 0 || !lines.every(([key]) => kinds[kind].key.test(key))) return null
  return lines.map(([key, line]) =>
    isObject(line)
      ? readBucket(kind, line, key, zone)
      : {
          ...timeOf(kind, [key], zone),
          credits: /request|token/.test(name) ? null : numeric(line),
          requests: null,
          tokens: null,
        },
  )
}

function readBucket(
  kind: Kind,
  line: JsonObject,
  key: string | null,
  zone: string | null,
): UsageBucket {
  const fields = fieldsOf(line)
  const number = (...patterns: readonly RegExp[]) => numbersNamed(fields, ...patterns)[0] ?? null
  const prompt = number(/prompt_tokens/, /input_tokens/)
  const completion = number(/completion_tokens/, /output_tokens/)
  const names = ['date', 'day', 'start', 'hour', 'time', 'timestamp', 'period']
  return {
    ...timeOf(kind, key === null ? names.map((name) => line[name]) : [key], zone),
    credits: numbersNamed(ofCredits(fields), /^(?:total_)?credits$/, ...spent)[0] ?? null,
    requests: number(/^(?:total_)?requests$/, /^request_count$/),
    tokens:
      prompt !== null && completion !== null ? prompt + completion : number(/^(?:total_)?tokens$/),
  }
}

type Time = Pick<UsageBucket, 'day' | 'written' | 'startMs' | 'endMs'>

const unknownTime: Time = { day: null, written: null, startMs: null, endMs: null }
const lengthMs: Readonly<Record<Kind, number>> = { day: dayMs, hour: hourMs }

/** When a line begins and ends: by Unix time, by a day or a moment as it is written, or by a day and an hour of it. */
function timeOf(kind: Kind, values: readonly (Json | undefined)[], zone: string | null): Time {
  const epoch = values.map(epochMs).find((ms) => ms !== null)
  if (epoch != null) return ofMoment(epoch, kind, zone)
  const moments = values.flatMap((value) => momentOf(value) ?? [])
  const moment = moments.find(({ clock }) => clock !== undefined) ?? moments[0]
  if (moment === undefined) return unknownTime
  const { date, clock, offset } = moment
  const ofDate = { day: date, written: date }
  const midnightMs = Date.parse(date)
  if (kind === 'day' && (clock === undefined || zone === null))
    return { ...ofDate, ...localSpan(midnightMs, dayMs, zone) }
  if (clock === undefined) {
    const hour = values.flatMap((value) => hourOfDay.exec(String(value))?.[1] ?? [])[0]
    if (hour === undefined) return { ...unknownTime, ...ofDate }
    return { ...ofDate, ...localSpan(midnightMs + Number(hour) * hourMs, hourMs, zone) }
  }
  const atMs = Date.parse(`${date}T${clock}${offset ?? 'Z'}`)
  if (Number.isNaN(atMs)) return { ...unknownTime, ...ofDate }
  if (offset === undefined) return { ...ofDate, ...localSpan(atMs, lengthMs[kind], zone) }
  const time = { ...ofMoment(atMs, kind, zone), written: date }
  return isZone(zone) ? time : { ...time, day: zone !== null && offset === 'Z' ? null : date }
}

/** The hour of a day: 18, `18`, `18:00`. */
const hourOfDay = /^(\d{1,2})(?::\d{2}){0,2}$/

/** Seconds or milliseconds since 1970, in the years 2001 to 2033: `2026100118` is none. */
function epochMs(value: Json | undefined): number | null {
  const number = numeric(value) ?? 0
  if (number >= 1e9 && number < 2e9) return number * 1e3
  return number >= 1e12 && number < 2e12 ? number : null
}

function momentOf(value: Json | undefined) {
  const [, date, hour, minute = '00', offset] =
    /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2})(?::(\d{2})[\d:.]*)?(Z|[+-]\d{2}:?\d{2})?)?$/.exec(
      typeof value === 'string' ? value : '',
    ) ?? []
  if (date === undefined) return null
  return { date, clock: hour === undefined ? undefined : `${hour}:${minute}:00`, offset }
}

function ofMoment(startMs: number, kind: Kind, zone: string | null): Time {
  const endMs = startMs + lengthMs[kind]
  const [day, last] = [startMs, endMs - 1].map((ms) => dayIn(isZone(zone) ? zone : 'UTC', ms))
  const written = dayIn('UTC', startMs)
  return { day: day === last ? day! : null, written, startMs, endMs }
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
