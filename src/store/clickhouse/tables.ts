import {
  groupColumns,
  type Quantity,
  quantities,
  tokenColumns,
} from '../../measure/usage/quantities.ts'

const types: Readonly<Record<Quantity['type'], string>> = {
  VARCHAR: 'String',
  INTEGER: 'Int32',
  BIGINT: 'Int64',
  'DECIMAL(38, 18)': 'Decimal(38, 18)',
  'BIGINT[]': 'Array(Int64)',
}

/** Texts of so many values that a dictionary of them costs more than it saves. */
const manyValued = ['key_fp', 'account', 'tags']

function typeOf(name: string, { type, isNeverNull }: Quantity): string {
  // An array is empty instead of null.
  const plain = isNeverNull || type === 'BIGINT[]' ? types[type] : `Nullable(${types[type]})`
  return type === 'VARCHAR' && !manyValued.includes(name) ? `LowCardinality(${plain})` : plain
}

/** SQL for the first quarter of an hour after the closed days. */
export const firstOpenQuarter =
  '(SELECT if(count() = 0, 0, (intDiv(max(quarter), 96) + 1) * 96) FROM usage_quarters)'

interface Table {
  readonly name: string
  /** Names and types. */
  readonly columns: string
  /** Of rows with the same key, the one with the greatest counts; the last one if absent. */
  readonly newestBy?: string
  readonly partition?: string
  readonly orderedBy: string
  /** What decides the shard of a row. */
  readonly shardKey: string
  readonly settings?: string
}

const tables = (): readonly Table[] => {
  const tokens = tokenColumns.map((name) => `${name} Nullable(Int64),`).join('\n  ')
  return [
    // Lines of imported logs. Source, quarter and id identify a row. If it is imported again, it counts once: in its
    // newest version, or its first if the source has no versions. A version in another quarter leaves a row of type
    // `moved` behind. A partition is a day.
    {
      name: 'usage_events',
      columns: `source LowCardinality(String),
  id String,
  at_us Int64,
  quarter Int64 MATERIALIZED intDiv(at_us, 900000000),
  ingested_us Int64,
  version_us Nullable(Int64),
  wins UInt64 MATERIALIZED if(isNull(version_us), 9223372036854775807 - ingested_us, assumeNotNull(version_us)),
  type LowCardinality(String) DEFAULT 'usage',
  model LowCardinality(Nullable(String)),
  endpoint LowCardinality(Nullable(String)),
  key_fp Nullable(String),
  account Nullable(String),
  tags Nullable(String),
  outcome LowCardinality(String),
  status Nullable(Int32),
  error_code LowCardinality(Nullable(String)),
  credits Nullable(Decimal(38, 18)),
  unit LowCardinality(String) DEFAULT 'credits',
  ${tokens}
  requests Int64,
  priced_by LowCardinality(Nullable(String)),
  terms Nullable(String)`,
      newestBy: 'wins',
      partition: 'intDiv(at_us, 86400000000)',
      orderedBy: 'source, quarter, id',
      shardKey: 'source, id',
    },
    // The newest statement of each interval and dimensions (see usage_buckets in src/store/schema.sql).
    {
      name: 'usage_buckets',
      columns: `source LowCardinality(String),
  id String,
  statement Int64,
  ingested_us Int64,
  start_us Int64,
  end_us Int64,
  covers_from_us Int64,
  covers_to_us Int64,
  dimensions String,
  measures LowCardinality(String),
  model LowCardinality(Nullable(String)),
  endpoint LowCardinality(Nullable(String)),
  key_fp Nullable(String),
  account Nullable(String),
  tags Nullable(String),
  outcome LowCardinality(String),
  credits Nullable(Decimal(38, 18)),
  unit LowCardinality(String),
  requests Nullable(Int64),
  ${tokens}
  priced_by LowCardinality(Nullable(String)),
  counts Bool,
  has_costs Bool,
  written_us Int64`,
      newestBy: 'written_us',
      orderedBy: 'source, id',
      shardKey: 'source, id',
    },
    // Negative amounts whose request was not known when they came (see src/store/schema.sql).
    {
      name: 'usage_referrals',
      columns: `source LowCardinality(String),
  id String,
  refers_to String`,
      orderedBy: 'source, id',
      shardKey: 'source, id',
    },
    // The last four letters of keys (see src/store/import/last-fours.ts).
    {
      name: 'usage_keys',
      columns: `account Nullable(String),
  key_fp String,
  last_four String`,
      orderedBy: 'account, key_fp, last_four',
      shardKey: 'key_fp',
      settings: 'allow_nullable_key = 1',
    },
    // The interval of each import, and whether it was a part of a log.
    {
      name: 'usage_import_spans',
      columns: `source LowCardinality(String),
  imported_us Int64,
  from_us Int64,
  to_us Int64,
  is_partial Bool`,
      orderedBy: 'source, imported_us',
      shardKey: 'source',
    },
    // Closed days, as quarters of an hour (docs/usage.md). Closing a day again replaces its sums.
    {
      name: 'usage_quarters',
      columns: `${Object.entries(quantities)
        .map(([name, quantity]) => `${name} ${typeOf(name, quantity)},`)
        .join('\n  ')}
  closed_us Int64 DEFAULT toUnixTimestamp64Micro(now64(6))`,
      newestBy: 'closed_us',
      partition: 'intDiv(quarter, 96)',
      orderedBy: groupColumns.join(', '),
      shardKey: groupColumns.join(', '),
      settings: 'allow_nullable_key = 1',
    },
    // The balances that the service itself reported.
    {
      name: 'usage_polls',
      columns: `polled_us Int64,
  service_us Nullable(Int64),
  base_url String,
  key_fp String,
  status Int32,
  consumed Nullable(Decimal(18, 6)),
  remaining Nullable(Decimal(18, 6)),
  requests Nullable(Int64),
  average_tokens Nullable(Float64),
  grants_json Nullable(String),
  body Nullable(String)`,
      orderedBy: 'base_url, key_fp, polled_us',
      shardKey: 'base_url, key_fp',
    },
  ]
}

