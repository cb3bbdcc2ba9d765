import type { Threshold } from '../../../scenario/threshold.ts'

export function compare(value: number, operator: Threshold['operator'], bound: number): boolean {
  switch (operator) {
    case '<':
      return value < bound
    case '<=':
      return value <= bound
    case '>':
      return value > bound
    case '>=':
      return value >= bound
    case '==':
      return value === bound
  }
}

/** Whether a threshold bounds its figure from above. */
export const isCeiling = (operator: Threshold['operator']) => operator === '<' || operator === '<='
