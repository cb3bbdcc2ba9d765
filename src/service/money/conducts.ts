import { nearest } from '../../user/nearest.ts'
import { userError } from '../../user/user-error.ts'

/**
 * Legal ways to bill in money that look wrong. N1 to N12 are rows of the list of public conduct. Five
 * of that list need no switch: a stream's head never states a cost (N6), and the contract says whether
 * keys of one's own (N7), empty answers (N8), other models (N9) and rounding (N11) have their own price.
 */
export const conducts = {
  'float-cost': 'N1: the stated cost is a sum of doubles',
  'gateway-cache':
    'N2: a repeated body is answered from a cache, free, with the tokens of the first',
  'late-spend': 'N3: the balance and the spend show charges up to five seconds late, together',
  'late-worker': 'LiteLLM: two workers show the spend in turns, and one is up to five seconds late',
  deposit: 'N4: the balance falls by a deposit at the start, which is settled at the end',
  'rich-no-deposit': 'N5: no deposit for a balance above a hundred deposits',
  'cache-loses': 'N10: half of the prompts that could be read from the cache are not',
  'usage-twice': 'N12: the last chunk has its usage in two places',
  'short-cost': 'gateways that show micro-dollars: the stated cost is rounded to six decimals',
  'exponent-cost': '`4.5e-05`, as Python writes it: the stated cost is a text with an exponent',
  'null-details': 'vLLM: usage has null for details without tokens',
  'early-usage': 'vLLM: every chunk has a usage so far, of which the last counts',
  'settled-rows':
    'new-api: the log has a charge in advance, and a row without tokens that settles it',
  'attempt-rows': 'LiteLLM: the log has a free row for each attempt inside',
  'spend-restarts': 'LiteLLM: the spend begins again at 0 before the ninth charge',
} as const
export type Conduct = keyof typeof conducts

/** @throws UserError that names the nearest conduct */
export function parseConducts(names: readonly string[]): ReadonlySet<Conduct> {
  return new Set(
    names.map((name) => {
      if (Object.hasOwn(conducts, name)) return name as Conduct
      const known = Object.keys(conducts)
      const meant = nearest(name, known)
      throw userError.service(
        `--conduct: expected one of ${known.join(', ')}; got "${name}"${meant === null ? '' : `. Did you mean ${meant}?`}`,
      )
    }),
  )
}
