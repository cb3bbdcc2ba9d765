import { userError } from '../../user/user-error.ts'
import type { Options } from '../commands/run.ts'

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
  const option = given.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  throw userError.usage(`--${option}: ${why}`)
}
