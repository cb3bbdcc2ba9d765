import { decimalText } from '../../money/rational.ts'
import { formulaText } from '../../price/formula-text.ts'
import type { Judged } from '../../price/judge/judge.ts'
import { evidenceOfUsage } from '../evidence/service-side.ts'
import type { Witness } from '../verdict.ts'
import type { LoggedRequest } from './log-lines.ts'

/** A row as a witness that a vendor finds in his own log. */
export function witnessOf(
  { line, id, atMs, endpoint, status, request }: LoggedRequest,
  judged: Judged | null,
  unit: string,
  shows?: string,
): Witness {
  const cost = judged?.expected.costs[0]
  const expected = cost === undefined ? null : `${decimalText(cost)} ${unit}`
  const formula =
    judged?.expected.calculation == null ? null : formulaText(judged.expected.calculation, unit)
  const logged = judged === null ? null : `${judged.statement.text} ${unit}`
  const said =
    shows ??
    `logged ${logged}, expected ${expected ?? 'no known cost'}${formula === null ? '' : ` = ${formula}`}`
  return {
    runId: 'log',
    slot: line,
    retry: 0,
    shows: `${request.requestedModel}: ${said}`,
    service: {
      at: atMs === null ? null : new Date(atMs).toISOString(),
      ids: id === null ? [] : [id],
      line,
      endpoint,
      model: request.requestedModel,
      status,
      asked: null,
      usage: evidenceOfUsage(request.usage),
      answered: null,
      logged,
      expected,
      formula,
    },
  }
}
