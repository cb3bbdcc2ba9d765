/** A column of the staged table: its SQL, and the check of its values. */
export interface StagedField {
  readonly name: string
  readonly sql: string
  /** SQL that is true for an unacceptable value; null if every value is acceptable. */
  readonly wrong: string | null
  readonly expected: string
  /** SQL for the original value. */
  readonly came: string
}
