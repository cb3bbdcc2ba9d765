import { doubleDigits } from './exact-json.ts'
import type { FieldSql } from './field-sql.ts'
import { absentField, type StagedField, uncheckedField } from './staged-field.ts'

/** DuckDB types: one holds the credits of most logs in 64 bits, the other those of any log. */
export const creditsTypes = { most: 'DECIMAL(18,6)', any: 'DECIMAL(38,18)' } as const

/** SQL: staged credits are in one of two columns. */
export const stagedCredits = 'coalesce(credits_wide, credits)'

/** The two columns of credits: in 64 bits where that is exact, else in 128, which are slow to read from text. */
export function creditsFields(line: FieldSql): readonly StagedField[] {
  if (!line.isMapped('credits')) {
    return [
      absentField('credits', creditsTypes.most),
      absentField('credits_wide', creditsTypes.any),
    ]
  }
  const number = line.number('credits')
  const most = `TRY_CAST(${number} AS ${creditsTypes.most})`
  const any = `TRY_CAST(${number} AS ${creditsTypes.any})`
  const isSame = `${most}::${creditsTypes.any} = ${any}`
  const isExact = line.isExact('credits')
    ? isSame
    : `CASE WHEN length(${number}) <= ${doubleDigits} THEN ${most}::DOUBLE = TRY_CAST(${number} AS DOUBLE) ELSE ${isSame} END`
  return [
    {
      name: 'credits',
      sql: `CASE WHEN ${isExact} THEN ${most} END`,
      wrong: `CASE WHEN credits IS NULL AND credits_wide IS NULL THEN ${line.isGiven('credits')} ELSE false END`,
      expected: 'a number',
      observed: line.cell('credits'),
    },
    uncheckedField('credits_wide', `CASE WHEN credits IS NULL THEN ${any} END`),
  ]
}
