import { readFileSync } from 'node:fs'

/** What the shard of a row hangs on. */
const shardKeys: Readonly<Record<string, string>> = {
  usage_events: 'source, id',
  usage_quarters: 'source, quarter, key_fp, account, model, endpoint, outcome, status, error_code',
  usage_polls: 'base_url, key_fp',
}

/**
 * Statements that make the tables. On a cluster each is `<table>_local` on every shard, and the name that
 * queries read is spread over them: an event by the hash of its source and id, so that an id that comes again
 * meets itself; sums by that of what they are of.
 */
export function tablesSql(cluster: string | null): readonly string[] {
  const text = readFileSync(
    new URL('../../../src/store/clickhouse/tables.sql', import.meta.url),
    'utf8',
  )
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
