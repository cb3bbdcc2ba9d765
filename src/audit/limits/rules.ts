import type { Rule } from '../rule.ts'

/** Rules of the rulebook's section 1.10, in its order. */
export const rateRules: readonly Rule[] = []
