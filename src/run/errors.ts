/** A fault of a scenario's own code at run time, without a stack, which would be of no use. */
export class ScenarioFault extends Error {
  override readonly name = 'ScenarioFault'

  constructor(message: string) {
    super(message)
    this.stack = message
  }
}
