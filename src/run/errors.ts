/** An issue of a scenario's own code at run time, without a stack, which would be of no use. */
export class ScenarioCodeError extends Error {
  override readonly name = 'ScenarioCodeError'

  constructor(message: string) {
    super(message)
    this.stack = message
  }
}
