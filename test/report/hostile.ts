import { fillTable } from '../../src/report/temp-table.ts'
import { editAttempts } from '../store/edit-attempts.ts'
import type { Store } from '../store/opened.ts'

/** Everything that markup, shells, spreadsheets, Markdown and terminals could interpret. */
const core = [
  '</script><script>window.owned=1</script>',
  '"><img src=x onerror="window.owned=1">',
  '<svg onload=window.owned=1><style>*{display:none}</style><!--',
  "'-window.owned=1-'{{1}}`b`|c|\\",
  '\r\n# heading\n=cmd()',
  '\u001b[31m\u001b]0;title\u0007\u009b2J\u0000\u007f',
  '\u202egnirts\u2066\u2028javascript:window.owned=1',
].join('')

/** Spreadsheets look at the first character; the rest is in each text. */
export const hostileTexts: readonly string[] = [
  `=cmd()|'/c calc'!A1${core}`,
  core,
  `\u001b[2J${core}`,
  `\t@SUM(1)${core}`,
  `-1+1${core}`,
]

export const megabyte = '\u001b<b>x'.repeat(1_000_000 / 5)

/**
 * Text columns of the store whose values are ours alone: made by this program, or checked against a
 * list before they are written. A service, a log or another tool can fill every other column.
 */
export const ours: Readonly<Record<string, readonly string[]>> = {
  attempts: ['run_id', 'part', 'endpoint', 'expects', 'outcome', 'error_shape'],
  bodies: ['run_id'],
  findings: ['audit_id', 'rule', 'severity', 'verdict'],
  health: ['run_id'],
  histograms: ['run_id', 'part', 'metric'],
  imported_gaps: ['run_id', 'part'],
  metric_points: ['run_id'],
  metric_scrapes: ['run_id'],
  metric_series: ['run_id', 'type'],
  metric_sources: ['run_id', 'found_by'],
  model_prices: ['contract', 'model'],
  recovered_journals: ['id'],
  runs: [
    'run_id',
    'kind',
    'contract',
    'scenario_json',
    'machine_json',
    'attempt_counts_json',
    'verdict',
    'verdict_json',
  ],
  tasks: ['run_id', 'part', 'outcome'],
  templates: ['run_id', 'method', 'path', 'headers', 'body'],
  usage_imports: ['format', 'mapping_json'],
  usage_polls: ['grants_json'],
  usage_statements: ['dimensions', 'measures', 'outcome'],
  wrong_answers: ['run_id'],
}

/**
 * The text columns that outsiders can fill, by the schema: a new column counts as hostile at once.
 */
export async function hostileColumns(
  store: Store,
): Promise<ReadonlyMap<string, readonly string[]>> {
  // Attempts are in several tables, which the view of that name joins.
  const rows = await store.rows<{ table_name: string; column_name: string }>(`
    SELECT table_name, column_name FROM duckdb_columns()
    WHERE data_type = 'VARCHAR' AND (table_name = 'attempts' OR table_name IN (
        SELECT table_name FROM duckdb_tables() WHERE NOT temporary))
      AND table_name NOT IN ('request_kinds', 'endings', 'attempt_rows', 'narrow_rows')
    ORDER BY ALL`)
  const found = new Map<string, string[]>()
  for (const { table_name: table, column_name: column } of rows) {
    if (ours[table]?.includes(column)) continue
    found.set(table, [...(found.get(table) ?? []), column])
  }
  return found
}

/**
 * Puts the hostile texts into every text column that outsiders can fill, a different one in each
 * row.
 */
export async function makeHostile(store: Store): Promise<void> {
  await fillTable(store, 'hostile', { texts: 'VARCHAR[]', long: 'VARCHAR' }, [
    { texts: hostileTexts, long: megabyte },
  ])
  await store.execute(
    `INSERT INTO imported_gaps SELECT 'run-1', 'steady', '', n FROM range(40) AS t(n)`,
  )
  await store.execute(
    `INSERT INTO metric_sources SELECT 'run-1', n, 'http://x/metrics', 'vLLM', 'given', 1000000 FROM range(40) AS t(n)`,
  )
  await store.execute(
    `INSERT INTO metric_scrapes SELECT 'run-1', n, 1000000, 10, 10, 'end', NULL FROM range(40) AS t(n)`,
  )
  await store.execute(
    `INSERT INTO metric_series SELECT 'run-1', n, n, 'vllm:prompt_tokens_total', 'vllm:prompt_tokens', 'counter', '{}'
     FROM range(40) AS t(n)`,
  )
  await store.execute(
    `INSERT INTO metric_points SELECT 'run-1', n, 1000000, n FROM range(40) AS t(n)`,
  )
  await store.execute(`INSERT INTO usage_referrals SELECT '', '', '' FROM range(40)`)
  await store.execute(
    `INSERT INTO usage_changes SELECT n, 1, '', '', n, n, '', 1, 2, 1, 2, 1, 2 FROM range(40) AS t(n)`,
  )
  await store.execute(`INSERT INTO usage_event_days SELECT '', n FROM range(40) AS t(n)`)
  await store.execute(
    `INSERT INTO usage_statements BY NAME SELECT '' AS source, '' AS id, 1 AS statement, n AS ingested_us,
       n * 3600000000 AS start_us, (n + 1) * 3600000000 AS end_us, 'model' AS dimensions, 'usage' AS measures,
       '' AS model, '' AS endpoint, '' AS key_fp, '' AS account, 'ok' AS outcome, 1 AS requests, '' AS unit FROM range(40) AS t(n)`,
  )
  for (const [table, columns] of await hostileColumns(store)) {
    // The text contains the name of its column, so a leak shows where it came from.
    const set = columns.map((column) => {
      const text = `(SELECT texts FROM hostile)[1 + ((rowid + hash('${column}')) % ${hostileTexts.length})::INTEGER]`
      const long = `rowid = 7 THEN (SELECT long FROM hostile)`
      const unique = table === 'usage_events' && column === 'id' ? ' || rowid' : ''
      // A run cuts an answer, and what it lacks, before it stores them.
      if (table === 'wrong_answers') return `${column} = ${text} || '${column}'`
      // An import keeps 40 characters of a unit, since pages name it beside each amount.
      if (column === 'unit') return `unit = left(${text}, 22) || ' window.owned unit'`
      return `${column} = CASE WHEN ${long} || '${column}'${unique} ELSE ${text} || '${column}'${unique} END`
    })
    if (table === 'attempts') await editAttempts(store, `UPDATE edited SET ${set.join(', ')}`)
    else await store.execute(`UPDATE ${table} SET ${set.join(', ')}`)
  }
  // Foreign text is also inside our JSON.
  const within = (column: string, ...old: readonly string[]) =>
    old.reduce(
      (text, each) =>
        `replace(${text}, '${each}', substr(to_json((SELECT texts FROM hostile)[2])::VARCHAR, 2, len(to_json((SELECT texts FROM hostile)[2])::VARCHAR) - 2))`,
      column,
    )
  await store.execute(`
    UPDATE findings SET detail_json = ${within('detail_json', '829 credits', 'between 812', 'remaining 41', 'the balance crossed')};
    UPDATE runs SET scenario_json = ${within('scenario_json', 'demo')},
      verdict_json = ${within('verdict_json', '0.9 ms', 'lag p99', 'chat.ttft.p95')};
    UPDATE usage_polls SET grants_json = to_json([{name: (SELECT texts FROM hostile)[1], credits: 500, expiresUs: NULL}])::VARCHAR
  `)
}
