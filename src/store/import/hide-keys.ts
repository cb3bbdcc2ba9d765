import { tagDimension } from '../../measure/usage/tags.ts'
import { identifier, literal } from '../literal.ts'
import type { Session } from '../session/session.ts'
import { alikeIn, isHashSql, keyPattern, withoutAlike } from './key-forms.ts'
import { hiddenAt, hiddenWords, LogKeys, mostKeys, shortestKey } from './log-keys.ts'
import type { Scan } from './log-scan.ts'
import { type Mapping, tagNamesOf } from './mapping.ts'
import { type Column, nameOfColumn, placeSql, stepsOf } from './places.ts'
import { hasErrors } from './rejects.ts'
import { termTexts } from './terms.ts'

/** Rows that are read at a time. */
const pageRows = 50_000

/** Columns with a value of their own in each row. */
const wideColumns = ['id', 'refers_to']
const nameColumns = ['model', 'endpoint', 'key_fp', 'account', 'unit']

/**
 * Removes the keys of a log from all of its staged texts: those of its column of keys, and what looks like one. Fills
 * `staging.unread` with the lines that could not be read.
 *
 * @returns notes for the reader
 */
export async function hideKeys(session: Session, scanned: Scan): Promise<readonly string[]> {
  const { mapping } = scanned
  const dimensions = (mapping.dimensions ?? []).map((name) => identifier(`dimension ${name}`))
  const tags = tagNamesOf(mapping).map((name) => identifier(tagDimension(name)))
  const names = [...nameColumns, ...dimensions, ...tags, ...termTexts(mapping)]
  const texts = [...wideColumns, ...names, 'error_code', 'reason', 'line']
  const { keys, isIn, areMore } = await keysOf(session, scanned, texts)
  if (keys.areKnown) {
    const name = (text: string) => keys.hiddenName(text)
    for (const column of wideColumns) await rewriteRows(session, column, name)
    for (const column of names) await rewriteValues(session, column, name)
    const longTexts = ['error_code', ...(mapping.tagsColumn === undefined ? [] : ['tags'])]
    for (const column of longTexts)
      await rewriteValues(session, column, (text) => keys.hidden(text))
  }
  if (isIn) await rewriteRejects(session, scanned, keys)
  await readUnread(session, scanned, keys)
  return areMore
    ? [
        `the log has more than ${mostKeys.toLocaleString('en-US')} keys; others may be in its other columns`,
      ]
    : []
}

/** Removes the keys from lines that were kept later. */
export async function hideKeysOfLines(session: Session, scanned: Scan): Promise<void> {
  const { keys, isIn } = await keysOf(session, scanned, ['line'])
  if (isIn) await rewriteRejects(session, scanned, keys)
}

interface FoundKeys {
  readonly keys: LogKeys
  /** Whether the log has any key. A short one is not among `keys`: it is hidden in its own place of a reject only. */
  readonly isIn: boolean
  /** Whether its column has more keys than are looked for. */
  readonly areMore: boolean
}

/** The keys in the column of keys, and what looks like one in other columns. */
async function keysOf(
  session: Session,
  scanned: Scan,
  columns: readonly string[],
): Promise<FoundKeys> {
  const given = await givenKeys(session, scanned)
  const keys = new LogKeys([...given.slice(0, mostKeys), ...(await keysAlike(session, columns))])
  return { keys, isIn: keys.areKnown || given.length > 0, areMore: given.length > mostKeys }
}

/** The values of the column of keys; not their hashes, which gateways log. */
async function givenKeys(
  session: Session,
  { scan, reader, mapping }: Scan,
): Promise<readonly string[]> {
  const { key } = mapping.fields
  if (key === undefined) return []
  const sql = placeSql(key, reader)
  const rows = await session.rows<{ key: string }>(
    `SELECT DISTINCT ${sql} AS key FROM (${scan})
     WHERE nullif(${sql}, '') IS NOT NULL AND NOT ${isHashSql(sql)} LIMIT ${mostKeys + 1}`,
  )
  return rows.map((row) => row.key)
}

async function keysAlike(session: Session, columns: readonly string[]): Promise<readonly string[]> {
  const found = columns.map(
    (column) => `SELECT unnest(regexp_extract_all(${column}, ${literal(keyPattern)})) AS key
      FROM staging.lines WHERE contains(${column}, 'sk-') OR contains(lower(${column}), 'bearer')`,
  )
  const rows = await session.rows<{ key: string }>(
    `SELECT DISTINCT key FROM (${found.join(' UNION ALL ')}) WHERE length(key) >= ${shortestKey} LIMIT ${mostKeys}`,
  )
  return rows.flatMap(({ key }) => alikeIn(key))
}

