import { userError } from '../../user/user-error.ts'

/** Choices of the factors of prices: `region=us`. @throws UserError for anything else */
export function factorChoices(pairs: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.map((text) => {
      const [, factor, choice] = /^([^=]+)=(.+)$/.exec(text) ?? []
      if (factor !== undefined && choice !== undefined) return [factor, choice]
      throw userError.usage(`--choose: expected factor=choice, as region=us; got "${text}"`)
    }),
  )
}