/** The statement of a table. @param cluster null for one server */
function createSql(
  { name, columns, newestBy = '', ...table }: Table,
  cluster: string | null,
): string {
  const { partition, orderedBy, settings } = table
  const head = cluster === null ? name : `${name}_local ${onCluster(cluster)}`
  const engine = `${cluster === null ? '' : 'Replicated'}ReplacingMergeTree`
  return [
    `CREATE TABLE IF NOT EXISTS ${head} (\n  ${columns}\n) ENGINE = ${engine}${newestBy === '' ? '' : `(${newestBy})`}`,
    ...(partition === undefined ? [] : [`PARTITION BY ${partition}`]),
    `ORDER BY (${orderedBy})`,
    ...(settings === undefined ? [] : [`SETTINGS ${settings}`]),
  ].join('\n')
}

const onCluster = (cluster: string) => `ON CLUSTER \`${cluster.replaceAll('`', '')}\``

/**
 * Statements that create the tables. On a cluster each table is `<table>_local` on every shard, and queries use a
 * distributed table of the plain name. Events are sharded by source and id, so a repeated id meets its first row; sums
 * are sharded by their group.
 */
export function tablesSql(cluster: string | null): readonly string[] {
  return tables().flatMap((table) => {
    const own = createSql(table, cluster)
    if (cluster === null) return [own]
    const { name, shardKey } = table
    return [
      own,
      `CREATE TABLE IF NOT EXISTS ${name} ${onCluster(cluster)} AS ${name}_local
ENGINE = Distributed('${cluster.replaceAll("'", '')}', currentDatabase(), ${name}_local, cityHash64(${shardKey}))`,
    ]
  })
}
