import { tagDimension } from '../../measure/usage/tags.ts'
import { dayUs } from '../../user/durations.ts'
import { lookup } from '../../user/lookup.ts'
import { hasRows } from '../has-rows.ts'
import { identifier, literal } from '../literal.ts'
import { tagsSql } from '../quarters/tags.ts'
import type { Session } from '../session/session.ts'
import type { CellFormats } from './cell-formats.ts'
import { checkParts } from './check-parts.ts'
import { stagedFields } from './fields.ts'
import { doubtSql, moreFormats, shortenedCells } from './found-formats.ts'
import { hideKeys } from './hide-keys.ts'
import { placeLocalTimes } from './local-times.ts'
import { type Scan, scanOf } from './log-scan.ts'
import { type Mapping, tagNamesOf } from './mapping.ts'
import { settleTypes } from './settle-types.ts'
import type { StagedField } from './staged-field.ts'
import { createLines, type SameColumn, storeColumns } from './staged-lines.ts'
import type { StagedLog } from './staged-log.ts'
import { stagedTags } from './staged-tags.ts'
import { joinTerms, stagedTerms } from './terms.ts'
import { timezoneOf } from './time-sql.ts'

export interface Staged {
  /** For the reader. */
  readonly notes: readonly string[]
  readonly scanned: Scan
  readonly formats: CellFormats
}

/**
 * Fills `staging.lines`: each line with typed values, and the reason if one of them is bad.
 *
 * @param read the plain text of the file
 * @throws UserError if the numbers, dates or tokens of the file have two meanings
 */
export async function stage(session: Session, log: StagedLog, read: string): Promise<Staged> {
  const { mapping } = log
  const scanned = await scanOf(session, { ...log, read })
  const plain: CellFormats = {
    decimal: mapping.decimal === ',' ? ',' : null,
    dateOrder: mapping.dateOrder ?? null,
  }
  let formats = plain
  await stageLines(session, log, scanned, formats)
  for (;;) {
    const more = await moreFormats(session, log, scanned, formats)
    if (more === null) break
    formats = more
    await stageLines(session, log, scanned, formats)
  }
  const notes = formats.decimal === null ? [] : await shortenedCells(session, scanned)
  const { ambiguous = null, bucket } = mapping
  const timezone = timezoneOf(mapping)
  const series = [
    ...['model', 'key_fp', 'account', 'outcome'],
    ...(mapping.dimensions ?? []).map((name) => identifier(`dimension ${name}`)),
    ...tagNamesOf(mapping).map((name) => identifier(tagDimension(name))),
  ].map((sql) => `coalesce(${sql}, '')`)
  for (const each of await placeLocalTimes(session, { timezone, ambiguous, bucket, series }))
    notes.push(each)
  for (const each of await rejectAhead(session, log)) notes.push(each)
  await settleTypes(session, log)
  await keepLines(session, scanned, 'false')
  for (const each of await hideKeys(session, scanned)) notes.push(each)
  await joinTags(session, mapping)
  await joinTerms(session, mapping)
  for (const each of await checkParts(session, log)) notes.push(each)
  return { notes, scanned, formats }
}

/** Makes one text of the tags of each line. */
async function joinTags(session: Session, mapping: Mapping): Promise<void> {
  const names = tagNamesOf(mapping)
  if (names.length === 0) return
  const values = new Map(names.map((name) => [name, identifier(tagDimension(name))]))
  await storeColumns(session, ['tags'])
  await session.execute(`UPDATE staging.stored SET tags = ${tagsSql(values)}`)
}

/**
 * Keeps the text of lines that were found bad after they were read.
 *
 * @param where SQL over `staging.lines` beside those with a reason
 */
export async function keepLines(
  session: Session,
  { scan, raw }: Scan,
  where: string,
): Promise<void> {
  const kept = `lines.line IS NULL AND (lines.reason IS NOT NULL OR ${where})`
  if (!(await hasRows(session, `staging.lines WHERE ${kept}`))) return
  await session.execute(
    `UPDATE staging.stored AS lines SET line = scanned.line
     FROM (SELECT row_number() OVER () - 1 AS at, ${raw} AS line FROM (${scan})) AS scanned
     WHERE lines.rowid = scanned.at AND ${kept}`,
  )
}

const yearUs = 365.25 * dayUs

