import type { AttemptRow } from '../../src/attempt/columns.ts'
import { flags } from '../../src/attempt/flags.ts'
import type { Contract } from '../../src/contract/contract.ts'
import { attempt } from '../report/attempts.ts'
import { verdictOver } from './verdict-over.ts'

export interface Answered {
  readonly asked: object
  readonly headers?: object
  readonly body: string
  readonly row?: Partial<AttemptRow>
}

/** The verdict of a rule on captured requests and responses. */
export function verdictOf(rule: string, answers: readonly Answered[], contract?: Contract) {
  const isStream = (body: string) => body.startsWith('data:')
  return verdictOver(
    rule,
    answers.map(({ body, row }, slot) =>
      attempt(slot, {
        template: slot,
        flags: isStream(body) ? flags.sseType : 0,
        streamed: isStream(body) ? 1 : 0,
        ...row,
      }),
    ),
    {
      templates: answers.map(({ asked, headers = {} }, template) => ({
        ...{ runId: 'a', template, step: 'chat', method: 'POST', path: '/v1/chat/completions' },
        ...{ headers: JSON.stringify(headers), body: JSON.stringify(asked) },
        ...{ maxTokens: null, n: null, promptHash: null },
      })),
      bodies: answers.map(({ body }, slot) => ({
        ...{ runId: 'a', slot, retry: 0, headers: '', body, truncated: false },
      })),
      ...(contract !== undefined && { contract }),
    },
  )
}
