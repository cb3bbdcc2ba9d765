import { tokenColumns } from '../../measure/usage/quantities.ts'
import { tagDimension } from '../../measure/usage/tags.ts'
import { identifier, literal } from '../literal.ts'
import type { Session } from '../session/session.ts'
import { type Mapping, tagNamesOf } from './mapping.ts'
import { type LinePrices, pricedUnitSql } from './price-lines.ts'
import { stagedCredits } from './staged-credits.ts'

const counts = ['requests', ...tokenColumns] as const

/** Columns that every source may group its sums by. */
const ownDimensions = {
  model: 'model',
  api_key: 'key_fp',
  account: 'account',
  unit: 'unit',
} as const

/** Lines that are sums over an interval, without those that are wrong. */
const sumLines = 'reason IS NULL AND end_us IS NOT NULL'

/** Of lines with one identity, the last of the file. */
const newestLines = `(FROM staging.lines WHERE ${sumLines}
  QUALIFY row_number() OVER (PARTITION BY id ORDER BY rowid DESC) = 1)`

const sharedColumns = ['model', 'endpoint', 'key_fp', 'account', 'tags']

/** SQL: the value of a column that all rows of a group share, else null. */
const sharedSql = (name: string) =>
  `CASE WHEN count(DISTINCT ${name}) = 1 THEN any_value(${name}) END AS ${name}`

interface StatedLog {
  readonly source: string
  readonly mapping: Mapping
  readonly prices?: LinePrices
}

/**
 * Turns the staged sums into statements, and compares them with those of the store. Rows of one interval and the same
 * dimensions add up, because the export leaves out what sets them apart. Charges are known by their identity alone.
 *
 * @returns the names of the dimensions
 */
export async function compareStatements(session: Session, log: StatedLog): Promise<string> {
  const dimensions = await dimensionsOf(session, log.mapping)
  const names = dimensions.map(({ name }) => name).filter((name) => name !== 'unit')
  const isBill = log.mapping.identified === true
  const grouped = isBill ? '' : names.sort().join()
  await stateSums(session, log, dimensions)
  if (!isBill) await keepFormerIds(session, log.source, grouped)
  await compareWithNewest(session, log.source)
  return grouped
}

/** Fills `staging.stated`: a row for each statement of the file. A sum of nothing, of nobody, is none. */
async function stateSums(
  session: Session,
  { mapping, prices }: StatedLog,
  dimensions: readonly Dimension[],
): Promise<void> {
  const isBill = mapping.identified === true
  const values = dimensions.map(({ name, sql }) => `${literal(name)}, coalesce(${sql}, '')`)
  const id = isBill
    ? 'id'
    : `concat_ws('/', at_us, end_us, outcome, json_object(${values.join(', ')}))`
  const former = isBill
    ? 'id'
    : `concat_ws('/', ${['at_us', 'end_us', 'outcome', ...dimensions.map(({ sql }) => `coalesce(${sql}, '')`)].join(', ')})`
  const measures = isBill
    ? `'charges'`
    : `(SELECT CASE WHEN count(coalesce(${counts.join(', ')})) > 0 THEN 'usage' ELSE 'costs' END
        FROM staging.lines WHERE ${sumLines})`
  const hasAmount = `coalesce(${[...counts, stagedCredits].map((sql) => `nullif(${sql}, 0)`).join(', ')}) IS NOT NULL`
  const hasOwner = dimensions
    .filter(({ name }) => name !== 'unit')
    .map(({ sql }) => `OR ${sql} IS NOT NULL`)
    .join(' ')
  await session.execute(
    `CREATE TABLE staging.stated AS
     SELECT stated_id AS id, * EXCLUDE (stated_id), ${measures} AS measures
     FROM (
       SELECT ${id} AS stated_id, any_value(${former}) AS former_id, count(*) AS lines, at_us AS start_us, end_us, outcome, any_value(${pricedUnitSql(prices?.unit)}) AS unit,
         CASE WHEN count(priced_by) = count(*) THEN any_value(priced_by) END AS priced_by,
         ${sharedColumns.map(sharedSql).join(', ')},
         sum(${stagedCredits}) AS credits, ${counts.map((name) => `sum(${name})::BIGINT AS ${name}`).join(', ')}
       FROM ${isBill ? newestLines : 'staging.lines'}
       WHERE ${sumLines} AND (${isBill ? 'true' : `${hasAmount} ${hasOwner}`})
       GROUP BY stated_id, at_us, end_us, outcome)`,
  )
}

/**
 * The id of a sum was once its values with `/` between them, so that those of two could be the same. What is in the store under such
 * an id keeps it; of two that became one there, the first does.
 */
async function keepFormerIds(session: Session, source: string, grouped: string): Promise<void> {
  const isSame = sharedColumns.map((name) => `newest.${name} IS NOT DISTINCT FROM stated.${name}`)
  const maySame = sharedColumns.map(
    (name) => `(newest.${name} IS NULL OR newest.${name} = stated.${name})`,
  )
  await session.execute(
    `UPDATE staging.stated AS own SET id = known.former_id FROM (
       SELECT stated.id, stated.former_id FROM staging.stated AS stated JOIN (
         FROM usage_statements WHERE source = $1
         QUALIFY row_number() OVER (PARTITION BY id ORDER BY statement DESC) = 1) AS newest
         ON newest.id = stated.former_id AND newest.dimensions = ${literal(grouped)}
       WHERE ${maySame.join(' AND ')} AND stated.id NOT IN (SELECT id FROM usage_statements WHERE source = $1)
       QUALIFY row_number() OVER (PARTITION BY stated.former_id ORDER BY (${isSame.join(' AND ')}) DESC, stated.id) = 1) AS known
     WHERE own.id = known.id`,
    [source],
  )
}

