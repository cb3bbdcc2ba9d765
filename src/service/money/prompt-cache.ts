import { hashText } from '../random.ts'

/** A cache serves prompts from this length on, in steps, as public services do. */
const leastTokens = 1_024
const stepTokens = 128
const chunkLength = 64
const shortLifeUs = 300e6
const longLifeUs = 3600e6

export interface Cached {
  readonly read: number
  readonly written: number
}

/**
 * Prompts that a key has sent: the start that a later prompt shares with one of them is read from the
 * cache. Prompts are compared in chunks, from the start.
 */
export class PromptCache {
  readonly #expiryUs = new Map<string, number>()

  /**
   * @param owner whose prompts these are
   * @param tokens of the prompt
   * @param isLong whether what is written lives for an hour
   */
  meet(owner: string, prompt: string, tokens: number, nowUs: number, isLong: boolean): Cached {
    const chunks = Math.ceil(prompt.length / chunkLength)
    let hash = hashText(owner)
    let shared = 0
    let isShared = true
    for (let at = 0; at < chunks; at++) {
      hash = hashText(prompt.slice(at * chunkLength, (at + 1) * chunkLength), hash)
      const name = `${owner} ${at} ${hash}`
      const until = this.#expiryUs.get(name) ?? 0
      isShared &&= until > nowUs
      if (isShared) shared = Math.min(prompt.length, (at + 1) * chunkLength)
      this.#expiryUs.set(name, Math.max(until, nowUs + (isLong ? longLifeUs : shortLifeUs)))
    }
    if (this.#expiryUs.size > 1_000_000) this.#expiryUs.clear()
    if (tokens < leastTokens) return { read: 0, written: 0 }
    const inSteps = (count: number) => Math.floor(count / stepTokens) * stepTokens
    // The end of a prompt is always read anew.
    const most = inSteps(tokens - 1)
    const read = Math.min(most, inSteps((tokens * shared) / Math.max(1, prompt.length)))
    return { read: read < leastTokens ? 0 : read, written: most - (read < leastTokens ? 0 : read) }
  }
}
