import { type ColumnName, sqlName } from '../../attempt/columns.ts'
import { flagSql } from '../../attempt/flags.ts'
import type { DialectName } from '../../tokens/dialects.ts'
import { passesField } from '../../tokens/read-usage.ts'
import { normalUsage, type StatedCounts, type Usage } from '../../tokens/usage.ts'

/** Columns of an attempt with its tokens, and the counts that they are. */
const countOf = {
  promptTokens: 'input',
  cachedTokens: 'cacheRead',
  cacheReadAudioTokens: 'cacheReadAudio',
  cacheWriteTokens: 'cacheWrite',
  cacheWrite1hTokens: 'cacheWrite1h',
  inputAudioTokens: 'inputAudio',
  inputImageTokens: 'inputImage',
  completionTokens: 'output',
  reasoningTokens: 'reasoning',
  outputAudioTokens: 'outputAudio',
  outputImageTokens: 'outputImage',
  citationTokens: 'citation',
  totalTokens: 'total',
} as const satisfies Partial<Record<ColumnName, keyof StatedCounts>>

/** Columns that count tokens, whatever of them a price depends on. */
export const tokenColumnNames = Object.keys(countOf) as (keyof typeof countOf)[]

export type TokenColumns = { readonly [Name in keyof typeof countOf]: number | null }

/** The columns, and whether they are those of an answer in several passes, whose counts they do not have. */
export interface CountedAnswer extends TokenColumns {
  readonly severalPasses: boolean
}

/** SQL: these columns, in a list of a SELECT. */
export const tokenColumnsSql = tokenColumnNames
  .map((name) => `${sqlName(name)} AS "${name}"`)
  .join(', ')

export const severalPassesSql = flagSql('severalPasses')

/**
 * The usage of an answer that was not stored, from the client's columns, in the contract's `dialect`, which the client does not
 * know; passes are not read. Null if none was reported, or the dialects cannot be told apart.
 */
export function usageOfColumns(row: CountedAnswer, dialect: DialectName | null): Usage | null {
  if (row.promptTokens === null && row.completionTokens === null) return null
  if (dialect === 'new-api-anthropic' || dialect === 'xai-chat') return null
  const counts = Object.fromEntries(tokenColumnNames.map((name) => [countOf[name], row[name]]))
  const usage = normalUsage(
    {
      ...counts,
      // The columns are disjoint where the counts of a service include parts.
      cacheWrite: sumOf(row.cacheWriteTokens, row.cacheWrite1hTokens),
      inputAudio: sumOf(row.inputAudioTokens, row.cacheReadAudioTokens),
    },
    { input: 'all', output: 'all' },
  )
  // The client laid out the counts, so what is wrong with them is no longer the service's own words.
  return { ...usage, flags: [], totalIs: null, unread: row.severalPasses ? [passesField] : [] }
}

/** Null if the first is unknown, since the second is a part of the same whole. */
const sumOf = (first: number | null, second: number | null): number | null =>
  first === null ? null : first + (second ?? 0)
