import type { Rule } from '../../rule.ts'
import { rate16, rate17 } from './long-windows.ts'
import { rate01 } from './rate-01.ts'
import { rate02 } from './rate-02.ts'
import { rate03 } from './rate-03.ts'
import { rate04 } from './rate-04.ts'
import { rate05 } from './rate-05.ts'
import { rate06 } from './rate-06.ts'
import { rate07 } from './rate-07.ts'
import { rate08 } from './rate-08.ts'
import { rate09 } from './rate-09.ts'
import { rate10 } from './rate-10.ts'
import { rate11 } from './rate-11.ts'
import { rate12 } from './rate-12.ts'
import { rate13 } from './rate-13.ts'
import { rate14 } from './rate-14.ts'
import { rate15 } from './rate-15.ts'
import { rate18 } from './rate-18.ts'
import { rate19 } from './rate-19.ts'
import { rate20 } from './rate-20.ts'

/** Section 1.10 of the rulebook, in its order, and the limit of tokens, which a contract may have. */
export const rateRules: readonly Rule[] = [
  ...[rate01, rate02, rate03, rate04, rate05, rate06, rate07, rate08, rate09, rate10],
  ...[rate11, rate12, rate13, rate14, rate15, rate16, rate17, rate18, rate19, rate20],
]
