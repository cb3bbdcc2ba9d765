import type { Call } from '../call.ts'

interface Replay {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Above this number, the oldest are dropped. */
const mostReplays = 10_000

/** Answers to requests with an Idempotency-Key, kept for repetitions. Plain answers only (G-37). */
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

/** The API key is part of the name, so that no client gets another one's answer. */
function nameOf({ key, endpoint, incoming }: Call): string | null {
  const given = incoming.headers['idempotency-key']
  return typeof given === 'string' && key !== null ? `${key.id} ${endpoint} ${given}` : null
}
