import type { Rule } from '../rule.ts'
import { authRules } from './auth/list.ts'
import { billingRules } from './billing/list.ts'
import { chatRules } from './chat/list.ts'
import { errorRules } from './errors/list.ts'
import { messagesRules } from './messages/list.ts'
import { modelRules } from './models/list.ts'
import { priceRules } from './prices/list.ts'
import { rateRules } from './rates/list.ts'
import { soldRules } from './sold/list.ts'
import { streamRules } from './streams/list.ts'
import { tokenRules } from './tokens/list.ts'
import { transportRules } from './transport/list.ts'
import { usageRules } from './usage/list.ts'

/** Every rule, in the order of the rulebook. */
export const allRules: readonly Rule[] = [
  ...transportRules,
  ...authRules,
  ...modelRules,
  ...chatRules,
  ...messagesRules,
  ...streamRules,
  ...errorRules,
  ...tokenRules,
  ...billingRules,
  ...rateRules,
  ...usageRules,
  ...priceRules,
  ...soldRules,
]
