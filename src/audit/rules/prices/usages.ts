import { priceJudgements } from '../../evidence/prices/judgements.ts'
import {
  issuesInItself,
  issuesOfTwins,
  type UsageIssue,
} from '../../evidence/prices/usage-issues.ts'
import { type Rule, whenPromised } from '../../rule.ts'
import {
  fail,
  inconclusive,
  notesOf,
  notObserved,
  pass,
  untested,
  type Verdict,
  witnessAt,
} from '../../verdict.ts'

export const price01: Rule = {
  id: 'PRICE-01',
  title: 'The counts of a usage agree with each other',
  section: 'contract: prices',
  severity: 'derived',
  explain: `Reads the usage of each answer that was stored whole, in its dialect. No part exceeds its total, writes by life
add up to the writes, and the total is input and output, or those and reasoning, always the same for a model.
It cannot detect a count that is wrong in the same way everywhere.`,
  ...whenPromised(['prices'], async (evidence) => {
    const { requests = [] } = (await priceJudgements(evidence)) ?? {}
    // Of an answer that was not stored whole, only counts were kept, and not what may contradict them.
    const counted = requests.filter(
      ({ usage, receivedBytes }) => usage !== null && receivedBytes !== null,
    )
    const issues = issuesInItself(counted)
    const unread = counted.filter(({ usage }) => usage!.flags.includes('unreadable-count'))
    if (issues.length === 0 && unread.length > 0)
      return inconclusive(
        counted.length,
        `${unread.length} of ${counted.length} usages have a count that nobody can read, such as 1,234`,
        unread.slice(0, 3).map((request) => witnessAt(request, 'a count is a text')),
      )
    return verdictOver(
      issues,
      counted.length,
      'counts that agree',
      'an answer with a usage, stored whole (capture: all)',
    )
  }),
}

export const price02: Rule = {
  id: 'PRICE-02',
  title: 'Equal requests have equal prompt counts, and reads follow writes',
  section: 'contract: prices',
  severity: 'derived',
  needs: ['active'],
  explain: `Compares answers to equal requests, plain and streamed: only the split between cached and other tokens may differ.
Where cache writes have a price of their own, tokens that are read were reported as written before.
It cannot compare requests whose prompts are unique.`,
  ...whenPromised(['prices'], async (evidence) => {
    const found = await priceJudgements(evidence)
    if (found === null) return notObserved('a contract with prices')
    const { issues, twins, haveReads } = issuesOfTwins(found.requests, found.judge.priceOf)
    return verdictOver(
      issues,
      twins,
      'the same counts',
      'two equal requests, one of them streamed',
      untested(['reads of a cache'], haveReads ? ['reads of a cache'] : []),
    )
  }),
}

function verdictOver(
  issues: readonly UsageIssue[],
  observations: number,
  expected: string,
  requires: string,
  lacks?: string,
): Verdict {
  if (observations === 0) return notObserved(requires)
  const [first] = issues
  if (first === undefined) return pass(observations, notesOf(lacks))
  const answers = new Set(issues.map(({ request }) => request)).size
  return fail(observations, {
    expected,
    observed: `${first.summary}${answers > 1 ? `; ${answers} of ${observations} answers` : ''}`,
    witnesses: issues
      .slice(0, 5)
      .map(({ request, summary }) => witnessAt(request, `${request.requestedModel}: ${summary}`)),
  })
}
