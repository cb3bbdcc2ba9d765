import { type Contract, modelNamed } from '../../contract/contract.ts'
import type { Promising } from '../../contract/promises.ts'
import { isAmong, refusalsFor } from '../../contract/refusals.ts'
import type { Promised } from '../../contract/request.ts'
import { usualOf } from '../../contract/usual.ts'
import type { Exchange, ExchangeRow } from '../evidence/exchange.ts'
import { validityOf } from '../evidence/request-validity.ts'
import type { Rule } from '../rule.ts'
import { exchangesRule, type Observed } from './exchange-rule.ts'

type ValidationRule = Pick<Rule, 'id' | 'title' | 'section'> & { readonly requires: string }

/** Rules about accepted and refused requests: one with issues of only one rule must get a 400, a valid one must not. */
const forbidden = 'what it forbids'

export function validationRules(
  format: Promised,
  rules: readonly ValidationRule[],
): readonly Rule[] {
  return rules.map((rule) => validationRule(format, rule))
}

function validationRule(format: Promised, rule: ValidationRule): Rule {
  return exchangesRule({
    ...rule,
    needs: ['active'],
    promised: ['models', 'ranges'],
    parts: {
      of: () => ['what it allows'],
      tested: ({ row }) => (row.status === 400 ? forbidden : 'what it allows'),
      needed: forbidden,
    },
    explain: `Reads the body of each ${format} request by the specification's table of parameters.
A request that breaks only this rule must be refused with 400. A valid request with
parameters of this rule must not be refused as invalid. A 400 is about the body only if the run
has a successful ${format} request with no other headers than these: a header that a gateway
requires is not a wrong parameter. Requests that were refused for another
reason (key, credits, rate, model) decide nothing. Nor do parameters that the specification leaves
open: max_tokens above the output limit (G-29), top_p out of range, empty messages, unknown fields,
a large n (G-31), and, without a promised limit of them, max_tokens and more than one stop sequence.`,
    expected: '400 for what the table forbids, and no 400 for what it allows',
    judgeOf(exchanges, { contract }) {
      const served = headersServed(exchanges, format)
      const hasTwin = ({ row }: Exchange) => {
        const own = new Set(namesIn(row.requestHeaders))
        return served.get(row.runId)?.some((names) => names.every((name) => own.has(name))) === true
      }
      return (exchange) =>
        exchange.row.status !== 400 || hasTwin(exchange) ? judge(exchange, contract) : undefined
    },
  })

  function judge(exchange: Exchange, contract: Promising<'models'>): Observed {
    const { row } = exchange
    if (row.endpoint !== format || row.requestBody === null || !isAboutTheRequest(exchange))
      return undefined
    const { issues, open, allowed } = validityOf(contract, format, exchange.requestJson)
    const refused = row.status === 400
    if (issues.length > 0) {
      if (!issues.every((issue) => issue.rule === rule.id)) return undefined
      const whats = issues.map((issue) => issue.what).join(', ')
      return refused ? null : `status ${row.status} for ${whats}`
    }
    const ours = allowed.filter((part) => part.rule === rule.id)
    if (ours.length === 0 || open.length > 0 || !isServed(exchange, contract)) return undefined
    if (refused && !isInvalidRequest(exchange, contract)) return undefined
    return refused ? `refused: ${[...new Set(ours.map((part) => part.what))].join(', ')}` : null
  }
}

/** By run, the names of the headers with which a request of a format succeeded: a list for each combination. */
function headersServed(
  exchanges: readonly Exchange[],
  format: Promised,
): ReadonlyMap<string, readonly (readonly string[])[]> {
  const served = exchanges.filter(({ row }) => row.endpoint === format && isSuccess(row))
  const runs = [...Map.groupBy(served, ({ row }) => row.runId)]
  return new Map(
    runs.map(([run, rows]) => {
      const written = new Set(rows.map(({ row }) => row.requestHeaders))
      return [run, [...written].map(namesIn)]
    }),
  )
}

const isSuccess = ({ status }: ExchangeRow): boolean => status !== null && status < 300

const namesIn = (headers: string | null): readonly string[] =>
  Object.keys(JSON.parse(headers ?? '{}') as object)

/** Whether the response is a judgement of the request itself. */
function isAboutTheRequest({ row }: Exchange): boolean {
  if (row.expects.endsWith('-key')) return false
  return row.status === 400 || isSuccess(row)
}

/** A known model and a prompt that fits, so only the parameters can be refused; two tokens for a character at most. */
function isServed(exchange: Exchange, contract: Promising<'models'>): boolean {
  const model = modelNamed(contract.models, String(exchange.requestField('model')))
  if (model === undefined) return false
  const { maxInputTokens } = usualOf(contract).limits
  const window = model.contextWindowTokens ?? Infinity
  const mostTokens = 2 * (exchange.row.requestBody?.length ?? 0)
  const output = exchange.requestField('max_tokens')
  const mostOutput = typeof output === 'number' ? output : 0
  return mostTokens < maxInputTokens && mostTokens + mostOutput < window
}

/** A 400 with a code that is not of 400 alone (model_not_found, context_length_exceeded), or for want of credits, is not about validity. */
function isInvalidRequest({ row }: Exchange, contract: Contract): boolean {
  const { chatErrors = [] } = contract
  const isOther = (['credits', 'keys', 'overload'] as const).some((meaning) =>
    isAmong(refusalsFor(meaning, contract), row),
  )
  if (isOther) return false
  const codes = chatErrors.flatMap(({ code, status }) => (status === 400 ? [code] : []))
  const known = codes.length === 0 ? ['invalid_request'] : codes
  return row.errorCode === null || known.includes(row.errorCode)
}
