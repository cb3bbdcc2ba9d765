import {
  type MappedTokens,
  mappedName,
  type ShownToken,
  shownTokens,
  type TokenName,
  tokenKinds,
  tokenNames,
} from '../../tokens/kinds.ts'
import { lookup } from '../../user/lookup.ts'

/**
 * What a request uses, each defined once. The view `usage`, the sums of quarters of an hour, ClickHouse's tables, imports, the API and
 * the exports follow from it.
 */

/** SQL over a row of `attempts` for a kind that is no column of it: those for five minutes and those for an hour are counted apart. */
const ofAttempt: Partial<Readonly<Record<TokenName, string>>> = {
  cacheWrite:
    'coalesce(cache_write_tokens + cache_write_1h_tokens, cache_write_tokens, cache_write_1h_tokens)',
}
/** SQL for all kinds by their names, of columns of usage. */
export const kindsSql = tokenNames
  .map((name) => `${tokenKinds[name].column} AS "${name}"`)
  .join(', ')

/** SQL for the kinds of tokens of a row of `attempts`. */
export const tokensOfAttemptSql = tokenNames
  .map(
    (name) =>
      `(${ofAttempt[name] ?? tokenKinds[name].column})::BIGINT AS ${tokenKinds[name].column}`,
  )
  .join(', ')

/** The column of the sums that counts the requests that report a kind: both of all tokens, and each part. */
export function knownColumn(name: TokenName): string {
  const { column, within } = tokenKinds[name]
  if (within === null) return 'tokens_known'
  return tokenKinds[within].within === null
    ? column.replace(/tokens$/, 'known')
    : knownColumn(within)
}

export const tokenColumns = Object.values(tokenKinds).map(({ column }) => column)

export const mappedNames = tokenNames.map(mappedName)
/** The fields of what is part of another kind. */
export const partTokens = tokenNames
  .filter((kind) => tokenKinds[kind].within !== null)
  .map(mappedName)
/** The kind of each field. */
export const kindOfMapped = Object.fromEntries(
  tokenNames.map((kind) => [mappedName(kind), kind]),
) as Readonly<Record<MappedTokens, TokenName>>

const partsOf = (whole: 'input' | 'output') =>
  Object.values(tokenKinds).filter(({ within }) => within === whole)
/** SQL: the parts of a line exceed their whole. */
export const exceedsSql = (whole: 'input' | 'output') =>
  `${partsOf(whole)
    .map(({ column }) => `coalesce(${column}, 0)`)
    .join(' + ')} > ${tokenKinds[whole].column}`
/** SQL for an update that forgets the parts of a whole, and their own parts. */
export const unknownSql = (whole: 'input' | 'output') =>
  tokenNames
    .filter((kind) => {
      const { within } = tokenKinds[kind]
      return within === whole || (within !== null && tokenKinds[within].within === whole)
    })
    .map((kind) => `${tokenKinds[kind].column} = NULL`)
    .join(', ')
export const eachMappedTokens = <Value>(of: (column: string) => Value) =>
  Object.fromEntries(
    tokenNames.map((name) => [mappedName(name), of(tokenKinds[name].column)]),
  ) as Readonly<Record<MappedTokens, Value>>
/** Their columns. */
export const mappedTokens = eachMappedTokens((column) => column)

/** What a kind is called beside a bucket in JSON. */
export type TokenField = MappedTokens<ShownToken>
export const tokenFields = shownTokens.map(mappedName)
/** SQL for them, of columns of sums. */
export const tokenFieldsSql = tokenFields
  .map((field) => `${mappedTokens[field]}::DOUBLE AS "${field}"`)
  .join(', ')

/** What two engines write differently. */
export interface UsageDialect {
  /** The whole quotient of two whole numbers. */
  quotient(of: string, by: number): string
  /** Each of fifteen minutes: `each` where it is the minute of `at_us`, else 0. */
  minutes(each: string): string
  readonly noMinutes: string
}

export const duckdb: UsageDialect = {
  quotient: (of, by) => `${of} // ${by}`,
  minutes: (each) =>
    `[CASE WHEN at_us // 60000000 % 15 = minute THEN ${each} ELSE 0 END FOR minute IN range(15)]`,
  noMinutes: 'NULL::BIGINT[]',
}

