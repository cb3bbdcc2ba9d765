export interface NewKey {
  readonly name: string
  readonly key: string
}

/** Shown once, on the next page of a session. */
export interface Flash {
  readonly said: readonly string[]
  readonly newKeys: readonly NewKey[]
}

const nothing: Flash = { said: [], newKeys: [] }

/**
 * Kept by the secret of the session, and in memory only, because one may hold a key. A flash that is not shown yet is
 * never replaced: a key that is lost here is shown nowhere else.
 */
export class Flashes {
  readonly #flashes = new Map<string, Flash>()

  say(secret: string, sentence: string): void {
    const { said, newKeys } = this.#waiting(secret)
    this.#flashes.set(secret, { said: [...said, sentence], newKeys })
  }

  show(secret: string, newKey: NewKey): void {
    const { said, newKeys } = this.#waiting(secret)
    this.#flashes.set(secret, { said, newKeys: [...newKeys, newKey] })
  }

  /** Returns the flash of a session and removes it. */
  take(secret: string): Flash {
    const flash = this.#waiting(secret)
    this.#flashes.delete(secret)
    return flash
  }

  #waiting(secret: string): Flash {
    return this.#flashes.get(secret) ?? nothing
  }
}
