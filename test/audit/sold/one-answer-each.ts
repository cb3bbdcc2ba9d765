import type { AttemptRow } from '../../../src/attempt/columns.ts'
import type { TemplateRow } from '../../../src/attempt/evidence.ts'
import type { Verdict } from '../../../src/audit/verdict.ts'
import type { Contract } from '../../../src/contract/contract.ts'
import { attempt } from '../../report/attempts.ts'
import { verdictOver } from '../verdict-over.ts'

/** The verdict on one plain answer to each text, whose usage is given. */
export function verdictOnTexts(
  rule: string,
  contract: Contract,
  texts: readonly string[],
  usage: (text: string, at: number) => Partial<AttemptRow>,
  body: object = {},
): Promise<Verdict> {
  const { rows, templates } = answersTo(texts, usage, body)
  return verdictOver(rule, rows, { templates, contract })
}

/** One plain answer to each text, and the request of each. */
export function answersTo(
  texts: readonly string[],
  usage: (text: string, at: number) => Partial<AttemptRow>,
  body: object = {},
): { readonly rows: readonly AttemptRow[]; readonly templates: readonly TemplateRow[] } {
  const rows = texts.map((text, at) => attempt(at, { template: at, ...usage(text, at) }))
  const templates = texts.map((content, template) => ({
    ...{ runId: 'a', template, step: 'chat', method: 'POST', path: '/v1/chat/completions' },
    ...{ headers: '{}', maxTokens: 1, n: null, promptHash: null },
    body: JSON.stringify({ model: 'svc-k2', messages: [{ role: 'user', content }], ...body }),
  }))
  return { rows, templates }
}
