import {
  abandonments,
  type BalanceHistory,
  effects,
  timeouts,
} from '../../../../src/audit/evidence/billing/history.ts'
import type { Credits } from '../../../../src/contract/contract.ts'

/** One row of a history, made by hand. */
export interface HistoryRow {
  readonly slot: number
  readonly callUs: number
  readonly readUs?: number
  readonly endUs: number
  readonly effect: keyof typeof effects
  readonly costCredits: Credits
  readonly value?: number
  readonly streamed?: boolean
  readonly model?: number
  readonly key?: number
  readonly status?: number
  readonly insufficient?: boolean
  readonly step?: number
  readonly contentEvents?: number
  readonly abandonment?: keyof typeof abandonments
  /** The deadline that it passed, if it is one that timed out. */
  readonly timeout?: keyof typeof timeouts
  /** Whether an ambiguous one was answered in full: it is then charged by its end. */
  readonly isComplete?: boolean
}

/** @param lifetimeUs Infinity unless a deadline of the service bounds it */
export function historyOf(
  rows: readonly HistoryRow[],
  { runId = 'run', account = 'main', lifetimeUs = Infinity } = {},
): BalanceHistory {
  const sorted = [...rows].sort((a, b) => a.callUs - b.callUs)
  const column = (of: (row: HistoryRow) => number) => Float64Array.from(sorted, of)
  return {
    runId,
    account,
    size: sorted.length,
    slot: column((row) => row.slot),
    retry: column(() => 0),
    callUs: column((row) => row.callUs),
    readUs: column((row) => row.readUs ?? (row.value === undefined ? Number.NaN : row.endUs)),
    endUs: column((row) => row.endUs),
    effect: column((row) => effects[row.effect]),
    costCredits: column((row) => row.costCredits),
    value: column((row) => row.value ?? Number.NaN),
    streamed: column((row) => (row.streamed ? 1 : 0)),
    model: column((row) => row.model ?? 0),
    key: column((row) => row.key ?? 1),
    status: column((row) => row.status ?? (row.effect === 'failure' ? 500 : 200)),
    insufficient: column((row) => (row.insufficient ? 1 : 0)),
    step: column((row) => row.step ?? 0),
    contentEvents: column((row) => row.contentEvents ?? 0),
    abandonment: column((row) => abandonments[row.abandonment ?? 'no']),
    timeout: column(
      (row) => timeouts[row.abandonment === 'timeout' ? (row.timeout ?? 'total') : 'none'],
    ),
    settlesByUs: column(({ callUs, endUs, isComplete }) =>
      isComplete === true ? endUs : callUs + lifetimeUs,
    ),
    lifetimeUs,
  }
}
