import { fewestRepeats } from '../../measure/interval/repeats.ts'
import { UserError } from '../../user/user-error.ts'
import type { Options } from '../commands/run.ts'
import { wholeNumberOf } from '../terminal/numbers.ts'

const mostRepeats = 100

/** How often a scenario is run; null for once. @throws UserError for a number that tells nothing */
export function repeatsAsked({ repeat, beforeEach }: Options): number | null {
  if (repeat === undefined) {
    if (beforeEach === undefined) return null
    throw new UserError('usage', '--before-each: expected --repeat, too; got a single run.')
  }
  const count = wholeNumberOf('--repeat', repeat)
  if (count >= fewestRepeats && count <= mostRepeats) return count
  throw new UserError(
    'usage',
    `--repeat: expected ${fewestRepeats} to ${mostRepeats} runs; got ${repeat}. With fewer, the spread between runs is not known.`,
  )
}
