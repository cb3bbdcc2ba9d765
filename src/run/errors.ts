/** A run that cannot begin as asked: a key, a file or a URL is missing or wrong. */
export class RunError extends Error {
  override readonly name = 'RunError'
}

/** The target was never reached, so that there is nothing to say about it. */
export class TargetError extends Error {
  override readonly name = 'TargetError'
}

/** The recorder cannot open or write the store. */
export class StoreFailure extends Error {
  override readonly name = 'StoreError'
}

/** What a scenario's own code did wrong while it ran; its stack would be of no use to anybody. */
export class ScenarioFault extends Error {
  override readonly name = 'ScenarioFault'

  constructor(message: string) {
    super(message)
    this.stack = message
  }
}
