import { rateRules } from '../limits/rules.ts'
import type { Rule } from '../rule.ts'
import { billingRules } from './billing/list.ts'
import { chat08 } from './chat/usage.ts'
import { errorRules } from './errors/list.ts'

/** Every rule, in the order of the rulebook. */
export const allRules: readonly Rule[] = [chat08, ...errorRules, ...billingRules, ...rateRules]
