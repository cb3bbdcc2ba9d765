/** The subject of each code. Codes are stable: programs that use the API may act on them. */
export const userErrorCodes = {
  usage: 'an argument, an option or a variable',
  scenario: 'a scenario, or a file that it names',
  request: 'a request in a scenario that no client can send',
  trace: 'a trace to replay',
  contract: 'a contract',
  profile: 'a deployment profile',
  run: 'what a run needs: keys, prompts, addresses',
  unreachable: 'the service does not answer, or refuses every request; or other shards are missing',
  operator: 'the operator of a service',
  store: 'a store that cannot be opened, read or written',
  'store-held': 'a store that another process has open',
  'store-busy': 'a store that is to be closed while an operation uses it',
  import: 'a log or a mapping to import',
  report: 'the options of a page',
  evidence: 'a folder of evidence',
  chart: 'one of your own charts',
  service: 'the options of the reference service',
  fleet: 'shards that run together, or the server where they meet',
} as const
export type UserErrorCode = keyof typeof userErrorCodes

/**
 * A mistake that a user can correct. The message states what was expected, what was given, where, and
 * what to do. The command line prints only the message, never a stack.
 *
 * @example
 * try {
 *   await openExistingStore('typo.duckdb')
 * } catch (error) {
 *   if (!(error instanceof UserError)) throw error
 *   console.error(error.code, error.message)
 * }
 */
export class UserError extends Error {
  override readonly name: string = 'UserError'
  readonly code: UserErrorCode

  constructor(code: UserErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** A user's mistake by its subject: `throw userError.usage('--seed: expected …')`. */
export const userError = Object.fromEntries(
  Object.keys(userErrorCodes).map((code) => [
    code,
    (message: string) => new UserError(code as UserErrorCode, message),
  ]),
) as Readonly<Record<UserErrorCode, (message: string) => UserError>>
