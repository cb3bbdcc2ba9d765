/** A user's mistake in what to audit: the command line prints the message alone. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
