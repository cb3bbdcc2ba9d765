import type { Rule } from '../../rule.ts'
import { bill16, bill17, bill20 } from './accounts.ts'
import { bill04 } from './bands.ts'
import { bill11 } from './concurrent-history.ts'
import { bill10 } from './conservation.ts'
import { bill13, bill14, bill15 } from './exhaustion.ts'
import { bill03 } from './factors.ts'
import { bill05, bill06 } from './failures.ts'
import { bill18, bill19 } from './grants.ts'
import { bill09 } from './header.ts'
import { bill01, bill02 } from './prices.ts'
import { bill07, bill08, bill12 } from './settlement.ts'

/** Section 1.9 of the rulebook. */
export const billingRules: readonly Rule[] = [
  ...[bill01, bill02, bill03, bill04, bill05, bill06, bill07, bill08, bill09, bill10],
  ...[bill11, bill12, bill13, bill14, bill15, bill16, bill17, bill18, bill19, bill20],
]
