/** A column of the staged table: its SQL, and the check of its values. */
export interface StagedField {
  /** The staged column. */
  readonly name: string
  /** SQL for its value, over one line of the log. */
  readonly sql: string
  /** Whether the SQL is the same constant for all lines. */
  readonly isSame?: boolean
  /**
   * SQL that is true for an unacceptable value; null if every value is acceptable. It reads staged columns by their
   * names, which hold what `sql` gave.
   */
  readonly wrong: string | null
  readonly expected: string
  /** SQL for the original value, over one line of the log. */
  readonly observed: string
}

/** A column whose values are all acceptable. */
export const uncheckedField = (name: string, sql: string): StagedField => ({
  name,
  sql,
  wrong: null,
  expected: '',
  observed: 'NULL',
})

/** A column that is the same in all lines. */
export const sameField = (name: string, sql: string): StagedField => ({
  ...uncheckedField(name, sql),
  isSame: true,
})

/** A column of which no line has a value. */
export const absentField = (name: string, type: string): StagedField =>
  sameField(name, `NULL::${type}`)
