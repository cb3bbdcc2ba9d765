import type { Rule } from '../../rule.ts'
import { bill11 } from './concurrent-history.ts'
import { bill10 } from './conservation.ts'
import { bill05 } from './failures.ts'
import { bill09 } from './header.ts'
import { bill01, bill02 } from './prices.ts'

/** Rules of the rulebook's section 1.9. */
export const billingRules: readonly Rule[] = [bill01, bill02, bill05, bill09, bill10, bill11]
