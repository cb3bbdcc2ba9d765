import type { Contract } from '../../contract/contract.ts'
import { type Exchange, exchangesOf } from '../evidence/exchange.ts'
import type { Rule } from '../rule.ts'
import type { Verdict, Witness } from '../verdict.ts'

export interface ExchangeRule extends Omit<Rule, 'decide'> {
  readonly expected: string
  readonly takes: string
  /**
   * Judges one exchange by itself.
   *
   * @returns undefined where the rule does not speak of it, null where it was kept, otherwise a few
   *   words on what came instead
   */
  readonly judge: (exchange: Exchange, contract: Contract) => string | null | undefined
}

/** A rule that looks at what was asked and what came back, one exchange at a time. */
export function exchangeRule({ expected, takes, judge, ...rule }: ExchangeRule): Rule {
  return {
    ...rule,
    async decide(evidence) {
      const exchanges = await exchangesOf(evidence)
      return verdictOf(
        exchanges.map((exchange) => [exchange, judge(exchange, evidence.contract)] as const),
        expected,
        takes,
      )
    },
  }
}

/** The verdict over judged exchanges: broken ones are grouped by what came, one witness each. */
export function verdictOf(
  judged: readonly (readonly [Exchange, string | null | undefined])[],
  expected: string,
  takes: string,
): Verdict {
  const seen = judged.filter(([, came]) => came !== undefined)
  if (seen.length === 0) return { verdict: 'not-observed', takes }
  const broken = seen.filter(([, came]) => came !== null)
  const groups = Map.groupBy(broken, ([, came]) => came ?? '')
  const [first, ...rest] = [...groups].map(([came, group]): Witness => {
    const { runId, slot, retry } = group[0]![0].row
    const shows = group.length === 1 ? came : `${came} (first of ${group.length})`
    return { runId, slot, retry, shows }
  })
  if (first === undefined) return { verdict: 'pass', observations: seen.length }
  return {
    verdict: 'fail',
    observations: seen.length,
    expected,
    came:
      broken.length === 1
        ? first.shows
        : `${[...groups.keys()][0]}; ${broken.length} of ${seen.length} break it`,
    witnesses: [first, ...rest.slice(0, 4)],
  }
}
