/** Microseconds that a request may take: so many, and so many more for each of its tokens. */
export interface LimitByLength {
  readonly us: number
  readonly usPerInputToken: number
  readonly usPerOutputToken: number
}

/** Microseconds that a request may take: the same for all, or by its length. */
export type Limit = number | LimitByLength

/** What a limit may grow with: its unit in a file, its name, its field, and the column of an attempt that holds the count. */
export const limitLengths = {
  input_token: { name: 'input token', field: 'usPerInputToken', column: 'prompt_tokens' },
  output_token: { name: 'output token', field: 'usPerOutputToken', column: 'completion_tokens' },
} as const
const lengths = Object.values(limitLengths)

/** A limit that a store holds, read leniently. @returns null for anything else */
export function limitIn(stored: unknown): Limit | null {
  if (typeof stored === 'number') return stored
  if (typeof stored !== 'object' || stored === null) return null
  const { us, usPerInputToken, usPerOutputToken } = stored as Partial<Record<string, unknown>>
  return typeof us === 'number' &&
    typeof usPerInputToken === 'number' &&
    typeof usPerOutputToken === 'number'
    ? { us, usPerInputToken, usPerOutputToken }
    : null
}

/**
 * The limit of one request, in microseconds.
 *
 * @param promptTokens NaN if they are not known; so is what depends on them
 */
export function limitUsOf(
  limit: Limit,
  tokens: { readonly promptTokens: number; readonly completionTokens: number },
): number {
  if (typeof limit === 'number') return limit
  const { us, usPerInputToken, usPerOutputToken } = limit
  return (
    us +
    (usPerInputToken === 0 ? 0 : usPerInputToken * tokens.promptTokens) +
    (usPerOutputToken === 0 ? 0 : usPerOutputToken * tokens.completionTokens)
  )
}

/** The limit of a request of usual length, 1,000 tokens in and out, where its own length is not known yet. */
export const usualLimitUs = (limit: Limit): number =>
  limitUsOf(limit, { promptTokens: 1000, completionTokens: 1000 })

/** `300 ms + 0.2 ms per input token`. */
export function limitText(limit: Limit): string {
  if (typeof limit === 'number') return timeText(limit)
  const own = lengths.flatMap(({ field, name }) =>
    limit[field] > 0 ? [`${timeText(limit[field])} per ${name}`] : [],
  )
  return [...(limit.us > 0 ? [timeText(limit.us)] : []), ...own].join(' + ')
}

const timeText = (us: number) => (us < 1e6 ? `${us / 1000} ms` : `${us / 1e6} s`)

/** SQL over a row of `attempts`: the limit of a request in microseconds, and whether it is not known. */
export interface LimitSql {
  readonly us: string
  readonly isUnknown: string
}

export function limitSql(limit: Limit): LimitSql {
  if (typeof limit === 'number') return { us: String(limit), isUnknown: 'false' }
  const used = lengths.filter(({ field }) => limit[field] > 0)
  return {
    us: `(${[String(limit.us), ...used.map(({ field, column }) => `${limit[field]} * ${column}`)].join(' + ')})`,
    isUnknown: `(${['false', ...used.map(({ column }) => `${column} IS NULL`)].join(' OR ')})`,
  }
}

/**
 * SQL of the limit that the JSON of a scenario holds, as a number and as a limit by length.
 *
 * @param json SQL of the scenario
 */
export const limitColumns = (json: string, path: string) => ({
  us: `try_cast(${json} ->> '${path}' AS DOUBLE)`,
  byLength: `CASE WHEN json_type(${json} -> '${path}') = 'OBJECT' THEN try_cast(${json} -> '${path}' AS STRUCT(${['us', ...lengths.map(({ field }) => field)].map((field) => `"${field}" DOUBLE`).join(', ')})) END`,
})

/** The same as `limitSql`, of columns that hold what `limitColumns` finds. */
export function limitSqlOf(us: string, byLength: string): LimitSql {
  const each = lengths.map(({ field, column }) => ({ per: `${byLength}."${field}"`, column }))
  return {
    us: `coalesce(${us}, ${byLength}.us + ${each.map(({ per, column }) => `CASE WHEN ${per} > 0 THEN ${per} * ${column} ELSE 0 END`).join(' + ')})`,
    isUnknown: `coalesce(${each.map(({ per, column }) => `${per} > 0 AND ${column} IS NULL`).join(' OR ')}, false)`,
  }
}
