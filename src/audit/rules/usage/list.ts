import type { Rule } from '../../rule.ts'
import { use04, use07 } from './across-answers.ts'
import { use02 } from './granted.ts'
import { page01 } from './page.ts'
import { use06 } from './ranges.ts'
import { use01 } from './topics.ts'
import { use03, use05 } from './within-an-answer.ts'

/** Section 1.11 of the rulebook. */
export const usageRules: readonly Rule[] = [use01, use02, use03, use04, use05, use06, use07, page01]
