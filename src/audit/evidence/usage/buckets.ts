import {
  type Field,
  fieldsOf,
  numbersNamed,
  numeric,
  ofCredits,
  spent,
  timeZoneNamed,
  withoutNoise,
} from '../../../credits/fields.ts'
import { dayMs, hourMs } from '../../../user/durations.ts'
import { isList, isObject, type Json, type JsonObject } from '../../../user/json.ts'
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

/** Objects that are no usage. */
const noUsage = /limit|quota|expir/

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
    if (!kinds[kind].name.test(name) || noUsage.test(`${within} ${name}`)) return []
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
  return {
    ...timeOf(kind, key === null ? timeNames.map((name) => line[name]) : [key], zone),
    credits: numbersNamed(ofCredits(fields), /^(?:total_)?credits$/, ...spent)[0] ?? null,
    requests: numbersNamed(fields, /^(?:total_)?requests$/, /^request_count$/)[0] ?? null,
    tokens: tokensOf(fields),
  }
}

/** An hour stands beside its day: `{ date: '2026-10-01', hour: 8 }`, `{ date: …, day: 1, hour: 8 }`. */
const timeNames = ['hour', 'date', 'day', 'start', 'time', 'timestamp', 'period']

/** Tokens that are a part of the input or of the output. */
const partOfTokens = /cache|reason|audio|image|accepted|rejected/

/**
 * All tokens of a line; null if the line leaves them open: some services count cached tokens among `input_tokens`, and others
 * beside them.
 */
function tokensOf(fields: readonly Field[]): number | null {
  const named = (...patterns: readonly RegExp[]) =>
    numbersNamed(
      fields.filter(({ name, within }) => !partOfTokens.test(`${within} ${name}`)),
      ...patterns,
    )[0] ?? null
  const total = named(/^(?:total_)?tokens$/)
  if (total !== null) return total
  const prompt = named(/prompt_tokens/)
  const isCachedApart = fields.some(({ name }) => /cache.*token/.test(name))
  const input = prompt ?? (isCachedApart ? null : named(/input_tokens/))
  const output = named(/completion_tokens/, /output_tokens/)
  return input === null || output === null ? null : input + output
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
  if (clock === undefined) return kind === 'day' ? ofDate(date, zone) : ofHour(date, values, zone)
  if (kind === 'day' && zone === null && isDateAlone(clock, offset)) return ofDate(date, zone)
  return ofClock(kind, date, clock, offset, zone)
}

/** A day of the calendar. */
const ofDate = (date: string, zone: string | null): Time => ({
  ...{ day: date, written: date },
  ...localSpan(Date.parse(date), dayMs, zone),
})

/** An hour beside its day. */
function ofHour(date: string, values: readonly (Json | undefined)[], zone: string | null): Time {
  const ofItsDate = { day: date, written: date }
  const hour = values.flatMap((value) => hourOfDay.exec(String(value))?.[1] ?? [])[0]
  if (hour === undefined) return { ...unknownTime, ...ofItsDate }
  return { ...ofItsDate, ...localSpan(Date.parse(date) + Number(hour) * hourMs, hourMs, zone) }
}

/** Some services write a day of the calendar as its midnight in UTC. With an offset, or at another time, it is that moment. */
const isDateAlone = (clock: string, offset: string | undefined) =>
  offset === undefined || (clock === midnight && isUtc(offset))

const midnight = '00:00:00'
const isUtc = (offset: string) => /^(?:Z|[+-]00:?00)$/.test(offset)

/** A day or an hour by the moment at which it begins. */
function ofClock(
  kind: Kind,
  date: string,
  clock: string,
  offset: string | undefined,
  zone: string | null,
): Time {
  const ofItsDate = { day: date, written: date }
  const atMs = Date.parse(`${date}T${clock}${offset ?? 'Z'}`)
  if (Number.isNaN(atMs)) return { ...unknownTime, ...ofItsDate }
  if (offset === undefined) return { ...ofItsDate, ...localSpan(atMs, lengthMs[kind], zone) }
  const time = { ...ofMoment(atMs, kind, zone), written: date }
  if (isZone(zone)) return time
  const isOfItsDate = zone === null ? kind === 'hour' || clock === midnight : !isUtc(offset)
  return { ...time, day: isOfItsDate ? date : null }
}

/** An hour of a day: 18, `18`, `18:00`. */
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
  const clockZone = isZone(zone) ? zone : 'UTC'
  const endMs = kind === 'day' ? endOfDay(startMs, clockZone) : startMs + hourMs
  const [day, last] = [startMs, endMs - 1].map((ms) => dayIn(clockZone, ms))
  const written = dayIn('UTC', startMs)
  return { day: day === last ? day! : null, written, startMs, endMs }
}

/** Days that begin at midnight end at the next one, which may be 23 or 25 hours later, or 23.5 or 24.5. */
function endOfDay(startMs: number, zone: string): number {
  const day = dayIn(zone, startMs)
  const ends = [23, 23.5, 24, 24.5, 25].map((count) => startMs + count * hourMs)
  const isMidnight = dayIn(zone, startMs - 1) !== day
  return (isMidnight ? ends.find((ms) => dayIn(zone, ms) !== day) : undefined) ?? startMs + dayMs
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
  return withoutNoise(sum)
}
