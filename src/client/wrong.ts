import { spoiledKeyPlaceholders } from '../attempt/shown-key.ts'
import type { Contract } from '../contract/contract.ts'
import type { WrongRequest } from '../contract/request.ts'

/** What requests that are wrong on purpose have instead of what would be right. */

/** A key that must be refused: one that nobody has, or the real one with a change that matters. */
export type BadKey = 'invalid' | 'altered' | 'recased'

/** A key that no service has issued: well-formed enough to be looked up, and ours by its name. */
const invalidKey = 'assay-invalid-key-0000000000000000'
const unknownModel = 'assay-no-such-model'
export const unknownPath = '/v1/assay-no-such-path'

/** Whether a service that keeps its word may still answer it, and charge for that. */
export function mayBeCharged(wrong: WrongRequest | null): boolean {
  // It is right in itself: only the account that the scenario names makes it fail.
  return wrong === null || wrong === 'no-credits'
}

export function badKeyOf(wrong: WrongRequest | null): BadKey | null {
  switch (wrong) {
    case 'invalid-key':
      return 'invalid'
    case 'altered-key':
      return 'altered'
    case 'recased-key':
      return 'recased'
    default:
      return null
  }
}

/** A bad key as it is sent; without a real one there is nothing to change. */
export function spoiled(bad: BadKey, key: string | null): string {
  if (bad === 'invalid' || key === null) return invalidKey
  if (bad === 'altered') return key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')
  return [...key]
    .map((letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    )
    .join('')
}

/** What stands in evidence for a bad key. */
export const shownBadKey: Readonly<Record<BadKey, string>> = {
  invalid: invalidKey,
  ...spoiledKeyPlaceholders,
}

/** Spoils the fields of a generation request in place; what is wrong elsewhere leaves them. */
export function spoilFields(
  fields: Record<string, unknown>,
  wrong: WrongRequest | null,
  contract: Contract,
): void {
  switch (wrong) {
    case 'unknown-model':
      fields.model = unknownModel
      break
    case 'invalid-parameter':
      // Outside the range of both formats.
      fields.temperature = contract.ranges.chatTemperature.max + 97
      break
    case 'missing-messages':
      delete fields.messages
      break
    case 'context-length':
      fields.messages = [{ role: 'user', content: textBeyond(contract, fields.model) }]
      break
  }
}

/** Past the model's own window and the general limit: which of them binds is open (gap G-30). */
function textBeyond({ models, limits }: Contract, model: unknown): string {
  const own = models.find(({ id }) => id === model)?.contextWindowTokens ?? 0
  return textOf(Math.max(own, limits.maxInputTokens, limits.maxTotalTokens) + 2_000)
}

/** At least so many tokens, and hardly more: short words that every tokenizer knows. */
export function textOf(tokens: number): string {
  return 'the a of and to in is it '.repeat(Math.ceil(tokens / 8)).trimEnd()
}
