import type { Verdict } from '../../../src/audit/verdict.ts'
import type { Contract } from '../../../src/contract/contract.ts'
import { attempt } from '../../report/attempts.ts'
import { verdictOver } from '../verdict-over.ts'

/**
 * The verdict on sequential answers of other services, whose bodies §4.4 leaves open (G-09). A
 * string is the body of the page.
 */
export function verdictOn(rule: string, ...bodies: readonly (object | string)[]): Promise<Verdict> {
  return verdictOfAnswers(
    rule,
    bodies.map((body) => ({
      path: typeof body === 'string' ? '/my-credits' : '/user/credits',
      body,
    })),
  )
}

/** The same for answers to queries. */
export function verdictOfAnswers(
  rule: string,
  answers: readonly {
    readonly path: string
    readonly body: object | string
    readonly headers?: string
  }[],
  contract?: Contract,
): Promise<Verdict> {
  return verdictOver(
    rule,
    answers.map(({ body }, slot) =>
      attempt(slot, {
        ...{ model: null, template: slot },
        endpoint: typeof body === 'string' ? 'other' : 'credits',
      }),
    ),
    {
      ...(contract === undefined ? {} : { contract }),
      templates: answers.map(({ path }, template) => ({
        ...{ runId: 'a', template, step: 's', method: 'GET', path, headers: '{}', body: null },
        ...{ maxTokens: null, n: null, promptHash: null },
      })),
      bodies: answers.map(({ body, headers = '' }, slot) => ({
        ...{ runId: 'a', slot, retry: 0, headers, truncated: false },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      })),
    },
  )
}
