import { type CreditsTopic, creditsTopics } from '../../../contract/contract.ts'
import { type Field, fieldsOf } from '../../../credits/fields.ts'
import { isObject, type Json, type JsonObject } from '../../../user/json.ts'
import { usageReports } from '../../evidence/usage/reports.ts'
import { judgedRule, type Observed } from '../exchange-rule.ts'
import { named } from './report-rule.ts'

/** A topic that is still empty is null. An amount may have its unit beside it. */
const isAmount = (value: Json | undefined): boolean =>
  value === null || typeof value === 'number' || (typeof value === 'string' && /\d/.test(value))

const hasField = (
  value: Json | undefined,
  names: RegExp,
  is: (value: Json | undefined) => boolean,
) =>
  isObject(value) &&
  Object.entries(value as JsonObject).some(([name, each]) => names.test(name) && is(each))

/** A number of credits under one of these names, or a sum directly in an object of that name. */
const amount =
  (names: RegExp) =>
  ({ name, value }: Field): boolean =>
    names.test(name) &&
    !/token|request/.test(name) &&
    (isAmount(value) || hasField(value, /credits|total|amount|value/i, isAmount))

/** Lines by day or hour under its name, or the name as the size of the lines. Expiries and hours of service are none. */
const breakdown =
  (names: RegExp, word: RegExp) =>
  ({ name, value }: Field): boolean =>
    typeof value === 'string'
      ? word.test(value)
      : names.test(name) && !/expir|support|cache|retention|valid|until|left/.test(name)

const isMean = /average|avg|mean|per_?request/i
const averageTokens = ({ name, value }: Field): boolean => {
  const isAny = () => true
  if (!/token/.test(name)) return isMean.test(name) && hasField(value, /token/i, isAny)
  return isMean.test(name) || hasField(value, isMean, isAny)
}

const topics: Readonly<Record<CreditsTopic, (field: Field) => boolean>> = {
  consumed: amount(/consum|used|usage|spen[dt]|charged|deducted/),
  remaining: amount(/remain|balance|left|available/),
  by_day: breakdown(/da(?:y|ily)/, /^(?:day|daily|1d)$/i),
  by_hour: breakdown(/hour/, /^(?:hour|hourly|1h)$/i),
  average_tokens: averageTokens,
}

/** `usage by day` */
const topicText = (topic: CreditsTopic) =>
  (topic.startsWith('by') ? `usage ${topic}` : topic).replace('_', ' ')

export const use01 = judgedRule({
  id: 'USE-01',
  title:
    'The credits endpoint shows consumed, remaining, usage by day and hour, and average tokens per request',
  section: '§4.4',
  needs: ['active'],
  promised: ['paths.credits', 'response_fields.credits'],
  explain: `Looks for each of the topics that the contract promises (response_fields.credits; five of svc) at any depth of the body, limits
excepted. A body without any topic is not checked. ${named}`,
  expected: 'consumed, remaining, by day, by hour and average tokens, as far as they are promised',
  requires: 'a captured answer of GET /user/credits whose names it knows (capture: all)',
  async judged(evidence) {
    const promised = evidence.contract.responseFields.credits
    const reports = await usageReports(evidence)
    return reports.map(({ exchange }) => [exchange, lacking(exchange.responseJson, promised)])
  },
})

function lacking(body: Json | undefined, promised: readonly CreditsTopic[]): Observed {
  if (!isObject(body)) return undefined
  const fields = fieldsOf(body, 'and lines').filter(
    ({ name, within }) => !/limit/.test(`${within} ${name}`),
  )
  const isShown = (topic: CreditsTopic) => fields.some(topics[topic])
  if (!creditsTopics.some(isShown)) return undefined
  const missing = promised.filter((topic) => !isShown(topic))
  return missing.length === 0 ? null : `without ${missing.map(topicText).join(', ')}`
}
