import { YAMLParseError } from 'yaml'
import { z } from 'zod'
import { eachMappedTokens, mappedTokens, partTokens } from '../../measure/usage/quantities.ts'
import { mostTags, tagNameProblem } from '../../measure/usage/tags.ts'
import { isObject } from '../../user/json.ts'
import { isZoneName } from '../../user/time-zone.ts'
import { userError } from '../../user/user-error.ts'
import { parseYaml } from '../../user/yaml.ts'
import { dateOrders, decimalMarks, partPlaces, repeatedTimes } from './cell-formats.ts'
import { columnName, lineRules } from './lines/line-rules.ts'

export const logFormats = ['jsonl', 'csv', 'parquet'] as const
export type LogFormat = (typeof logFormats)[number]

const numberUnits = ['s', 'ms', 'us', 'ns'] as const
const timeUnits = ['auto', 'iso', ...numberUnits] as const
export type TimeUnit = (typeof timeUnits)[number]

/**
 * Source of a field: a column (or a path in JSON, `usage.prompt_tokens`), or a constant. `json` is a path in a column
 * that holds JSON as text.
 */
const place = z.union([
  z.string().min(1),
  z.strictObject({
    column: columnName,
    json: columnName.optional(),
    /** Maps the log's values to ours; other values stay unchanged. */
    values: z.record(z.string(), z.string()).optional(),
  }),
  z.strictObject({ value: z.string() }),
])

/** Widths of sums. */
export const widthPattern = /^[1-9]\d{0,4}(?:m|h|d)$/

const timezoneName = z.string().refine(isZoneName, {
  error: ({ input }) => `"${input}" is not an IANA name such as Asia/Kolkata`,
})

const timePlace = z.union([
  z.string().min(1),
  z.strictObject({
    column: columnName,
    unit: z.enum(timeUnits).default('auto'),
    /** For times without an offset; UTC if absent, or that of `time` for other times. */
    timezone: timezoneName.optional(),
  }),
])

/** A duration: a column with a unit, or the difference of two times. */
const durationPlace = z.union([
  z.strictObject({ column: columnName, unit: z.enum(numberUnits) }),
  z.strictObject({ from: columnName, to: columnName }),
])

const tagName = z.string().superRefine((name, context) => {
  const problem = tagNameProblem(name)
  if (problem !== null)
    context.addIssue({ code: 'custom', message: `${JSON.stringify(name)}: ${problem}` })
})

/**
 * Own dimensions, each with its name and place: a mapping in a file, a list of pairs in a store. Names are foreign, so none
 * is the name of a property.
 */
const tags = z.preprocess(
  (given) => {
    if (isObject(given) && !(given instanceof Map)) return new Map(Object.entries(given))
    const arePairs = Array.isArray(given) && given.every((each) => Array.isArray(each))
    return arePairs ? new Map(given as [unknown, unknown][]) : given
  },
  z
    .map(tagName, place, { error: 'expected names, each with the place of its value' })
    .refine(({ size }) => size <= mostTags, `expected at most ${mostTags} tags`)
    .transform((places) => [...places]),
)

