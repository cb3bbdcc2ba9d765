import { hasRows } from '../has-rows.ts'
import type { Session } from '../session/session.ts'
import { comparedContent, stagedContent } from './content.ts'
import type { Mapping } from './mapping.ts'
import { storeColumns } from './staged-lines.ts'

const count = (n: number, one: string, many: string) =>
  n === 1 ? `1 ${one}` : `${n.toLocaleString('en-US')} ${many}`

/**
 * Gives lines without an id of their own a hash of their content, and equal lines of the file a number. Importing the
 * file again gives the same ids, so n and m equal lines of two files count max(n, m) times.
 *
 * @returns notes for the reader
 */
export async function nameEqualLines(
  session: Session,
  mapping: Mapping,
): Promise<readonly string[]> {
  if (mapping.fields.id !== undefined && mapping.ids === 'unique') return []
  const columns = [
    ...stagedContent().filter((sql) => sql !== 'terms'),
    ...(mapping.fields.id === undefined ? [] : ['id']),
  ]
  const plain = columns.map((sql) => `coalesce(${sql}::VARCHAR, '~')`).join(` || '|' || `)
  // Tables in ClickHouse have ids of lines from before there were terms.
  const text = `${plain} || coalesce('|' || terms, '')`
  await storeColumns(session, ['id'])
  await session.execute(`
    CREATE TABLE staging.named AS
    SELECT rowid AS line_no, md5(${text}) AS hash FROM staging.lines WHERE reason IS NULL AND end_us IS NULL;
    UPDATE staging.stored AS lines SET id = numbered.id FROM (
      SELECT line_no, left(hash, 20) || CASE WHEN n = 1 THEN '' ELSE '#' || n END AS id
      FROM (SELECT *, row_number() OVER (PARTITION BY hash ORDER BY line_no) AS n FROM staging.named)) AS numbered
    WHERE lines.rowid = numbered.line_no`)
  const [row] = await session.rows<{ n: number }>(
    'SELECT count(*) - count(DISTINCT hash) AS n FROM staging.named',
  )
  return row!.n === 0
    ? []
    : [
        `${count(row!.n, 'row equals another of the file; it counts', 'rows equal others of the file; they count')}`,
      ]
}

const storedType = 'type::VARCHAR'
/** The same once the staged lines are there: an amount that came before its request is settled as its refund. */
const settledType = `CASE WHEN type = 'adjustment' AND id IN (
    SELECT id FROM usage_referrals WHERE source = $1 AND refers_to IN (SELECT id FROM staging.lines))
  THEN 'refund' ELSE ${storedType} END`

/** Whether lines of a source name another line, which they refund. */
export const hasReferrals = (session: Session, source: string): Promise<boolean> =>
  hasRows(session, 'usage_referrals WHERE source = $1', [source])

/**
 * Fills `staging.known`: lines whose id was seen before, in this file or an earlier one, and `how`: `known` (equal),
 * `older` or `corrects` (another version), `differs` (no version decides). Content is compared by hash, and within the
 * file only ids with equal hashes are compared as text: millions of wide rows would exceed the memory limit.
 *
 * @returns notes for the reader
 */
export async function findKnown(
  session: Session,
  { source, mapping }: { readonly source: string; readonly mapping: Mapping },
): Promise<readonly string[]> {
  const hasVersions = mapping.fields.version !== undefined || mapping.identified === true
  // The hash depends on the type, so both sides need the same.
  const staged = `hash(${comparedContent.staged.join(', ')})`
  const isReferred = await hasReferrals(session, source)
  const stored = `hash(${comparedContent.stored(isReferred ? settledType : storedType).join(', ')})`
  const how = (mine: string, kept: string) => {
    const differs = `CASE WHEN good.h <> ${kept}.h THEN 'differs' ELSE 'known' END`
    return hasVersions
      ? `CASE WHEN good.h <> ${kept}.h AND ${mine}.version_us > ${kept}.version_us THEN 'corrects'
              WHEN good.h <> ${kept}.h AND ${mine}.version_us < ${kept}.version_us THEN 'older'
              ELSE ${differs} END`
      : differs
  }
  const most = mapping.newest === 'most output' ? 'completion_tokens DESC NULLS LAST, ' : ''
  // Of equal versions in a file, the last line counts.
  const order = hasVersions ? `version_us DESC NULLS LAST, ${most}line_no DESC` : 'line_no'
  await session.execute(
    `CREATE TABLE staging.known AS
     WITH twice AS (
       SELECT hash(id) AS h FROM staging.lines WHERE reason IS NULL AND end_us IS NULL GROUP BY 1 HAVING count(*) > 1),
     good AS NOT MATERIALIZED (
       SELECT rowid AS line_no, id, version_us, completion_tokens, ${staged} AS h FROM staging.lines
       WHERE reason IS NULL AND end_us IS NULL),
     repeated AS (
       SELECT good.*, first_value(line_no) OVER w AS first, first_value(good.h) OVER w AS kept_h
       FROM good WHERE hash(id) IN (FROM twice)
       WINDOW w AS (PARTITION BY id ORDER BY ${order})),
     later AS (
       SELECT good.line_no, ${
         hasVersions
           ? `CASE WHEN good.h <> kept_h THEN 'older' ELSE 'known' END`
           : `CASE WHEN good.h <> kept_h THEN 'differs' ELSE 'known' END`
       } AS how, NULL::INTEGER AS import_no
       FROM repeated AS good WHERE line_no <> first),
     before AS (
       SELECT good.line_no, ${how('good', 'kept')} AS how, kept.import_no
       FROM good JOIN (SELECT id, import_no, version_us, ${stored} AS h FROM usage_events WHERE source = $1) AS kept
         ON kept.id = good.id)
     ${hasVersions ? 'FROM later UNION ALL FROM before WHERE line_no NOT IN (SELECT line_no FROM later)' : 'FROM before UNION ALL FROM later WHERE line_no NOT IN (SELECT line_no FROM before)'}`,
    [source],
  )
  const files = await session.rows<{ file: string; n: number; lines: number; corrected: number }>(
    `SELECT file, count(*) AS n, (SELECT count(*) FROM staging.lines) AS lines,
       count(*) FILTER (WHERE how = 'corrects') AS corrected
     FROM staging.known JOIN usage_imports USING (import_no) WHERE how <> 'differs' GROUP BY file ORDER BY file`,
  )
  return files.flatMap(({ file, n, lines, corrected }) => [
    ...(n > corrected
      ? [
          `${(n - corrected).toLocaleString('en-US')} of ${count(lines, 'line was', 'lines were')} in ${file} already`,
        ]
      : []),
    ...(corrected > 0 ? [`${count(corrected, 'line', 'lines')} of ${file} corrected`] : []),
  ])
}
