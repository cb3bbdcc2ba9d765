import type { Call } from '../call.ts'

interface Replay {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Beyond it the oldest are forgotten. */
const mostReplays = 10_000

/** Answers that an Idempotency-Key got, to be given again; plain ones alone (G-37). */
export class Replays {
  readonly #answers = new Map<string, Replay>()

  find(call: Call): Replay | null {
    const name = nameOf(call)
    return name === null ? null : (this.#answers.get(name) ?? null)
  }

  keep(call: Call, replay: Replay): void {
    const name = nameOf(call)
    if (name === null) return
    if (this.#answers.size >= mostReplays) {
      for (const oldest of this.#answers.keys()) {
        this.#answers.delete(oldest)
        break
      }
    }
    this.#answers.set(name, replay)
  }
}

/** The key comes in, so that nobody is shown the answer of another. */
function nameOf({ key, endpoint, incoming }: Call): string | null {
  const given = incoming.headers['idempotency-key']
  return typeof given === 'string' && key !== null ? `${key.id} ${endpoint} ${given}` : null
}
