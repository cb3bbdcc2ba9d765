import { literal, textList } from '../literal.ts'
import type { Session } from '../session/session.ts'
import type { CellFormats } from './cell-formats.ts'
import { givingEntries, heldEntries } from './entry-types.ts'
import { isGivenSql, longestName } from './field-sql.ts'
import type { Mapping } from './mapping.ts'
import { type ColumnReader, placeSql } from './places.ts'
import { absentField, type StagedField } from './staged-field.ts'
import { storeColumns } from './staged-lines.ts'
import { latestUs, timeField } from './staged-times.ts'
import { TimeSql } from './time-sql.ts'

/** What a grant, a purchase, a gift or an expiry says of its credits, by field: its staged column, and its name in the store's JSON. */
const terms = {
  name: { column: 'lot_name', member: 'name' },
  expires: { column: 'expires_us', member: 'expiresUs' },
  priority: { column: 'lot_priority', member: 'priority' },
  models: { column: 'lot_models', member: 'models' },
  refersTo: { column: 'refers_to', member: 'refersTo' },
} as const
type Term = keyof typeof terms

const mappedTerms = ({ fields }: Mapping): readonly Term[] =>
  fields.type === undefined
    ? []
    : (Object.keys(terms) as Term[]).filter((term) => fields[term] !== undefined)

/** The staged columns of terms that may hold a name of the log. */
export const termTexts = (mapping: Mapping): readonly string[] =>
  mappedTerms(mapping)
    .filter((term) => term === 'name' || term === 'models')
    .map((term) => terms[term].column)

/** SQL: whether a line is of one of these types; others may have any text in columns of terms. */
const isOf = (types: readonly string[]) =>
  `coalesce(list_contains(${textList(types)}, type), false)`
const isHeld = isOf(heldEntries)

const longestModels = 2000

/** The terms of a line, each in a column of its own, to be joined by `joinTerms` once keys are hidden. */
export function stagedTerms(
  mapping: Mapping,
  reader: ColumnReader,
  formats: CellFormats,
): readonly StagedField[] {
  const mapped = mappedTerms(mapping).filter((term) => term !== 'refersTo')
  const own = mapped.map((term): StagedField => {
    const name = terms[term].column
    if (term === 'expires') {
      const times = new TimeSql(mapping, reader, formats)
      return expiresField(timeField(name, mapping.fields.expires!, times))
    }
    const observed = `nullif(trim(${placeSql(mapping.fields[term]!, reader)}), '')`
    if (term !== 'priority') {
      const most = term === 'name' ? longestName : longestModels
      const wrong = `${isHeld} AND coalesce(length(${name}) > ${most}, false)`
      return { name, sql: observed, wrong, expected: `at most ${most} characters`, observed }
    }
    const isPart = `TRY_CAST(${observed} AS DOUBLE) <> ${name}`
    return {
      ...{ name, sql: `TRY_CAST(${observed} AS INTEGER)`, observed, expected: 'a whole number' },
      wrong: `${isHeld} AND CASE WHEN ${name} IS NULL THEN ${isGivenSql(observed)} ELSE ${isPart} END`,
    }
  })
  return [...own, absentField('terms', 'VARCHAR')]
}

/** A time beyond all others, such as 9999-12-31, means never. */
function expiresField(at: StagedField): StagedField {
  const { name } = at
  const given = isGivenSql(`nullif(trim(${at.observed}), '')`)
  const time = `CASE WHEN ${given} THEN ${at.sql} END`
  return {
    ...at,
    sql: `CASE WHEN ${time} <= ${latestUs} THEN ${time} END`,
    wrong: `${isHeld} AND CASE WHEN ${name} IS NULL THEN ${given} AND coalesce(${time} <= ${latestUs}, true)
      ELSE ${at.wrong} OR (${isOf(givingEntries)} AND ${name} <= at_us) END`,
    expected: 'a time after that of the row, or nothing if it never expires',
  }
}

/** Makes one text of the terms of each line. */
export async function joinTerms(session: Session, mapping: Mapping): Promise<void> {
  const mapped = mappedTerms(mapping).map((term) => terms[term])
  if (mapped.length === 0) return
  await storeColumns(session, ['terms'])
  const members = mapped.map(({ column, member }) => `${literal(member)}: ${column}`)
  const some = mapped.map(({ column }) => `${column} IS NOT NULL`)
  await session.execute(
    `UPDATE staging.stored SET terms = to_json({ ${members.join(', ')} })::VARCHAR
     WHERE ${isHeld} AND (${some.join(' OR ')})`,
  )
}
