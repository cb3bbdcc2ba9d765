import type { Rule } from '../rule.ts'
import { rate01 } from './rate-01.ts'
import { rate02 } from './rate-02.ts'
import { rate07 } from './rate-07.ts'
import { rate08 } from './rate-08.ts'

/** Rules of the rulebook's section 1.10, in its order. */
export const rateRules: readonly Rule[] = [rate01, rate02, rate07, rate08]