type Pair = readonly [from: string | number, to: string]

async function rewriteRows(
  session: Session,
  column: string,
  hidden: (text: string) => string,
): Promise<void> {
  for await (const rows of pages(session, column, `${column} IS NOT NULL`)) {
    const changed = rows.flatMap(({ no, text }): Pair[] => {
      const shown = hidden(text)
      return shown === text ? [] : [[no, shown]]
    })
    await update(session, column, 'rowid', changed)
  }
}

async function rewriteValues(
  session: Session,
  column: string,
  hidden: (text: string) => string,
): Promise<void> {
  const rows = await session.rows<{ text: string }>(
    `SELECT DISTINCT ${column} AS text FROM staging.lines WHERE ${column} IS NOT NULL`,
  )
  const changed = rows.flatMap(({ text }): Pair[] => {
    const shown = hidden(text)
    return shown === text ? [] : [[text, shown]]
  })
  await update(session, column, column, changed)
}

/** Replaces a column where another has a value. */
async function update(
  session: Session,
  column: string,
  by: string,
  pairs: readonly Pair[],
): Promise<void> {
  if (pairs.length === 0) return
  await session.execute(
    `UPDATE staging.stored AS lines SET ${column} = pair[2]
     FROM (SELECT unnest(from_json($1, '[["VARCHAR"]]')) AS pair)
     WHERE ${by === 'rowid' ? 'lines.rowid = pair[1]::BIGINT' : `lines.${by} = pair[1]`}`,
    [JSON.stringify(pairs)],
  )
}

/** The reasons and lines of rejects: a key is hidden in its own place, and where else it is. */
async function rewriteRejects(session: Session, scanned: Scan, keys: LogKeys): Promise<void> {
  await rewriteRows(session, 'reason', (reason) => keys.hidden(reason))
  const steps = keySteps(scanned)
  await rewriteRows(session, 'line', (line) =>
    keys.hidden(steps === null || !line.startsWith('{') ? line : hiddenAt(line, steps)),
  )
}

async function* pages(session: Session, column: string, condition: string) {
  const [size] = await session.rows<{ n: number }>(
    'SELECT coalesce(max(rowid) + 1, 0) AS n FROM staging.lines',
  )
  for (let from = 0; from < size!.n; from += pageRows) {
    yield await session.rows<{ no: number; text: string }>(
      `SELECT rowid AS no, ${column} AS text FROM staging.lines
       WHERE rowid >= ${from} AND rowid < ${from + pageRows} AND ${condition}`,
    )
  }
}

/** Where a line, as its rejects show it, has its key. */
function keySteps({ mapping, isJson }: Scan): readonly string[] | null {
  const at = keyColumn(mapping)
  if (at === null) return null
  return isJson ? stepsOf(at) : [nameOfColumn(at)]
}

function keyColumn({ fields: { key } }: Mapping): Column | null {
  if (key === undefined || typeof key === 'string') return key ?? null
  return 'column' in key ? key.column : null
}

/** Lines that the reader of DuckDB refused. Their key may be anywhere. */
async function readUnread(session: Session, scanned: Scan, keys: LogKeys): Promise<void> {
  if (!(await hasErrors(session))) return
  const steps = keySteps(scanned)
  const models = await session.rows<{ model: string }>(
    'SELECT DISTINCT model FROM staging.lines WHERE model IS NOT NULL LIMIT 1000',
  )
  const known = new Set([...scanned.names, ...models.map(({ model }) => model)])
  await session.execute('CREATE TABLE staging.unread (line BIGINT, reason VARCHAR, text VARCHAR)')
  for (let after = -1; ; ) {
    const rows = await session.rows<{ line: number; summary: string; text: string | null }>(
      `SELECT line, any_value(error_message) AS summary, any_value(csv_line) AS text FROM import_errors
       WHERE line > ${after} GROUP BY line ORDER BY line LIMIT 1000`,
    )
    if (rows.length === 0) return
    after = rows.at(-1)!.line
    const shown = rows.map(({ line, summary, text }) => {
      const trimmed = (text ?? '').replace(/^[\r\n]+|[\r\n]+$/g, '')
      const words = steps === null ? trimmed : hiddenWords(trimmed, known)
      return [
        String(line),
        `line ${line}: ${keys.hidden(summary)}`,
        keys.hidden(withoutAlike(words)),
      ]
    })
    await session.execute(
      `INSERT INTO staging.unread BY NAME
       SELECT each[1]::BIGINT AS line, each[2] AS reason, each[3] AS text FROM (SELECT unnest(from_json($1, '[["VARCHAR"]]')) AS each)`,
      [JSON.stringify(shown)],
    )
  }
}
