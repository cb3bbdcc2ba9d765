import { userError } from '../../user/user-error.ts'

/**
 * The command of `--again`.
 *
 * @throws UserError for a rule that did not fail, or that failed without a request to repeat
 */
export function commandOf(commands: ReadonlyMap<string, string>, rule: string): string {
  const command = commands.get(rule.toUpperCase())
  if (command !== undefined) return command
  throw userError.usage(`--again: ${rule} did not fail on a request that can be sent again.`)
}
