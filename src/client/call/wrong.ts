import { spoiledKeyPlaceholders } from '../../attempt/shown-key.ts'
import { type Contract, modelNamed } from '../../contract/contract.ts'
import type { WrongRequest } from '../../contract/request.ts'
import { usualOf } from '../../contract/usual.ts'

/** A key that must be refused: one that does not exist, or the real one with a change. */
export type BadKey = 'invalid' | 'altered' | 'recased'

/** A key that no service has issued, but well-formed enough for a look-up. */
export const invalidKey = 'assay-invalid-key-0000000000000000'
const unknownModel = 'assay-no-such-model'
export const unknownPath = '/v1/assay-no-such-path'

/** Whether a service that keeps the contract may answer the request and charge for it. */
export function mayBeCharged(wrong: WrongRequest | null): boolean {
  // `no-credits` is a correct request; it fails only because of the account.
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

/** The bad key to send; without a real key, the invalid one. */
export function spoiled(bad: BadKey, key: string | null): string {
  if (bad === 'invalid' || key === null) return invalidKey
  if (bad === 'altered') return key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')
  return [...key]
    .map((letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    )
    .join('')
}

/** Replaces a bad key in evidence. */
export const shownBadKey: Readonly<Record<BadKey, string>> = {
  invalid: invalidKey,
  ...spoiledKeyPlaceholders,
}

/** Spoils the fields of a generation request in place; issues elsewhere in a request do not change them. */
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
      fields.temperature = usualOf(contract).ranges.chatTemperature.max + 97
      break
    case 'missing-messages':
      delete fields.messages
      break
    case 'context-length':
      fields.messages = [{ role: 'user', content: textBeyond(contract, fields.model) }]
      break
  }
}

/** A text beyond both the model's window and the general limit, because which one binds is open (gap G-30). */
function textBeyond(contract: Contract, model: unknown): string {
  const { limits } = usualOf(contract)
  const own = modelNamed(contract.models ?? [], String(model))?.contextWindowTokens ?? 0
  return textOf(Math.max(own, limits.maxInputTokens, limits.maxTotalTokens) + 2_000)
}

/** A text of at least this many tokens and hardly more: short words that every tokenizer knows. */
export const textOf = (tokens: number): string =>
  'the a of and to in is it '.repeat(Math.ceil(tokens / 8)).trimEnd()
