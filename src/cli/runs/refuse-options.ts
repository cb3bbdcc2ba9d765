import { userError } from '../../user/user-error.ts'
import { words } from '../../user/words.ts'
import type { Options } from '../commands/run.ts'

/** Options that a run of two targets has no use for, or cannot keep yet. */
const ofOneTarget = words(
  'baseUrl repeat beforeEach shard startAt join junit upload otlp otlpSpans live',
)

/** Refuses what a run of two targets, or its plan, cannot take. */
export const refuseOfOneTarget = (options: Options): void =>
  refuseOptions(
    options,
    ofOneTarget,
    'a scenario with targets cannot take it. Leave it out, or run each target by itself.',
  )

/**
 * Refuses the first given option that this kind of run cannot take.
 *
 * @param why the rest of the sentence that begins with the option
 */
export function refuseOptions(
  options: Options,
  names: readonly (keyof Options)[],
  why: string,
): void {
  const given = names.find((name) => options[name] !== undefined)
  if (given === undefined) return
  throw userError.usage(`--${flagOf(given)}: ${why}`)
}

/** `key-names` of `keyNames`. */
export const flagOf = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
