/** Shown once, on the next page of a session. */
export interface Flash {
  readonly said: string | null
  readonly newKey: { readonly name: string; readonly key: string } | null
}

/** Kept by the secret of the session, and in memory only, because one may hold a key. */
export class Flashes {
  readonly #flashes = new Map<string, Flash>()

  say(secret: string, said: string): void {
    this.#flashes.set(secret, { said, newKey: null })
  }

  show(secret: string, newKey: NonNullable<Flash['newKey']>): void {
    this.#flashes.set(secret, { said: null, newKey })
  }

  /** Returns the flash of a session and removes it. */
  take(secret: string): Flash {
    const flash = this.#flashes.get(secret)
    this.#flashes.delete(secret)
    return flash ?? { said: null, newKey: null }
  }
}
