/** What the next page of a session says once. */
export interface Flash {
  readonly said: string | null
  readonly newKey: { readonly name: string; readonly key: string } | null
}

/** By the secret of the session; in memory alone, since one may hold a key. */
export class Flashes {
  readonly #flashes = new Map<string, Flash>()

  say(secret: string, said: string): void {
    this.#flashes.set(secret, { said, newKey: null })
  }

  show(secret: string, newKey: NonNullable<Flash['newKey']>): void {
    this.#flashes.set(secret, { said: null, newKey })
  }

  /** Gives what is to be said, and forgets it. */
  take(secret: string): Flash {
    const flash = this.#flashes.get(secret)
    this.#flashes.delete(secret)
    return flash ?? { said: null, newKey: null }
  }
}
