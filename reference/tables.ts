import { readFileSync } from 'node:fs'
import { attemptColumns, sqlName, sqlTypes } from '../src/attempt/columns.ts'
import { lastFoursTable } from '../src/store/import/last-fours.ts'
import { tokenTables } from '../src/store/session/empty-store.ts'
import { tokenKinds } from '../src/tokens/kinds.ts'
import { table } from './table.ts'

/** docs/tables.md, made from the schema and the columns of an attempt. */
export function tablesReference(): string {
  const schema = readFileSync(new URL('../src/store/schema.sql', import.meta.url), 'utf8')
  return `# Tables

<!-- Made by npm run reference; do not edit. -->

The store is one DuckDB file. Any DuckDB client can open it:

\`\`\`sql
SELECT step, count(*), quantile_cont(service_us, 0.95) / 1000 AS p95_ms
FROM attempt_times WHERE outcome = 'ok' GROUP BY step;
\`\`\`

Times of attempts are microseconds since their run began, on one monotonic clock; \`runs.started_at\` ties
that clock to UTC. The view \`attempt_times\` adds the measures of each attempt to its columns:
[Metrics](metrics.md).

## attempts

A view with one row per HTTP attempt. The tables behind it are internal.

${columnTable(
  Object.entries(attemptColumns).map(([name, { kind, nullable, description }]) => [
    sqlName(name),
    sqlTypes[kind] + (nullable ? '' : ' NOT NULL'),
    description,
  ]),
)}

${tablesOf(`${schema}${lastFoursTable}`).join('\n\n')}
`
}

/** The columns of the kinds of tokens. */
const tokens = Object.values(tokenKinds).map(
  ({ column, title }) => [column, 'BIGINT', `${title}, over all requests of the row`] as const,
)

/** A section for each table of the schema: the comment above it, and its columns with their comments. */
const tablesOf = (schema: string): readonly string[] =>
  [
    ...schema.matchAll(/((?:^--.*\n)*)^CREATE TABLE (?:IF NOT EXISTS )?(\w+) \(\n([\s\S]*?)^\);/gm),
  ].map(([, comment, name, body]) =>
    [
      `## ${name}`,
      ...(comment === '' ? [] : [comment!.replaceAll(/^-- ?/gm, '').trim()]),
      columnTable([...columnsOf(body!), ...(tokenTables.includes(name!) ? tokens : [])]),
    ].join('\n\n'),
  )

function columnsOf(body: string): readonly (readonly [string, string, string])[] {
  const columns: [string, string, string][] = []
  for (const line of body.trimEnd().split('\n')) {
    const [, code, comment = ''] = /^(.*?)(?:\s*--\s*(.*))?$/.exec(line)!
    const column = /^\s+(\w+) (.+?),?$/.exec(code!)
    if (column !== null) columns.push([column[1]!, column[2]!, comment])
    else if (comment !== '' && columns.length > 0) columns.at(-1)![2] += ` ${comment}`
  }
  return columns
}

const columnTable = (rows: readonly (readonly [string, string, string])[]) =>
  table(
    ['column', 'type', 'meaning'],
    rows.map(([name, type, comment]) => [`\`${name}\``, type, comment.replaceAll('|', '\\|')]),
  )
