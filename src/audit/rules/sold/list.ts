import type { Rule } from '../../rule.ts'
import { sold03 } from './context-window.ts'
import { sold02 } from './hidden-prompt.ts'
import { sold01 } from './input-tokens.ts'
import { sold09 } from './output-tokens.ts'
import { sold10 } from './reasoning-tokens.ts'

/** What is sold: whether the provider delivers and counts it. */
export const soldRules: readonly Rule[] = [sold01, sold02, sold03, sold09, sold10]
