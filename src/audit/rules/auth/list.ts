import type { Rule } from '../../rule.ts'
import { auth06 } from './own-account.ts'
import { auth01, auth02 } from './own-header.ts'
import { auth05 } from './refusal-words.ts'
import { auth03, auth04 } from './refused-keys.ts'

/** Section 1.2 of the rulebook. */
export const authRules: readonly Rule[] = [auth01, auth02, auth03, auth04, auth05, auth06]
