import { decimalText } from '../../money/rational.ts'
import { formulaText } from '../../price/formula-text.ts'
import type { Judged } from '../../price/judge/judge.ts'
import { differenceOf } from '../evidence/prices/stake.ts'
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
  const expected = cost === undefined ? null : decimalText(cost)
  const formula =
    judged?.expected.calculation == null ? null : formulaText(judged.expected.calculation, unit)
  const logged = judged?.statement.text ?? null
  const said =
    shows ??
    `logged ${logged} ${unit}, expected ${expected === null ? 'no known cost' : `${expected} ${unit}`}${formula === null ? '' : ` = ${formula}`}`
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
      ...(judged === null ? {} : { unit, ...differenceOf(judged) }),
      answered: null,
      logged,
      expected,
      formula,
    },
  }
}