/** Fills `staging.compared`: each statement beside the newest of its id in the store. */
async function compareWithNewest(session: Session, source: string): Promise<void> {
  const equal = (names: readonly string[]) =>
    names.map((name) => `stated.${name} IS NOT DISTINCT FROM newest.${name}`).join(' AND ')
  // A cost by prices stays if the sum comes again without.
  const same = `${equal(counts)} AND (${equal(['credits', 'unit'])} OR stated.credits IS NULL AND newest.priced_by IS NOT NULL)`
  await session.execute(
    `CREATE TABLE staging.compared AS
     SELECT stated.*, newest.id IS NOT NULL AS is_repeated, newest.id IS NOT NULL AND ${same} AS is_same,
       newest.requests AS requests_before, newest.credits AS credits_before,
       newest.prompt_tokens + newest.completion_tokens AS tokens_before
     FROM staging.stated AS stated LEFT JOIN (
       FROM usage_statements WHERE source = $1
       QUALIFY row_number() OVER (PARTITION BY id ORDER BY statement DESC) = 1) AS newest USING (id)`,
    [source],
  )
}

/**
 * Enters the compared statements. One that says what is known already is not entered.
 *
 * @returns the number of lines that are known, and notes
 */
export async function enterStatements(
  session: Session,
  source: string,
  dimensions: string,
  importNo: number,
  nowUs: bigint,
): Promise<{ readonly known: number; readonly notes: readonly string[] }> {
  await session.execute(
    `INSERT INTO usage_statements BY NAME
     SELECT $1 AS source, id, $2 AS statement, $3 AS ingested_us, start_us, end_us, ${literal(dimensions)} AS dimensions,
       measures, model, endpoint, key_fp, account, tags, outcome, credits, unit, priced_by, ${counts.join(', ')}
     FROM staging.compared WHERE NOT is_same`,
    [source, importNo, nowUs],
  )
  await session.execute(
    `INSERT INTO usage_changes BY NAME
     SELECT $3 AS changed_us, $2 AS import_no, $1 AS source, id, start_us, end_us, model, requests_before,
       requests AS requests_after, credits_before, credits AS credits_after, tokens_before,
       prompt_tokens + completion_tokens AS tokens_after
     FROM staging.compared WHERE is_repeated AND NOT is_same`,
    [source, importNo, nowUs],
  )
  // Of charges, lines that a later line of the file replaces are known, too.
  const [known] = await session.rows<{ n: number }>(
    `SELECT coalesce(sum(lines) FILTER (WHERE is_same), 0)::BIGINT + coalesce(any_value(repeats), 0) AS n
     FROM staging.compared LEFT JOIN (
       SELECT count(*) - count(DISTINCT id) AS repeats FROM staging.lines
       WHERE ${sumLines} AND (SELECT bool_and(measures = 'charges') FROM staging.compared)) ON true`,
  )
  return { known: known!.n, notes: await changesOf(session, importNo) }
}

interface Dimension {
  readonly name: string
  readonly sql: string
}

/** What an export is grouped by: the dimensions that one of its rows has a value of. */
async function dimensionsOf(session: Session, mapping: Mapping): Promise<readonly Dimension[]> {
  const all = [
    ...Object.entries(ownDimensions).map(([name, sql]) => ({ name, sql: sql as string })),
    ...(mapping.dimensions ?? []).map((name) => ({ name, sql: identifier(`dimension ${name}`) })),
    ...tagNamesOf(mapping).map((name) => ({
      name: tagDimension(name),
      sql: identifier(tagDimension(name)),
    })),
  ]
  const [row] = await session.rows<Record<string, boolean>>(
    `SELECT ${all.map(({ sql }, at) => `count(${sql}) > 0 AS d${at}`).join(', ')}
     FROM staging.lines WHERE ${sumLines}`,
  )
  return all.filter((_, at) => row![`d${at}`])
}

const shownChanges = 5

/** `1 bucket replaced (2 → 4 requests)`, and each bucket that shrank. */
async function changesOf(session: Session, importNo: number): Promise<readonly string[]> {
  const [sum] = await session.rows<{ n: number; before: number | null; after: number | null }>(
    `SELECT count(*) AS n, sum(requests_before)::BIGINT AS before, sum(requests_after)::BIGINT AS after
     FROM usage_changes WHERE import_no = $1`,
    [importNo],
  )
  const { n, before, after } = sum!
  if (n === 0) return []
  const shrunk = await session.rows<{ summary: string }>(
    `SELECT replace(strftime(make_timestamp(start_us), '%Y-%m-%d %H:%M'), ' 00:00', '')
       || coalesce(' ' || model, '') || ': ' || requests_before || ' → ' || requests_after || ' requests' AS summary
     FROM usage_changes WHERE import_no = $1 AND requests_after < requests_before ORDER BY start_us, id LIMIT ${shownChanges}`,
    [importNo],
  )
  const requests = before === null || after === null ? '' : ` (${before} → ${after} requests)`
  return [
    `${n === 1 ? '1 bucket' : `${n.toLocaleString('en-US')} buckets`} replaced${requests}`,
    ...shrunk.map(({ summary }) => summary),
  ]
}
