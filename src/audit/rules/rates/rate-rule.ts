import type { PromiseName } from '../../../contract/promises.ts'
import { type Evidence, type Rule, whenPromised } from '../../rule.ts'
import type { Verdict } from '../../verdict.ts'
import { historyOf, type RateHistory } from './history.ts'

/** A rule about rate limits (§8.1). All of them share one history. */
export function rateRule<const P extends PromiseName>({
  promised,
  decide,
  ...rule
}: Omit<Rule, 'decide' | 'section' | 'promised'> & {
  readonly section?: string
  readonly promised: readonly P[]
  decide(history: RateHistory, evidence: Evidence<P>): Verdict | Promise<Verdict>
}): Rule {
  return {
    section: '§8.1',
    ...rule,
    prepare: historyOf,
    ...whenPromised(promised, async (evidence) => decide(await historyOf(evidence), evidence)),
  }
}
