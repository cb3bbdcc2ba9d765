import { type Contract, modelNamed } from '../../../contract/contract.ts'
import type { Promising } from '../../../contract/promises.ts'
import { isAmong, refusalsFor } from '../../../contract/refusals.ts'
import { usualOf } from '../../../contract/usual.ts'
import { isList, isObject, type JsonObject } from '../../../user/json.ts'
import type { Exchange } from '../../evidence/exchange.ts'
import { validityOf } from '../../evidence/request-validity.ts'
import type { Rule } from '../../rule.ts'
import { exchangeRule, exchangesRule } from '../exchange-rule.ts'

const requires = 'a captured answer of the model list'

/** The body of a successful model list; undefined for anything else, and for a list of the messages format. */
function listing(exchange: Exchange) {
  if (exchange.row.endpoint !== 'models' || !exchange.isOk) return undefined
  const body = exchange.responseJson
  const isOfMessages = isObject(body) && body.object === undefined && body.has_more !== undefined
  return isOfMessages ? undefined : body
}

function modelsOf(exchange: Exchange): readonly JsonObject[] | undefined {
  const body = listing(exchange)
  return isObject(body) && isList(body.data) ? body.data.filter(isObject) : undefined
}

export const model01 = exchangeRule({
  id: 'MODEL-01',
  title: 'The model list is an object "list" with data',
  section: '§2.3, §4.1',
  needs: ['active'],
  explain: `Reads the captured body of GET /v1/models: object must be "list" and data an array. What its
elements contain is checked by MODEL-02.`,
  expected: '{"object": "list", "data": [...]}',
  requires,
  judge(exchange) {
    const body = listing(exchange)
    if (body === undefined) return undefined
    if (!isObject(body)) return isList(body) ? 'a bare array' : 'no object'
    if (body.object !== 'list') return `object ${JSON.stringify(body.object)}`
    return isList(body.data) ? null : 'no data array'
  },
})

export const model02 = exchangeRule({
  id: 'MODEL-02',
  title: 'Every model of the list has its fields',
  section: '§2.2',
  explain: `id and owned_by are strings, object is "model", created a Unix time in seconds (a time in
milliseconds would be millennia in the future). If the contract promises them (response_fields.model),
permission is an array, root the id, parent null. A list of the messages format is another list.`,
  expected: 'id, object, created, owned_by and the promised fields as specified',
  requires,
  judge(exchange, { responseFields }) {
    const models = modelsOf(exchange)
    if (models === undefined || models.length === 0) return undefined
    for (const model of models) {
      const wrong = wrongField(model, responseFields?.model ?? [])
      if (wrong !== null) return `${JSON.stringify(model.id)}: ${wrong}`
    }
    return null
  },
})

function wrongField(model: JsonObject, promised: readonly string[]): string | null {
  if (typeof model.id !== 'string') return 'id is not a string'
  if (model.object !== 'model') return `object ${JSON.stringify(model.object)}`
  if (!isUnixSeconds(model.created)) return `created ${JSON.stringify(model.created)}`
  if (typeof model.owned_by !== 'string') return 'owned_by is not a string'
  const isPromised = (field: string) => promised.includes(field)
  if (isPromised('permission') && !isList(model.permission)) return 'permission is not an array'
  if (isPromised('root') && model.root !== model.id) return `root ${JSON.stringify(model.root)}`
  return !isPromised('parent') || model.parent === null
    ? null
    : `parent ${JSON.stringify(model.parent)}`
}

/** Between 2001 and 5138, so the unit is seconds, not milliseconds. */
export const isUnixSeconds = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value > 1e9 && value < 1e11

export const model03 = exchangeRule({
  id: 'MODEL-03',
  title: 'The list shows the promised models, each once',
  section: '§4.1',
  needs: ['active'],
  promised: ['models'],
  explain: `Reads the captured body of GET /v1/models: each model that the contract has listed must be in it
once. A page of a list that goes on shows no model to be missing. Other models may be listed too; whether svc-k2.5 is listed is open (gap G-02).`,
  expected: 'each listed model of the contract, once',
  requires,
  judge(exchange, contract) {
    const models = modelsOf(exchange)
    if (models === undefined) return undefined
    const ids = models.map((model) => model.id)
    const missing = contract.models.filter(({ id, listed }) => listed && !ids.includes(id))
    const body = exchange.responseJson
    if (missing.length > 0 && isObject(body) && body.has_more === true) return undefined
    if (missing.length > 0) return `missing: ${missing.map((model) => model.id).join(', ')}`
    const twice = ids.filter((id, at) => ids.indexOf(id) !== at)
    return twice.length > 0 ? `listed twice: ${JSON.stringify(twice[0])}` : null
  },
})

