import { parse as parseYaml, YAMLParseError } from 'yaml'
import { z } from 'zod'
import { UserError } from '../../user/user-error.ts'

/** A column, or a path in JSON as a list of steps. */
const columnName = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)])

/** Source of a field: a column (or a path in JSON, `usage.prompt_tokens`), or a constant. */
const place = z.union([
  z.string().min(1),
  z.strictObject({
    column: columnName,
    /** Maps the log's values to ours; other values stay unchanged. */
    values: z.record(z.string(), z.string()).optional(),
  }),
  z.strictObject({ value: z.string() }),
])

const timePlace = z.union([
  z.string().min(1),
  z.strictObject({
    column: columnName,
    unit: z.enum(['auto', 'iso', 's', 'ms', 'us', 'ns']).default('auto'),
    /** For times without an offset. */
    timezone: z.string().default('UTC'),
  }),
])

/** A duration: a column with a unit, or the difference of two times. */
const durationPlace = z.union([
  z.strictObject({ column: columnName, unit: z.enum(['s', 'ms', 'us', 'ns']) }),
  z.strictObject({ from: columnName, to: columnName }),
])

const mappingShape = z.strictObject({
  source: z.string().min(1).max(100).optional(),
  format: z.enum(['jsonl', 'csv', 'parquet']).optional(),
  /** CSV only. */
  delimiter: z.string().min(1).max(1).default(','),
  fields: z.strictObject({
    /** Unique within the source. Several columns are joined. */
    id: z.union([place, z.array(z.string().min(1)).min(2)]),
    time: timePlace,
    model: place.optional(),
    endpoint: place.optional(),
    /** The API key itself, or its SHA-256. Only its fingerprint is kept. */
    key: place.optional(),
    /** A fingerprint, or the name of a key. */
    keyFp: place.optional(),
    account: place.optional(),
    credits: place.optional(),
    promptTokens: place.optional(),
    cachedTokens: place.optional(),
    completionTokens: place.optional(),
    status: place.optional(),
    outcome: place.optional(),
    errorCode: place.optional(),
    /** Number of requests per line; 1 unless mapped. */
    requests: place.optional(),
    ttft: durationPlace.optional(),
    latency: durationPlace.optional(),
  }),
})

export type Mapping = z.infer<typeof mappingShape>
export type Place = z.infer<typeof place>
export type DurationPlace = z.infer<typeof durationPlace>
export type FieldName = keyof Mapping['fields']

/**
 * Reads a mapping from YAML.
 *
 * @param name of the file, for messages
 * @throws UserError that lists every fault
 */
export function parseMapping(text: string, name: string): Mapping {
  let value: unknown
  try {
    value = parseYaml(text, { logLevel: 'error' })
  } catch (error) {
    const why = error instanceof YAMLParseError ? error.message.split('\n')[0] : String(error)
    throw new UserError('import', `${name} is not YAML: ${why}`)
  }
  const parsed = mappingShape.safeParse(value)
  if (!parsed.success) {
    throw new UserError(
      'import',
      `${name} is no mapping:\n${z.prettifyError(parsed.error)}\nIt needs fields with at least id and time, e.g.\n  fields:\n    id: request_id\n    time: created_at`,
    )
  }
  const { key, keyFp } = parsed.data.fields
  if (key !== undefined && keyFp !== undefined) {
    throw new UserError(
      'import',
      `${name} maps both key and keyFp: keep one (key is hashed on the way in)`,
    )
  }
  const { time } = parsed.data.fields
  if (typeof time === 'object' && !isTimeZone(time.timezone)) {
    throw new UserError(
      'import',
      `${name}: timezone "${time.timezone}" is not an IANA name such as Asia/Kolkata`,
    )
  }
  return parsed.data
}

/** A built-in mapping, with defaults. */
export function mappingFrom(fields: object): Mapping {
  return mappingShape.parse({ fields })
}

/** The mapping of `assay export usage`. */
export const ownMapping: Mapping = {
  source: 'assay-export',
  delimiter: ',',
  fields: {
    id: ['source', 'id'],
    time: { column: 'at_us', unit: 'us', timezone: 'UTC' },
    model: 'model',
    endpoint: 'endpoint',
    keyFp: 'key_fp',
    account: 'account',
    credits: 'credits',
    promptTokens: 'prompt_tokens',
    cachedTokens: 'cached_tokens',
    completionTokens: 'completion_tokens',
    status: 'status',
    outcome: 'outcome',
    errorCode: 'error_code',
    requests: 'requests',
    ttft: { column: 'ttft_us', unit: 'us' },
    latency: { column: 'latency_us', unit: 'us' },
  },
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
