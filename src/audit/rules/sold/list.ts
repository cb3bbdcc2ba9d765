import type { Rule } from '../../rule.ts'
import { sold04 } from './cached-tokens.ts'
import { sold03 } from './context-window.ts'
import { sold02 } from './hidden-prompt.ts'
import { sold01 } from './input-tokens.ts'
import { sold11 } from './model-under-load.ts'
import { sold06 } from './named-model.ts'
import { sold09 } from './output-tokens.ts'
import { sold10 } from './reasoning-tokens.ts'
import { sold08 } from './served-tier.ts'
import { sold07 } from './tool-arguments.ts'
import { sold05 } from './unchanged-model.ts'

/** What is sold: whether the provider delivers and counts it. */
export const soldRules: readonly Rule[] = [
  ...[sold01, sold02, sold03, sold04, sold05, sold06, sold07, sold08, sold09, sold10, sold11],
]
