import { isSharedTemplate } from '../../../attempt/evidence.ts'
import { isTokenizerFile, type Model, modelNamed } from '../../../contract/contract.ts'
import { besidePrompt } from '../../../contract/request-fields.ts'
import { isList, isObject, type Json } from '../../../user/json.ts'
import type { Evidence } from '../../rule.ts'
import { type Exchange, exchangesOf } from '../exchange.ts'
import { oncePerEvidence } from '../once.ts'

/** An answered request whose prompt is one text of one user message, and nothing else that has tokens. */
export interface SoleText {
  readonly exchange: Exchange
  readonly model: Model
  readonly text: string
  /** Tokens of the prompt that the service reports, cached ones included. */
  readonly reported: number
}

/** Successes with a usage whose tokens can be counted here: without images, tools, formats and system messages. */
export const soleTexts = oncePerEvidence(
  async (evidence: Evidence): Promise<readonly SoleText[]> => {
    const { models = [] } = evidence.contract
    return (await exchangesOf(evidence)).flatMap((exchange) => {
      const { row } = exchange
      const model = modelNamed(models, row.model ?? '')
      if (model === undefined || !exchange.isOk || row.promptTokens === null) return []
      if (!hasOwnCount(row, model)) return []
      const text = soleTextOf(exchange.requestJson)
      return text === null ? [] : [{ exchange, model, text, reported: row.promptTokens }]
    })
  },
)

/**
 * Whether the tokens of a template's body are those of its request. Prompts that share a template have equal tokens by the
 * encodings known here, and by no other.
 */
export const hasOwnCount = (row: Parameters<typeof isSharedTemplate>[0], model: Model): boolean =>
  !(isSharedTemplate(row) && isTokenizerFile(model.tokenizer ?? ''))

export const isOneWord = ({ text }: SoleText): boolean => /^\p{L}+$/u.test(text)

const hasOwnText = (name: string) =>
  name !== 'model' && name !== 'messages' && !besidePrompt.has(name)

/** The text of a request's only message; null if its prompt has anything else. */
export function soleTextOf(body: Json | undefined): string | null {
  if (!isObject(body) || Object.keys(body).some(hasOwnText)) return null
  const { messages } = body
  if (!isList(messages) || messages.length !== 1) return null
  const [message] = messages
  if (!isObject(message) || message.role !== 'user' || Object.keys(message).length > 2) return null
  const { content } = message
  if (typeof content === 'string') return content
  if (!isList(content) || content.length !== 1) return null
  const [part] = content
  return isObject(part) && part.type === 'text' && typeof part.text === 'string' ? part.text : null
}
