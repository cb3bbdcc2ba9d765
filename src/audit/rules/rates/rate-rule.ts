import type { Evidence, Rule } from '../../rule.ts'
import type { Verdict } from '../../verdict.ts'
import { type History, historyOf } from './history.ts'

/** A rule about rate limits (§8.1). All of them share one history. */
export function rateRule(
  rule: Omit<Rule, 'decide' | 'section'> & {
    readonly section?: string
    decide(history: History, evidence: Evidence): Verdict | Promise<Verdict>
  },
): Rule {
  return {
    section: '§8.1',
    ...rule,
    prepare: historyOf,
    async decide(evidence) {
      return rule.decide(await historyOf(evidence), evidence)
    },
  }
}