export const clickhouseSql: UsageDialect = {
  quotient: (of, by) => `intDiv(${of}, ${by})`,
  minutes: (each) =>
    `arrayMap(minute -> if(intDiv(at_us, 60000000) % 15 = minute, ${each}, 0), range(15))`,
  noMinutes: `CAST([], 'Array(Int64)')`,
}

/** A column of the sums of quarters of an hour. */
export interface Quantity {
  /** Its type in DuckDB. */
  readonly type: 'VARCHAR' | 'INTEGER' | 'BIGINT' | 'DECIMAL(38, 18)' | 'BIGINT[]'
  /** How rows add up: `group` names what they are of. */
  readonly adds: 'group' | 'sum' | 'min' | 'max' | 'minutes'
  /** SQL over a request, a row of `usage_shown`. Default: its name. */
  readonly ofRequest?: (sql: UsageDialect) => string
  /** SQL over a sum that a provider states, a row of `usage_shown_buckets`. Default: its name. */
  readonly ofSum?: (sql: UsageDialect) => string
  /** SQL for a file of quarters without the column. Default: the file needs it. */
  readonly without?: string
  readonly isNeverNull?: boolean
  /** A line of the table in docs/usage.md. */
  readonly summary: string
}

/** The width of a row of requests: a quarter of an hour. */
export const quarterUs = 900_000_000

const always = (sql: string) => () => sql
const when = (known: string, value: string) => `CASE WHEN ${known} IS NOT NULL THEN ${value} END`
const group = (
  type: Quantity['type'],
  summary: string,
  rest: Partial<Quantity> = {},
): Quantity => ({ type, adds: 'group', summary, without: 'NULL', ...rest })
const counted = (of: string, summary: string, rest: Partial<Quantity> = {}): Quantity => {
  const sql = when(of, 'requests')
  return {
    type: 'BIGINT',
    adds: 'sum',
    summary,
    without: sql,
    ofRequest: always(sql),
    ofSum: always(sql),
    ...rest,
  }
}
const amount = (summary: string, rest: Partial<Quantity> = {}): Quantity => ({
  type: 'DECIMAL(38, 18)',
  adds: 'sum',
  summary,
  without: 'NULL',
  ...rest,
})
const computedSql = always(when('priced_by', 'credits'))
const bothTokens = `${tokenKinds.input.column} + ${tokenKinds.output.column}`
/** How many requests report a part, once for each column. */
const knownParts = shownTokens
  .filter((name) => tokenKinds[name].within !== null)
  .map((name): [string, Quantity] => {
    const { column, title } = tokenKinds[name]
    return [knownColumn(name), counted(column, `requests that report ${title}`)]
  })

