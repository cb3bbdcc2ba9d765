import { type Contract, type Model, modelNamed } from '../../contract/contract.ts'
import { isList, isObject } from '../../user/json.ts'
import { lookup } from '../../user/lookup.ts'
import type { Exchange } from './exchange.ts'

const isSystemRole = (role: unknown) => role === 'system' || role === 'developer'

/** Whether the request has a system prompt, in either format. */
export function hasSystemPrompt(exchange: Exchange): boolean {
  const messages = exchange.requestField('messages')
  return (
    exchange.requestField('system') !== undefined ||
    (isList(messages) &&
      messages.some((message) => isObject(message) && isSystemRole(message.role)))
  )
}

type Trait = (exchange: Exchange) => boolean

const isForm =
  (endpoint: string, streamed: number): Trait =>
  ({ row }) =>
    row.endpoint === endpoint && row.streamed === streamed

/** Forms of a request: each may be priced wrongly for one model alone. */
const forms: Readonly<Record<string, Trait>> = lookup({
  'chat plain': isForm('chat', 0),
  'chat streamed': isForm('chat', 1),
  'messages plain': isForm('messages', 0),
  'messages streamed': isForm('messages', 1),
})
const manyChoices: Trait = (exchange) => Number(exchange.requestField('n') ?? 1) >= 3
const extras: Readonly<Record<string, Trait>> = lookup({
  'n of 3 or more': manyChoices,
  'a system prompt': hasSystemPrompt,
})
/** The messages format has one choice. */
const ofChatAlone: ReadonlySet<string> = new Set(['n of 3 or more'])

/**
 * The pairs (model, form), (model, extra) and (extra, form) that no success had: one phrase for each model and each extra. An extra
 * that no success had at all is listed with each model alone.
 *
 * @param paths of the contract: a service without messages has no form of them
 */
export function untestedPairs(
  models: readonly Model[],
  exchanges: readonly Exchange[],
  paths?: Contract['paths'],
): readonly string[] {
  const successes = exchanges.filter(({ isOk, row }) => isOk && row.model !== null)
  const missing = (names: readonly string[], traits: typeof forms, among: readonly Exchange[]) =>
    names.filter((name) => !among.some(traits[name]!))
  const ofModel = Map.groupBy(successes, ({ row }) => modelNamed(models, row.model!)?.id)
  const promised = (['chat', 'messages'] as const).filter((name) => paths?.[name] !== undefined)
  const names = Object.keys(forms).filter(
    (form) => promised.length === 0 || promised.some((name) => form.startsWith(name)),
  )
  const all = { ...forms, ...extras }
  const ofEachModel = [...names, ...Object.keys(extras)]
  return [
    ...models.flatMap(({ id }) => {
      const own = ofModel.get(id)
      if (own === undefined) return [id]
      const lacking = missing(ofEachModel, all, own)
      return lacking.length === 0 ? [] : [`${id} with ${lacking.join(', ')}`]
    }),
    ...Object.entries(extras).flatMap(([extra, has]) => {
      const own = successes.filter(has)
      const possible = names.filter((form) => form.startsWith('chat') || !ofChatAlone.has(extra))
      const lacking = missing(possible, forms, own)
      return own.length === 0 || lacking.length === 0 ? [] : [`${extra} with ${lacking.join(', ')}`]
    }),
  ]
}
