import type { Operations } from '../../../../src/audit/evidence/billing/operations.ts'

export interface Operation {
  readonly callUs: number
  readonly untilUs: number
  readonly costCredits: number
  readonly after: number | null
  readonly certain: boolean
}

/** Columns of operations given one by one. */
export function operationsOf(list: readonly Operation[]): Operations {
  return {
    size: list.length,
    callUs: Float64Array.from(list, (operation) => operation.callUs),
    untilUs: Float64Array.from(list, (operation) => operation.untilUs),
    costCredits: Float64Array.from(list, (operation) => operation.costCredits),
    after: Float64Array.from(list, (operation) => operation.after ?? Number.NaN),
    certain: Uint8Array.from(list, (operation) => (operation.certain ? 1 : 0)),
  }
}
