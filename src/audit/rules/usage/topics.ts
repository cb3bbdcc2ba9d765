import type { Json } from '../../evidence/json.ts'
import { reportRule } from './report-rule.ts'

const number = String.raw`(?:"?-?\d+(?:\.\d+)?"?\s*[,}\]]|null)`
/** A number of credits under one of these names, or a sum directly in an object of that name. */
const amount = (names: string) =>
  new RegExp(
    String.raw`"(?![^"]*(?:token|request))[^"]*(?:${names})[^"]*"\s*:\s*(?:${number}|\{[^{}[\]]*"[^"]*(?:credits|total|amount|value)[^"]*"\s*:\s*${number})`,
    'i',
  )
/** Patterns for each topic in the text of a response. A name alone is a topic that is still empty. */
const topics: readonly (readonly [string, RegExp])[] = [
  ['consumed', amount('consum|used|usage|spen[dt]|charged|deducted')],
  ['remaining', amount('remain|balance|left|available')],
  ['usage by day', /"[^"]*da(?:y|ily)[^"]*"/i],
  ['usage by hour', /"[^"]*hour[^"]*"/i],
  [
    'average tokens',
    /"[^"]*(?:(?:average|avg|mean)[^"]*token|token[^"]*(?:average|avg|mean|per_?request))[^"]*"\s*:|"[^"]*(?:average|avg|mean)[^"]*"\s*:\s*\{[^{}]*"[^"]*token|"[^"]*token[^"]*"\s*:\s*\{[^{}]*"[^"]*(?:average|avg|mean|per_?request)/i,
  ],
]

export const use01 = reportRule({
  id: 'USE-01',
  title:
    'The credits endpoint shows consumed, remaining, usage by day and hour, and average tokens per request',
  severity: 'must',
  explain: `Looks for each of the five topics at any depth of the body, limits excepted. A body
without any of them is not checked.`,
  expected: 'consumed, remaining, by day, by hour and average tokens',
  requires: 'a captured answer of GET /user/credits whose names it knows (capture: all)',
  judge({ exchange }) {
    const text = JSON.stringify(exchange.responseJson, withoutLimits)
    const missing = topics.filter(([, pattern]) => !pattern.test(text)).map(([topic]) => topic)
    if (missing.length === topics.length) return undefined
    return missing.length === 0 ? null : `without ${missing.join(', ')}`
  },
})

const withoutLimits = (name: string, value: Json): Json | undefined =>
  /limit/i.test(name) ? undefined : value
