import { fewestRepeats } from '../../measure/interval/repeats.ts'
import { userError } from '../../user/user-error.ts'
import type { Options } from '../commands/run.ts'
import { wholeNumberOf } from '../terminal/numbers.ts'

const mostRepeats = 100

/** How often a scenario is run; null for once. @throws UserError for a number that tells nothing */
export function repeatsAsked({ repeat, beforeEach }: Options): number | null {
  if (repeat === undefined) {
    if (beforeEach === undefined) return null
    throw userError.usage('--before-each: expected --repeat, too; got a single run.')
  }
  const count = wholeNumberOf('--repeat', repeat)
  if (count >= fewestRepeats && count <= mostRepeats) return count
  const why =
    count < fewestRepeats
      ? 'With fewer, the spread between runs is not known.'
      : 'More tell little more: the interval narrows with the square root of their number.'
  throw userError.usage(
    `--repeat: expected ${fewestRepeats} to ${mostRepeats} runs; got ${repeat}. ${why}`,
  )
}
