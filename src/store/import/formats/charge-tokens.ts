import { decimalText, multiply, rational, readNumber } from '../../../money/rational.ts'
import { lookup } from '../../../user/lookup.ts'
import { first, type NormalRow } from './row.ts'

/** The kinds of token that a line of a bill charges. */
export type TokenKind = 'input' | 'cached' | 'cacheWrite' | 'output'

const factors: Readonly<Record<string, bigint>> = lookup({ '': 1n, K: 1000n, M: 1_000_000n })

/**
 * Of how many tokens a unit of a bill is, where its line is known to charge tokens: `1K tokens`, `1M`, `Tokens`. Null for a form
 * that no such line has.
 */
function tokensPer(unit: string): bigint | null {
  const found = /^\s*1?\s*(K|M|thousand|million)?\s*(?:tokens?)?\s*$/i.exec(unit)
  if (found === null || unit.trim() === '') return null
  const letter = found[1]?.[0]?.toUpperCase() ?? ''
  return factors[letter === 'T' ? 'K' : letter] ?? null
}

/**
 * The tokens of a charge, from its quantity and unit. The input contains cached and written tokens. A quantity that is
 * no whole number of tokens is not known.
 */
export function chargeTokens(
  quantity: unknown,
  unit: unknown,
  kind: TokenKind,
): Partial<NormalRow> {
  const per = tokensPer(String(unit ?? ''))
  const amount = first(quantity) === undefined ? null : readNumber(String(quantity))
  if (per === null || amount === null) return {}
  const count = Number(decimalText(multiply(amount, rational(per))))
  if (!Number.isSafeInteger(count) || count < 0) return {}
  if (kind === 'output') return { output: count }
  return { input: count, ...(kind === 'input' ? {} : { [kind]: count }) }
}
