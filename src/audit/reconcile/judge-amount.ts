import {
  absolute,
  compare,
  isZero,
  multiply,
  type Rational,
  rational,
  subtract,
} from '../../money/rational.ts'
import { eachKind, type KindCounts, tokenNames } from '../../tokens/kinds.ts'
import type { Line, LogLine, Pricing } from './lines.ts'
import type { OpenCell } from './open-cell.ts'

/** Gives the difference of one amount, or one sum, to its causes. */
export function judgeAmount(
  cell: OpenCell,
  amount: Rational,
  expected: Rational,
  billed: KindCounts | null,
  counted: KindCounts | null,
  like: LogLine | Line,
  requests: number,
  pricing: Pricing,
): void {
  const named = 'id' in like && like.id !== null ? `${like.id}: ` : ''
  let right = expected
  let counts = counted
  if (billed !== null && counted !== null && differ(billed, counted)) {
    counts = filled(billed, counted)
    const cost = pricing.costOf(counts, like, requests)
    if (cost !== null) {
      const isCounted = cell.requests !== null && requests > 1 && cell.requests !== requests
      cell.give(
        isCounted ? 'missing' : 'tokens',
        subtract(cost, expected),
        `${named}${countsText(billed, counted)}`,
      )
      right = cost
    }
  }
  const apart = subtract(amount, right)
  if (isZero(apart)) {
    if (counts !== null) pricing.keepRight(counts, like)
    return
  }
  const half = multiply(pricing.unit, rational(BigInt(Math.max(1, requests)), 2n))
  if (compare(absolute(apart), half) <= 0) {
    cell.give('rounding', apart)
    return
  }
  const explained = counts === null ? null : pricing.explain(amount, counts, like, requests)
  if (explained === null) cell.give('unexplained', apart, `${named}no single change gives it`)
  else cell.give(explained.cause, apart, explained.summary)
}

/** Whether a kind that both state differs. */
const differ = (a: KindCounts, b: KindCounts) =>
  tokenNames.some((kind) => a[kind] !== null && b[kind] !== null && a[kind] !== b[kind])

/** The counts of the bill, and those of the log where the bill states none. */
const filled = (billed: KindCounts, counted: KindCounts) =>
  eachKind((kind) => billed[kind] ?? counted[kind])

const countsText = (a: KindCounts, b: KindCounts) =>
  tokenNames
    .filter((kind) => a[kind] !== null && b[kind] !== null && a[kind] !== b[kind])
    .map((kind) => `${kind} ${a[kind]} in the bill, ${b[kind]} in the log`)
    .join(', ')
