import { exceedsSql, partTokens, tokenColumns, unknownSql } from '../../measure/usage/quantities.ts'
import { userError } from '../../user/user-error.ts'
import type { Session } from '../session/session.ts'
import { storeColumns } from './staged-lines.ts'
import type { StagedLog } from './staged-log.ts'

/** From this share of the lines on, parts that exceed their whole show a wrong dialect. */
const mostWrong = 0.01

/**
 * Adds parts that are counted apart to their whole, and checks that no part exceeds it.
 *
 * @throws UserError if more than 1 % of the lines have a part that does
 */
export async function checkParts(
  session: Session,
  { mapping }: StagedLog,
): Promise<readonly string[]> {
  const { fields, cached, reasoning } = mapping
  if (cached === 'separate') {
    await storeColumns(session, tokenColumns)
    await session.execute(
      `UPDATE staging.stored AS lines SET prompt_tokens = prompt_tokens + coalesce(cached_tokens, 0) + coalesce(cache_write_tokens, 0)
       WHERE cached_tokens > 0 OR cache_write_tokens > 0`,
    )
  }
  if (reasoning === 'separate') {
    await storeColumns(session, tokenColumns)
    await session.execute(
      `UPDATE staging.stored AS lines SET completion_tokens = completion_tokens + reasoning_tokens WHERE reasoning_tokens > 0`,
    )
  }
  if (!partTokens.some((field) => fields[field])) return []
  const [input, output] = [exceedsSql('input'), exceedsSql('output')]
  const [row] = await session.rows<{ n: number; input: number; output: number }>(
    `SELECT count(*) AS n, count(*) FILTER (WHERE ${input}) AS input, count(*) FILTER (WHERE ${output}) AS output
     FROM staging.lines WHERE reason IS NULL`,
  )
  const { n, input: tooMuchCached, output: tooMuchReasoning } = row!
  const lines = (count: number) =>
    `${count.toLocaleString('en-US')} ${count === 1 ? 'line' : 'lines'}`
  if (tooMuchCached > mostWrong * n) {
    throw userError.import(
      `cached exceeds prompt_tokens on ${lines(tooMuchCached)}: are they counted separately? Add --cached separate.`,
    )
  }
  if (tooMuchReasoning > mostWrong * n) {
    throw userError.import(
      `reasoning exceeds completion_tokens on ${lines(tooMuchReasoning)}: are they counted separately? Write reasoning: separate in the mapping.`,
    )
  }
  if (tooMuchCached + tooMuchReasoning === 0) return []
  await storeColumns(session, tokenColumns)
  await session.execute(`
    UPDATE staging.stored AS lines SET ${unknownSql('input')} WHERE ${input};
    UPDATE staging.stored AS lines SET ${unknownSql('output')} WHERE ${output}`)
  return [
    `${lines(tooMuchCached + tooMuchReasoning)} have more cached or reasoning tokens than tokens: these are not known there`,
  ]
}
