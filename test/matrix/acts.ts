import { accountActs } from './account-acts.ts'
import type { Act } from './act.ts'
import { answerActs } from './answer-acts.ts'
import { rateActs } from './rate-acts.ts'
import { scenarioActs } from './scenario-acts.ts'
import { soldActs } from './sold-acts.ts'

/** Each on its own stage: the audit scenarios, and the acts that need an operator. */
export const acts = {
  ...scenarioActs,
  ...accountActs,
  ...answerActs,
  ...rateActs,
  ...soldActs,
} as const satisfies Readonly<Record<string, Act>>

export type ActName = keyof typeof acts

/** Those of thousands of requests, or with a reference, show a rule or two each, whatever the variant. */
const apart: readonly ActName[] = ['watched', 'loaded', 'referenced', 'compared']
export const usualActs = (Object.keys(acts) as ActName[]).filter((name) => !apart.includes(name))

/** Acts that exercise the rules of a family and their faults. */
const actsOfFamily: Readonly<Record<string, readonly ActName[]>> = {
  TRN: ['errors', 'outages', 'usage'],
  AUTH: ['errors', 'accounts'],
  MODEL: ['errors'],
  CHAT: ['errors', 'windows'],
  'CHAT-04': ['errors', 'streams'],
  'CHAT-06': ['errors', 'windows', 'streams'],
  MSG: ['errors'],
  SSE: ['streams', 'slow', 'outages'],
  ERR: ['errors', 'exhaustion', 'retries'],
  LIM: ['windows', 'slow', 'errors'],
  BILL: [
    'billing',
    'streams',
    'exhaustion',
    'accounts',
    'bands',
    'retries',
    'outages',
    'slow',
    'gifts',
    'bought',
    'usage',
    'breaking',
  ],
  RATE: ['limits', 'bands'],
  'RATE-16': ['hours'],
  'RATE-17': ['hours'],
  USE: ['usage', 'streams'],
  PAGE: ['usage'],
  SOLD: ['texts', 'repeats', 'short'],
  'SOLD-03': ['codes'],
  'SOLD-04': ['cached'],
  'SOLD-05': ['watched'],
  'SOLD-06': ['referenced'],
  'SOLD-07': ['tools'],
  'SOLD-08': ['tiers'],
  'SOLD-09': ['long'],
  'SOLD-10': ['long', 'thought', 'reasoned'],
  'SOLD-11': ['loaded'],
}

export function actsOf(rule: string): readonly ActName[] {
  return actsOfFamily[rule] ?? actsOfFamily[rule.slice(0, rule.indexOf('-'))]!
}