/** Rejects lines whose clock is more than a year ahead. Our own exports may be of runs in scaled time. */
async function rejectAhead(
  session: Session,
  { mapping, nowUs }: StagedLog,
): Promise<readonly string[]> {
  if (mapping.optional !== undefined) return []
  const [row] = await session.rows<{ ahead: number; far: number }>(
    `SELECT count(*) FILTER (WHERE at_us > ${nowUs + dayUs}) AS ahead, count(*) FILTER (WHERE at_us > ${nowUs + yearUs}) AS far
     FROM staging.lines WHERE reason IS NULL`,
  )
  const { ahead, far } = row!
  if (far > 0) {
    await session.execute(
      `UPDATE staging.stored AS lines SET reason = 'time is ' || printf('%.0f', (at_us - ${nowUs}) / ${yearUs}) || ' years ahead: '
         || strftime(make_timestamp(at_us), '%Y-%m-%d %H:%M:%S')
       WHERE reason IS NULL AND at_us > ${nowUs + yearUs}`,
    )
  }
  const near = ahead - far
  return near === 0
    ? []
    : [
        `${near.toLocaleString('en-US')} ${near === 1 ? 'line is' : 'lines are'} ahead of this clock`,
      ]
}

async function stageLines(
  session: Session,
  log: StagedLog,
  { scan, reader, raw, mapping }: Scan,
  formats: CellFormats,
): Promise<void> {
  const fields = [
    ...stagedFields(mapping, reader, formats),
    ...stagedTags(mapping, reader),
    ...stagedTerms(mapping, reader, formats),
  ]
  const dimensions = (mapping.dimensions ?? []).map(
    (name) => `nullif(${reader.text(name)}, '') AS ${identifier(`dimension ${name}`)}`,
  )
  const { problem } = mapping
  const unread = [
    ...(log.format === 'jsonl' ? [`WHEN v IS NULL THEN 'line: expected JSON'`] : []),
    ...(problem === undefined
      ? []
      : [`WHEN ${reader.text(problem)} IS NOT NULL THEN ${reader.text(problem)}`]),
  ].join('\n')
  const checked = fields.filter((field) => field.wrong !== null)
  const doubt = doubtSql(log, mapping, reader)
  const values = fields.map((field) => `${field.sql} AS ${field.name}`)
  const same: SameColumn[] = [
    ...fields.filter(({ isSame }) => isSame === true),
    { name: 'priced_by', sql: 'NULL::VARCHAR' },
    ...(doubt === '' ? [{ name: 'doubt', sql: 'false' }] : []),
  ]
  const stored = values.filter((_, at) => fields[at]!.isSame !== true)
  // Values first, then their issues. The line itself is kept only if it has an issue.
  await createLines(
    session,
    `SELECT * EXCLUDE (${log.format === 'jsonl' ? 'full_text, v, amount' : 's'}),
            CASE WHEN reason IS NOT NULL THEN ${raw} END AS line
     FROM (
       SELECT *, CASE ${unread} ${checked.map(reasonSql).join('\n')} END AS reason
       FROM (SELECT *, ${[...stored, ...dimensions, ...(doubt === '' ? [] : [`${doubt} AS doubt`])].join(',\n')}
             FROM (${scan})))`,
    same,
  )
}

/** Names the option for a word that stands for an amount, such as `Included`. */
const wordHint = (observed: string) =>
  ` || CASE WHEN regexp_full_match(${observed}, '[A-Za-z]{2,30}') THEN '; if it means 0, map values: { ' || ${observed} || ': "0" }' ELSE '' END`

/** Staged columns that a mapping calls by another name. */
const namesInMapping: Readonly<Record<string, string>> = lookup({
  at_us: 'time',
  end_us: 'end',
  expires_us: 'expires',
  lot_name: 'name',
  lot_priority: 'priority',
  lot_models: 'models',
  version_us: 'version',
})

/** `credits: expected a number, got "abc"`. */
function reasonSql({ name, wrong, expected, observed }: StagedField): string {
  return `WHEN ${wrong} THEN ${literal(`${namesInMapping[name] ?? name}: expected ${expected}, got `)}
    || coalesce(to_json(left(${observed}, 80))::VARCHAR, 'nothing')${name === 'credits' ? wordHint(observed) : ''}`
}
