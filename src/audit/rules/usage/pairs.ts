import type { UsageReport } from '../../evidence/usage/reports.ts'

/** Successive reports of one account over all time, in pairs. */
export function pairs(
  reports: readonly UsageReport[],
): readonly (readonly [UsageReport, UsageReport])[] {
  const byAccount = Map.groupBy(
    reports.filter(({ exchange }) => (exchange.row.path ?? '').indexOf('?') < 0),
    ({ exchange }) => `${exchange.row.runId}/${exchange.row.keyFp}`,
  )
  return [...byAccount.values()].flatMap((list) => {
    const sorted = list.toSorted((a, b) => a.exchange.row.sentUs - b.exchange.row.sentUs)
    return sorted.slice(1).map((later, at) => [sorted[at]!, later] as const)
  })
}

/** Whether one response came after the other. Overlapping responses have no order. */
export const isAfter = (later: UsageReport, earlier: UsageReport): boolean =>
  (earlier.exchange.row.closedUs ?? Infinity) < later.exchange.row.sentUs
