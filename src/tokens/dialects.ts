import { answerDialects } from './answer-dialects.ts'
import type { Dialect } from './dialect.ts'
import { logDialects } from './log-dialects.ts'

export const dialects: Readonly<Record<DialectName, Dialect>> = {
  ...answerDialects,
  ...logDialects,
}
export type DialectName = keyof typeof answerDialects | keyof typeof logDialects
export const answerDialectNames = Object.keys(
  answerDialects,
) as readonly (keyof typeof answerDialects)[]
