/** What a scenario's own code did wrong while it ran; its stack would be of no use to anybody. */
export class ScenarioFault extends Error {
  override readonly name = 'ScenarioFault'

  constructor(message: string) {
    super(message)
    this.stack = message
  }
}
