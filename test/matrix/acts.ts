import { accountActs } from './account-acts.ts'
import type { Act } from './act.ts'
import { answerActs } from './answer-acts.ts'
import { rateActs } from './rate-acts.ts'
import { scenarioActs } from './scenario-acts.ts'

/** Each a stage of its own: the audit scenarios, and what only an operator can set up. */
export const acts = {
  ...scenarioActs,
  ...accountActs,
  ...answerActs,
  ...rateActs,
} as const satisfies Readonly<Record<string, Act>>

export type ActName = keyof typeof acts

/** Acts that put the rules of a family to work, and its faults to the test. */
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
    'usage',
    'breaking',
  ],
  RATE: ['limits', 'bands'],
  'RATE-16': ['hours'],
  'RATE-17': ['hours'],
  USE: ['usage', 'streams'],
  PAGE: ['usage'],
}

export function actsOf(rule: string): readonly ActName[] {
  return actsOfFamily[rule] ?? actsOfFamily[rule.slice(0, rule.indexOf('-'))]!
}
