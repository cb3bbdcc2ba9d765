/** An issue of a scenario's own code at run time, without a stack, which would be of no use. */
export class ScenarioCodeError extends Error {
  override readonly name = 'ScenarioCodeError'

  constructor(message: string) {
    super(message)
    this.stack = message
  }
}

/**
 * What a function of the scenario returned in place of what it may, for a user: `a promise`, `undefined`. Nobody waits for a promise, so
 * its rejection is nobody's either.
 */
export function kindOf(returned: unknown): string {
  // Another library's, too.
  if (typeof Object(returned).then === 'function') {
    Promise.resolve(returned).catch(() => {})
    return 'a promise'
  }
  return returned === null ? 'null' : typeof returned
}
