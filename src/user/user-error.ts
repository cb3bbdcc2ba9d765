/** What each code is about. Codes are stable: programs that use the API may act on them. */
export const userErrorCodes = {
  usage: 'an argument, an option or a variable',
  scenario: 'a scenario, or a file that it names',
  request: 'a request that a scenario describes and no client can send',
  trace: 'a trace to replay',
  contract: 'a contract',
  profile: 'a deployment profile',
  run: 'what a run needs: keys, prompts, addresses',
  unreachable: 'the service: nothing answers, or it serves nobody; other shards: they do not come',
  operator: 'the operator of a service',
  store: 'the store: it cannot be opened, read or written',
  'store-held': 'the store: another process holds it',
  import: 'a log or a mapping to import',
  report: 'what a page is asked for',
  chart: 'a chart of your own',
  service: 'what the reference service is asked for',
  fleet: 'shards that run together, or the server that they meet at',
} as const
export type UserErrorCode = keyof typeof userErrorCodes

/**
 * A mistake that a user can mend. The command line prints the message alone, never a stack: what was
 * expected, what came, where, and what to do.
 */
export class UserError extends Error {
  override readonly name: string = 'UserError'
  readonly code: UserErrorCode

  constructor(code: UserErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
