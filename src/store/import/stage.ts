import { mappedNames } from '../../measure/usage/quantities.ts'
import { tagDimension } from '../../measure/usage/tags.ts'
import { dayUs } from '../../user/durations.ts'
import { lookup } from '../../user/lookup.ts'
import { hasRows } from '../has-rows.ts'
import { identifier, literal } from '../literal.ts'
import { tagsSql } from '../quarters/tags.ts'
import type { Session } from '../session/session.ts'
import {
  type CellFormats,
  dateOrderOf,
  decimalOf,
  isDoubtfulSql,
  isShortenedSql,
} from './cell-formats.ts'
import { checkParts } from './check-parts.ts'
import { stagedFields } from './fields.ts'
import { hideKeys } from './hide-keys.ts'
import { placeLocalTimes } from './local-times.ts'
import { type Scan, scanOf } from './log-scan.ts'
import { type FieldName, type Mapping, tagNamesOf } from './mapping.ts'
import { nameOfColumn } from './places.ts'
import { settleTypes } from './settle-types.ts'
import type { StagedField } from './staged-field.ts'
import { createLines, type SameColumn, storeColumns } from './staged-lines.ts'
import type { StagedLog } from './staged-log.ts'
import { stagedTags } from './staged-tags.ts'
import { joinTerms, stagedTerms } from './terms.ts'
import { timezoneOf } from './time-sql.ts'

/** Whether numbers and dates are those of a spreadsheet. */
const isTable = ({ format, mapping }: StagedLog) => format === 'csv' || mapping.table === true

export interface Staged {
  /** For the reader. */
  readonly notes: readonly string[]
  readonly scanned: Scan
  readonly readings: CellFormats
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
  await stageLines(session, log, scanned, plain)
  let readings = plain
  // A line has one reason: an odd date hides an odd number, so a file is read at most three times.
  for (let before: CellFormats | null = null; isTable(log) && before !== readings; ) {
    before = readings
    readings = await readingsOf(session, log, scanned, before)
    if (readings === before) break
    await stageLines(session, log, scanned, readings)
  }
  const notes = readings.decimal === null ? [] : await shortenedCells(session, mapping, scanned)
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
  return { notes, scanned, readings }
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
  readings: CellFormats,
): Promise<void> {
  const fields = [
    ...stagedFields(mapping, reader, readings),
    ...stagedTags(mapping, reader),
    ...stagedTerms(mapping, reader, readings),
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
  const texts = isTable(log) && mapping.decimal === undefined ? numbersOf(mapping) : []
  const doubt = texts.map(({ place }) => isDoubtfulSql(reader.text(place))).join(' OR ')
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

const numberFields = ['credits', ...mappedNames, 'requests'] as const satisfies readonly FieldName[]

/** The mapped columns that hold numbers as text. */
function numbersOf({ fields }: Mapping) {
  return numberFields.flatMap((field) => {
    const at = fields[field]
    if (at === undefined || (typeof at === 'object' && !('column' in at))) return []
    const place = typeof at === 'string' ? at : at.column
    return [{ field, place }]
  })
}

/** How a CSV file writes numbers and dates, if plain numbers and ISO 8601 do not fit all of its cells. */
async function readingsOf(
  session: Session,
  { file, mapping }: StagedLog,
  { scan, reader }: Scan,
  plain: CellFormats,
): Promise<CellFormats> {
  const [odd] = await session.rows<{ numbers: boolean | null; dates: boolean | null }>(
    `SELECT bool_or(doubt OR regexp_matches(reason, '^(credits|requests|[a-z1_]+_tokens):')) AS numbers,
       bool_or(regexp_matches(reason, '^(time|end_us|expires):')) AS dates
     FROM staging.lines WHERE doubt OR reason IS NOT NULL`,
  )
  let { decimal, dateOrder } = plain
  if (odd!.numbers === true && decimal === null) {
    const cells = numbersOf(mapping).map(({ field, place }) => ({
      column: nameOfColumn(place),
      text: `nullif(${reader.text(place)}, '')`,
      isWhole: field !== 'credits',
    }))
    decimal = mapping.decimal ?? (await decimalOf(session, file, scan, cells))
  }
  if (odd!.dates === true && dateOrder === null) {
    const { time } = mapping.fields
    dateOrder = await dateOrderOf(
      session,
      file,
      scan,
      reader.text(typeof time === 'string' ? time : time.column),
    )
  }
  return decimal === plain.decimal && dateOrder === plain.dateOrder ? plain : { decimal, dateOrder }
}

/** Counts cells such as `1,23E+05`, which a spreadsheet has shortened. */
async function shortenedCells(
  session: Session,
  mapping: Mapping,
  { scan, reader }: Scan,
): Promise<string[]> {
  const sums = numbersOf(mapping).map(
    ({ place }) => `count(*) FILTER (WHERE ${isShortenedSql(reader.text(place))})`,
  )
  if (sums.length === 0) return []
  const [row] = await session.rows<{ n: number }>(`SELECT ${sums.join(' + ')} AS n FROM (${scan})`)
  return row!.n === 0
    ? []
    : [
        `${row!.n} ${row!.n === 1 ? 'cell' : 'cells'} such as 1,23E+05 ${row!.n === 1 ? 'was' : 'were'} shortened by a spreadsheet: ${row!.n === 1 ? 'its' : 'their'} last digits are lost`,
      ]
}
