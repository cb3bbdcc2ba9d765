import { rateRules } from '../limits/rules.ts'
import type { Rule } from '../rule.ts'

/** Every rule, in the order of the rulebook. */
export const allRules: readonly Rule[] = [...rateRules]
