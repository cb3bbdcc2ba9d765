import { readFileSync } from 'node:fs'
import {
  groupColumns,
  type Quantity,
  quantities,
  tokenColumns,
} from '../../measure/usage/quantities.ts'
import { lookup } from '../../user/lookup.ts'

/** Columns whose hash decides the shard of a row. */
const shardKeys: Readonly<Record<string, string>> = lookup({
  usage_events: 'source, id',
  usage_buckets: 'source, id',
  usage_import_spans: 'source',
  usage_referrals: 'source, id',
  usage_quarters: groupColumns.join(', '),
  usage_polls: 'base_url, key_fp',
})

const types: Readonly<Record<Quantity['type'], string>> = {
  VARCHAR: 'String',
  INTEGER: 'Int32',
  BIGINT: 'Int64',
  'DECIMAL(38, 18)': 'Decimal(38, 18)',
  'BIGINT[]': 'Array(Int64)',
}

function typeOf({ type, isNeverNull }: Quantity): string {
  const plain = types[type]
  // An array is empty instead of null.
  if (isNeverNull || type === 'BIGINT[]') return plain
  return type === 'VARCHAR' ? `LowCardinality(Nullable(${plain}))` : `Nullable(${plain})`
}

const sumTypes = () =>
  Object.entries(quantities)
    .filter(([, { adds }]) => adds !== 'group')
    .map(([name, quantity]) => `${name} ${typeOf(quantity)},`)
    .join('\n  ')

/**
 * Statements that create the tables. On a cluster each table is `<table>_local` on every shard, and queries use a
 * distributed table of the plain name. Events are sharded by source and id, so a repeated id meets its first row; sums
 * are sharded by their group.
 */
export function tablesSql(cluster: string | null): readonly string[] {
  const text = readFileSync(
    new URL('../../../src/store/clickhouse/tables.sql', import.meta.url),
    'utf8',
  )
    .replaceAll('/* tokens */', tokenColumns.map((name) => `${name} Nullable(Int64),`).join('\n  '))
    .replace('/* sums */', sumTypes)
  const statements = text.split(/;\n/).map((each) => each.trim().replace(/;$/, ''))
  if (cluster === null) return statements
  const on = `ON CLUSTER \`${cluster.replaceAll('`', '')}\``
  return statements.flatMap((statement) => {
    const [, table] = /EXISTS (\w+)/.exec(statement)!
    const local = statement
      .replace(`EXISTS ${table} (`, `EXISTS ${table}_local ${on} (`)
      .replace('ENGINE = Replacing', 'ENGINE = ReplicatedReplacing')
    return [
      local,
      `CREATE TABLE IF NOT EXISTS ${table} ${on} AS ${table}_local
ENGINE = Distributed('${cluster.replaceAll("'", '')}', currentDatabase(), ${table}_local, cityHash64(${shardKeys[table!]}))`,
    ]
  })
}
