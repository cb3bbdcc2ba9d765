import type { Rule } from '../../rule.ts'
import { price06 } from './balance.ts'
import { price07 } from './limit.ts'
import { price04, price05 } from './logged.ts'
import { price03 } from './stated.ts'
import { price08 } from './sums.ts'
import { price01, price02 } from './usages.ts'

/** Prices of any kind, from what the service shows of money. */
export const priceRules: readonly Rule[] = [
  price01,
  price02,
  price03,
  price04,
  price05,
  price06,
  price07,
  price08,
]