export const mappingShape = z.strictObject({
  source: z.string().min(1).max(100).optional(),
  format: z.enum(logFormats).optional(),
  /** CSV only. */
  delimiter: z
    .string()
    .length(1)
    .refine((sign) => !/["\r\n]/.test(sign), { error: 'a sign that is no quote and no line break' })
    .optional(),
  /** The decimal mark of numbers that are text; found in the file if absent. */
  decimal: z.enum(decimalMarks).optional(),
  /** The order of `03/11/2026`. */
  dateOrder: z.enum(dateOrders).optional(),
  /** Which of the two moments a local time is that a clock change repeats; by the order of the file if absent. */
  ambiguous: z.enum(repeatedTimes).optional(),
  /** Each line is a sum over an interval that begins at `time`: a sum replaces an older one. */
  bucket: z.string().regex(widthPattern, 'expected a width such as 15m, 1h or 1d').optional(),
  /** Buckets only: columns beside model, endpoint, key and account that the sums are grouped by. */
  dimensions: z.array(z.string().min(1)).optional(),
  /** Own dimensions, such as a team or a feature: by name, where a line has their value. */
  tags: tags.optional(),
  /** Whether `promptTokens` contain cached tokens, and `completionTokens` reasoning. */
  cached: z.enum(partPlaces).default('within'),
  reasoning: z.enum(partPlaces).default('within'),
  /** `repeat` for a source that uses ids again: the content is the identity. */
  ids: z.enum(['unique', 'repeat']).default('unique'),
  ...lineRules,
  fields: z.strictObject({
    /** What lines belong to, for `carry` and `cumulative`. It is not stored. */
    session: place.optional(),
    /** Unique within the source. Several columns are joined. Without an id, the content is the identity. */
    id: z.union([place, z.array(z.string().min(1)).min(2)]).optional(),
    time: timePlace,
    /** The end of the interval, exclusive, for lines that are sums. */
    end: timePlace.optional(),
    /** When the source last changed the row: the newest version counts. */
    version: timePlace.optional(),
    /** One of `entryTypes`; usage unless mapped. */
    type: place.optional(),
    /** The id of the request that a negative amount refunds, or of the grant of which an expiry is. */
    refersTo: place.optional(),
    /** Of rows that give credits: when these expire; never if it is empty. */
    expires: timePlace.optional(),
    /** What customers call them; else the type. */
    name: place.optional(),
    /** Those of a lower number are used first; 0 unless mapped. */
    priority: place.optional(),
    /** The models that they pay for: a JSON list, or names between commas; all if it is empty. */
    models: place.optional(),
    model: place.optional(),
    endpoint: place.optional(),
    /** The API key itself, or its SHA-256. Only its fingerprint is kept. */
    key: place.optional(),
    /** A fingerprint, or the name of a key. */
    keyFp: place.optional(),
    /** The last letters of the key, or a redacted form of it, beside its hash or name. */
    lastFour: place.optional(),
    account: place.optional(),
    credits: place.optional(),
    /** The unit of `credits`: ISO 4217, or a name. */
    unit: place.optional(),
    ...eachMappedTokens(() => place.optional()),
    status: place.optional(),
    outcome: place.optional(),
    errorCode: place.optional(),
    /** Number of requests per line; 1 unless mapped. */
    requests: place.optional(),
    ttft: durationPlace.optional(),
    latency: durationPlace.optional(),
  }),
})

export type Mapping = z.infer<typeof mappingShape> & {
  /** Fields whose columns may be missing, as in exports of earlier builds. */
  readonly optional?: readonly FieldName[]
  /** The column with all tags, as a store has them: a JSON object. */
  readonly tagsColumn?: string
  /** The column with the reason why a line is none, in rows that another reader made. */
  readonly problem?: string
  /** Rows are charges, and their id is their identity: of two exports the newest counts. */
  readonly identified?: true
  /** Rows that another reader made of a table, whose numbers and dates are those of a spreadsheet. */
  readonly table?: true
  /** Which of several lines with one id and one version counts; the last if absent. */
  readonly newest?: 'most output'
}
export type Place = z.infer<typeof place>
export type DurationPlace = z.infer<typeof durationPlace>
export type TimePlace = z.infer<typeof timePlace>
export type FieldName = keyof z.infer<typeof mappingShape>['fields']

/** The names of the tags that a mapping gives a place. */
export const tagNamesOf = ({ tags }: Mapping): readonly string[] =>
  (tags ?? []).map(([name]) => name)

/**
 * Reads a mapping from YAML.
 *
 * @param name of the file, for messages
 * @throws UserError that lists every issue
 * @example
 * const mapping = parseMapping('fields: { id: request, time: at, credits: cost }')
 * console.log(mapping.fields.time)
 */
export function parseMapping(text: string, name = 'mapping'): Mapping {
  let value: unknown
  try {
    value = parseYaml(text)
  } catch (error) {
    const why = error instanceof YAMLParseError ? error.message.split('\n')[0] : String(error)
    throw userError.import(`${name} is not YAML: ${why}`)
  }
  const parsed = mappingShape.safeParse(value)
  if (!parsed.success) {
    throw userError.import(
      `${name} is no mapping:\n${z.prettifyError(parsed.error)}\nIt needs fields with at least id and time, e.g.\n  fields:\n    id: request_id\n    time: created_at`,
    )
  }
  const { key, keyFp } = parsed.data.fields
  if (key !== undefined && keyFp !== undefined) {
    throw userError.import(
      `${name} maps both key and keyFp: keep one (key is hashed on the way in)`,
    )
  }
  return parsed.data
}

/** The mapping of `assay export usage`. */
export const ownMapping: Mapping = {
  source: 'assay-export',
  decimal: '.',
  cached: 'within',
  reasoning: 'within',
  ids: 'unique',
  // Files of older versions lack kinds that came later.
  optional: ['type', 'unit', 'lastFour', ...partTokens],
  tagsColumn: 'tags',
  fields: {
    id: ['source', 'id'],
    time: { column: 'at_us', unit: 'us', timezone: 'UTC' },
    model: 'model',
    endpoint: 'endpoint',
    keyFp: 'key_fp',
    lastFour: 'key_last_four',
    account: 'account',
    credits: 'credits',
    ...mappedTokens,
    type: 'type',
    unit: 'unit',
    status: 'status',
    outcome: 'outcome',
    errorCode: 'error_code',
    requests: 'requests',
    ttft: { column: 'ttft_us', unit: 'us' },
    latency: { column: 'latency_us', unit: 'us' },
  },
}

/** @throws UserError for a text that is no `NAME=COLUMN`, or a name that is there twice */
export function parseTags(texts: readonly string[]): NonNullable<Mapping['tags']> {
  const named = texts.map(
    (text) => [text.split('=', 1)[0]!, text.slice(text.indexOf('=') + 1)] as const,
  )
  const parsed = tags.safeParse(new Map(named))
  const wrong = texts.find((text) => !/=./.test(text))
  const again = texts.find((_, at) => named.slice(0, at).some(([name]) => name === named[at]![0]))
  if (parsed.success && wrong === undefined && again === undefined) return parsed.data
  const why = parsed.success ? '' : ` ${parsed.error.issues[0]!.message}.`
  throw userError.usage(
    wrong === undefined && again !== undefined
      ? `--tag ${again}: expected each name once.`
      : `--tag ${wrong ?? texts.join(' --tag ')}: expected a name and the column of its values, such as team=metadata.team.${why}`,
  )
}