export const model04 = exchangesRule({
  id: 'MODEL-04',
  title: 'Every model of the contract can be used on both formats',
  section: '§2.1',
  needs: ['active'],
  promised: ['models'],
  explain: `A valid request for a model of the contract must not be refused for its model. A model that
succeeded on a format can be used there (its refusal has the code model_not_found, or the contract's own), so another 404 is about that request (gap G-27). A 404
without the code model_not_found, on a format that served no model, is about a missing path,
which TRN-05 checks. A model and format that no request used is not among the observations.`,
  expected: 'no request refused because of a model of the contract',
  requires: 'a request for a model of the contract',
  parts: {
    of: ({ models }) => models.flatMap(({ id }) => [`${id} on chat`, `${id} on messages`]),
    tested: ({ row }, { models }) =>
      `${modelNamed(models, row.model ?? '')?.id} on ${row.endpoint}`,
  },
  judgeOf(exchanges, { contract }) {
    const asked = new Set(exchanges.filter((exchange) => mustBeServed(exchange, contract)))
    const place = ({ row }: Exchange) => `${row.runId} ${row.endpoint} ${row.model}`
    const format = ({ row }: Exchange) => `${row.runId} ${row.endpoint}`
    const served = new Set(
      [...asked].filter((exchange) => exchange.isOk).flatMap((each) => [place(each), format(each)]),
    )
    return (exchange) => {
      if (!asked.has(exchange)) return undefined
      if (served.has(place(exchange))) return exchange.isOk ? null : undefined
      const { row } = exchange
      const refused =
        namesNoModel(contract, row.errorCode) ||
        (row.status === 404 && served.has(format(exchange)))
      return refused ? `${row.model} not found on ${row.endpoint}` : undefined
    }
  },
})

/** A valid request for a known model that is far from all limits. */
function mustBeServed(exchange: Exchange, contract: Promising<'models'>): boolean {
  const { endpoint, expects, model } = exchange.row
  if ((endpoint !== 'chat' && endpoint !== 'messages') || expects !== 'ok') return false
  if (model === null || !isKnown(contract, model)) return false
  const { issues, open } = validityOf(contract, endpoint, exchange.requestJson)
  return issues.length === 0 && open.length === 0 && isFarFromWindows(exchange, contract)
}

export const model05 = exchangeRule({
  id: 'MODEL-05',
  title: 'An unknown model is refused as model_not_found, and never served by another',
  section: '§7.2',
  needs: ['active'],
  promised: ['models', 'chat_errors or messages_errors'],
  explain: `A request for a model that the contract does not know must fail; on chat the code must be
model_not_found, or the contract's own, if the contract has one. Its status is open (gap G-27), and the messages format has no code for it.`,
  expected: 'a refusal, on chat with model_not_found where the contract has that code',
  requires: 'a request for an unknown model (wrong: unknown-model)',
  judge(exchange, contract) {
    const { row } = exchange
    const { chatErrors = [] } = contract
    if (row.expects !== 'unknown-model' || row.status === null) return undefined
    if (row.status < 300) return `served with status ${row.status}`
    if ([401, 402, 403, 429].includes(row.status) || row.status >= 500) return undefined
    if (isAmong(refusalsFor('credits', contract), row)) return undefined
    const isPromised = chatErrors.some(({ code }) => namesNoModel({ chatErrors }, code))
    return row.endpoint !== 'chat' || !isPromised || namesNoModel({ chatErrors }, row.errorCode)
      ? null
      : `code ${JSON.stringify(row.errorCode)}`
  },
})

const noModel = /(?:no|unknown|invalid|missing).*model|model.*(?:not|unknown|invalid|missing)/i

/** Whether an error says that there is no such model: as the specification, or in the words of the contract. */
function namesNoModel(
  { chatErrors = [] }: Pick<Contract, 'chatErrors'>,
  name: string | null,
): boolean {
  return (
    name === 'model_not_found' ||
    (name !== null && noModel.test(name) && chatErrors.some(({ code }) => code === name))
  )
}

/** Whether prompt and response are far from the token limits. */
function isFarFromWindows(exchange: Exchange, contract: Contract): boolean {
  const { limits, defaults } = usualOf(contract)
  const asked = exchange.requestField('max_tokens')
  const output = typeof asked === 'number' ? asked : defaults.maxTokens
  return (exchange.row.requestBody?.length ?? 0) + output < limits.maxTotalTokens / 2
}

const isKnown = ({ models }: Promising<'models'>, name: string): boolean =>
  modelNamed(models, name) !== undefined

/** Section 1.3 of the rulebook. */
export const modelRules: readonly Rule[] = [model01, model02, model03, model04, model05]
