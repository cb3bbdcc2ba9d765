import { type Model, modelNamed } from '../../contract/contract.ts'
import { isList, isObject } from '../../user/json.ts'
import { lookup } from '../../user/lookup.ts'
import type { Exchange } from './exchange.ts'

/** Whether the request has a system prompt, in either format. */
export function hasSystemPrompt(exchange: Exchange): boolean {
  const messages = exchange.requestField('messages')
  return (
    exchange.requestField('system') !== undefined ||
    (isList(messages) && messages.some((message) => isObject(message) && message.role === 'system'))
  )
}

type Trait = (exchange: Exchange) => boolean

const kind =
  (endpoint: string, streamed: number): Trait =>
  ({ row }) =>
    row.endpoint === endpoint && row.streamed === streamed

/** Forms of a request: each may be priced wrongly for one model alone. */
const forms: Readonly<Record<string, Trait>> = lookup({
  'chat plain': kind('chat', 0),
  'chat streamed': kind('chat', 1),
  'messages plain': kind('messages', 0),
  'messages streamed': kind('messages', 1),
})
const manyChoices: Trait = (exchange) => Number(exchange.requestField('n') ?? 1) >= 3
const extras: Readonly<Record<string, Trait>> = lookup({
  'n of 3 or more': manyChoices,
  'a system prompt': hasSystemPrompt,
})
/** The messages format has one choice. */
const exists = (extra: string, form: string) =>
  extra === 'a system prompt' || form.startsWith('chat')

/** What the contract prices and no success had, one phrase for each model and each extra. */
export function untestedPairs(
  models: readonly Model[],
  exchanges: readonly Exchange[],
): readonly string[] {
  const successes = exchanges.filter(({ isOk, row }) => isOk && row.model !== null)
  const missing = (names: readonly string[], traits: typeof forms, among: readonly Exchange[]) =>
    names.filter((name) => !among.some(traits[name]!))
  const ofModel = Map.groupBy(successes, ({ row }) => modelNamed(models, row.model!)?.id)
  const all = { ...forms, ...extras }
  const names = Object.keys(forms)
  return [
    ...models.flatMap(({ id }) => {
      const own = ofModel.get(id)
      if (own === undefined) return [id]
      const lacking = missing(Object.keys(all), all, own)
      return lacking.length === 0 ? [] : [`${id} with ${lacking.join(', ')}`]
    }),
    ...Object.entries(extras).flatMap(([extra, has]) => {
      const own = successes.filter(has)
      const possible = names.filter((form) => exists(extra, form))
      const lacking = missing(possible, forms, own)
      return own.length === 0 || lacking.length === 0 ? [] : [`${extra} with ${lacking.join(', ')}`]
    }),
  ]
}
