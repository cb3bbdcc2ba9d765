import type { ModelPrice } from '../../contract/prices.ts'
import { suggestion } from '../../user/nearest.ts'
import { userError } from '../../user/user-error.ts'

/**
 * Choices of the factors of prices: `region=us`.
 *
 * @param models whose factors are known; absent where a run brings its contract
 * @throws UserError for anything else, for a factor or a choice that no price has, which would change nothing, and for a second
 *   choice of a factor
 */
export function factorChoices(
  pairs: readonly string[],
  models?: readonly ModelPrice[],
): Readonly<Record<string, string>> {
  const chosen = new Map<string, string>()
  for (const text of pairs) {
    const [, factor, choice] = /^([^=]+)=(.+)$/.exec(text) ?? []
    if (factor === undefined || choice === undefined)
      throw userError.usage(`--choose: expected factor=choice, as region=us; got "${text}"`)
    mustBeChoice('--choose', [factor, choice], models)
    const before = chosen.get(factor) ?? choice
    if (before !== choice)
      throw userError.usage(
        `--choose: ${factor} is chosen twice, as ${before} and as ${choice}; expected one`,
      )
    chosen.set(factor, choice)
  }
  return Object.fromEntries(chosen)
}

/** @throws UserError for a factor without choices in these prices, and for a choice that it does not have */
export function mustBeChoice(
  option: string,
  [factor, choice]: readonly [string, string],
  models: readonly ModelPrice[] | undefined,
): void {
  if (models === undefined) return
  const choices = new Map<string, readonly string[]>()
  for (const { factors } of models)
    for (const [name, each] of Object.entries(factors))
      if ('choices' in each)
        choices.set(name, [...(choices.get(name) ?? []), ...Object.keys(each.choices)])
  const known = choices.get(factor)
  if (known === undefined)
    throw userError.usage(
      `${option}: the contract has no factor ${JSON.stringify(factor)} with choices. ${suggestion(factor, [...choices.keys()])}`,
    )
  if (!known.includes(choice))
    throw userError.usage(
      `${option}: ${JSON.stringify(factor)} has no choice ${JSON.stringify(choice)}. ${suggestion(choice, [...new Set(known)])}`,
    )
}
