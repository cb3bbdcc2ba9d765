/** A column of the staged table: its SQL, and the check of its values. */
export interface StagedField {
  readonly name: string
  readonly sql: string
  /** Whether the SQL is the same constant for all lines. */
  readonly isSame?: boolean
  /** SQL that is true for an unacceptable value; null if every value is acceptable. */
  readonly wrong: string | null
  readonly expected: string
  /** SQL for the original value. */
  readonly observed: string
}

/** A column that is the same in all lines. */
export const sameField = (name: string, sql: string): StagedField => ({
  name,
  sql,
  isSame: true,
  wrong: null,
  expected: '',
  observed: 'NULL',
})