/** All columns of the sums of quarters of an hour, in their order. Money is of one unit in a row. */
export const quantities: Readonly<Record<string, Quantity>> = lookup({
  source: { type: 'VARCHAR', adds: 'group', summary: 'the log', isNeverNull: true },
  quarter: {
    type: 'BIGINT',
    adds: 'group',
    isNeverNull: true,
    ofRequest: ({ quotient }) => quotient('at_us', quarterUs),
    ofSum: ({ quotient }) => quotient('start_us', quarterUs),
    summary: 'Unix seconds divided by 900, rounded down',
  },
  width_us: group('BIGINT', 'length of the interval of the sum', {
    ofRequest: always(String(quarterUs)),
    ofSum: always('end_us - start_us'),
    without: String(quarterUs),
    isNeverNull: true,
  }),
  key_fp: group('VARCHAR', 'fingerprint of the key'),
  account: group('VARCHAR', 'account'),
  model: group('VARCHAR', 'model'),
  endpoint: group('VARCHAR', 'endpoint'),
  tags: group('VARCHAR', 'own dimensions: a JSON object of texts, sorted by name'),
  outcome: { type: 'VARCHAR', adds: 'group', summary: 'how it ended', isNeverNull: true },
  status: group('INTEGER', 'status', { ofSum: always('CAST(NULL AS INTEGER)') }),
  error_code: group('VARCHAR', 'code of the error', { ofSum: always('CAST(NULL AS VARCHAR)') }),
  unit: group('VARCHAR', 'unit of the amounts', { without: `'credits'`, isNeverNull: true }),
  requests: { type: 'BIGINT', adds: 'sum', summary: 'number of requests' },
  requests_unknown: {
    type: 'BIGINT',
    adds: 'sum',
    isNeverNull: true,
    ofRequest: always('0'),
    ofSum: always(`CASE WHEN requests IS NULL AND measures <> 'costs' THEN 1 ELSE 0 END`),
    without: 'CASE WHEN requests IS NULL THEN 1 ELSE 0 END',
    summary: 'sums without a number of requests',
  },
  credits: amount('amount of the requests whose cost is known'),
  possible_credits: amount('the most that they can have cost', {
    ofSum: always('credits'),
    without: 'credits',
  }),
  refunds: amount('the part of `credits` that is refunds', {
    ofRequest: always(`CASE WHEN type = 'refund' THEN credits END`),
    ofSum: always('CAST(NULL AS DECIMAL(38, 18))'),
  }),
  computed: amount('the part of `credits` that your prices gave, and no log', {
    ofRequest: computedSql,
    ofSum: computedSql,
  }),
  priced_by: {
    type: 'VARCHAR',
    adds: 'max',
    without: 'NULL',
    summary: 'the contract with these prices',
  },
  credits_known: counted('possible_credits', 'requests whose cost is known', {
    ofSum: always('CASE WHEN credits IS NOT NULL OR has_costs THEN requests END'),
  }),
  ...Object.fromEntries(
    Object.values(tokenKinds).map(({ column, title }): [string, Quantity] => [
      column,
      { type: 'BIGINT', adds: 'sum', summary: title, without: 'NULL' },
    ]),
  ),
  both_tokens: {
    type: 'BIGINT',
    adds: 'sum',
    without: bothTokens,
    ofRequest: always(bothTokens),
    ofSum: always(bothTokens),
    summary: 'tokens of the requests that report both input and output',
  },
  tokens_known: counted(bothTokens, 'requests that report both', {
    without: when('both_tokens', 'requests'),
  }),
  ...Object.fromEntries(knownParts),
  first_us: {
    type: 'BIGINT',
    adds: 'min',
    isNeverNull: true,
    ofRequest: always('at_us'),
    ofSum: always('start_us'),
    without: `quarter * ${quarterUs}`,
    summary: 'the first request, Unix microseconds',
  },
  last_us: {
    type: 'BIGINT',
    adds: 'max',
    isNeverNull: true,
    ofRequest: always('at_us'),
    // A sum that was exported before its end is known until then.
    ofSum: always('least(end_us, greatest(start_us + 1, ingested_us)) - 1'),
    without: `quarter * ${quarterUs} + width_us - 1`,
    summary: 'the last request',
  },
  minutes: {
    type: 'BIGINT[]',
    adds: 'minutes',
    without: 'NULL',
    ofRequest: ({ minutes }) => minutes('requests'),
    ofSum: ({ noMinutes }) => noMinutes,
    summary: 'requests in each clock minute',
  },
})

const names = Object.keys(quantities)
/** The columns that say what a row of sums is of. */
export const groupColumns: readonly string[] = names.filter(
  (name) => quantities[name]!.adds === 'group',
)

/** The columns of sums by end and unit. */
export const outcomeColumns: readonly string[] = names.filter(
  (name) => quantities[name]!.adds === 'sum',
)

/** SQL for the columns of a request, over `usage_shown`. */
export const requestColumns = (sql: UsageDialect) => columnsOf('ofRequest', sql)
/** SQL for the columns of a sum of a provider, over `usage_shown_buckets` with `has_costs`. */
export const statedColumns = (sql: UsageDialect) => columnsOf('ofSum', sql)

const columnsOf = (of: 'ofRequest' | 'ofSum', sql: UsageDialect) =>
  names
    .map((name) => {
      const text = quantities[name]![of]?.(sql) ?? name
      return text === name ? name : `${text} AS ${name}`
    })
    .join(', ')

/**
 * SQL that sums some columns of rows of quarters.
 *
 * @param only the columns; default: all that are no `group`
 */
export function sumColumns(
  only: readonly string[] = names.filter((name) => quantities[name]!.adds !== 'group'),
): string {
  return only.map((name) => `${addedSql(name)} AS ${name}`).join(', ')
}

function addedSql(name: string): string {
  const { adds, type } = quantities[name]!
  switch (adds) {
    case 'minutes':
      return `[${Array.from({ length: 15 }, (_, at) => `sum(${name}[${at + 1}])`).join(', ')}]`
    case 'sum':
      return type === 'BIGINT' ? `CAST(sum(${name}) AS BIGINT)` : `sum(${name})`
    default:
      return `${adds}(${name})`
  }
}
