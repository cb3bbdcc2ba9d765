import type { ModelPrice } from '../../contract/prices.ts'
import { suggestion } from '../../user/nearest.ts'
import { userError } from '../../user/user-error.ts'

/**
 * Choices of the factors of prices: `region=us`.
 *
 * @param models whose factors are known; absent where a run brings its contract
 * @throws UserError for anything else, and for a factor that no price has: it would change nothing
 */
export function factorChoices(
  pairs: readonly string[],
  models?: readonly ModelPrice[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.map((text) => {
      const [, factor, choice] = /^([^=]+)=(.+)$/.exec(text) ?? []
      if (factor === undefined || choice === undefined)
        throw userError.usage(`--choose: expected factor=choice, as region=us; got "${text}"`)
      mustBeFactor('--choose', factor, models)
      return [factor, choice]
    }),
  )
}

/** @throws UserError for a factor without choices in these prices */
export function mustBeFactor(
  option: string,
  factor: string,
  models: readonly ModelPrice[] | undefined,
): void {
  if (models === undefined) return
  const known = models.flatMap(({ factors }) =>
    Object.entries(factors).flatMap(([name, each]) => ('choices' in each ? [name] : [])),
  )
  if (!known.includes(factor))
    throw userError.usage(
      `${option}: the contract has no factor ${JSON.stringify(factor)} with choices. ${suggestion(factor, [...new Set(known)])}`,
    )
}
