import { negate } from '../../../money/rational.ts'
import type { Judged } from '../../../price/judge/judge.ts'
import { isWithin } from '../../../price/judge/tolerance.ts'

/** `each is right without its minus …`, where all amounts of a place are the right ones below 0, as a ledger writes debits; else null. */
export function turnedSigns(judged: readonly Judged[]): string | null {
  const wrong = judged.filter(({ is }) => is === 'wrong')
  const isDebit = ({ statement, expected, unit }: Judged) =>
    statement.value.numerator < 0n &&
    expected.costs.some((cost) =>
      isWithin(negate(statement.value), cost, unit, expected.readings[0]?.model ?? null),
    )
  const isAbove = ({ statement }: Judged) => statement.value.numerator > 0n
  return wrong.length > 1 && wrong.every(isDebit) && !judged.some(isAbove)
    ? 'each is right without its minus: debits, as a ledger writes them, or money that is given'
    : null
}
