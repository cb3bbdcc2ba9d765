import type { Task } from '../../scenario/tasks.ts'
import { RandomStream } from '../../schedule/random.ts'
import { TokenText } from '../plan/token-text.ts'
import { saltOf } from '../plan/unique-prompts.ts'

/**
 * The text at the start of each conversation of a task. Which tasks share one follows from the seed, its words from the
 * seed and the run, so that a run does not meet the prefix cache of another.
 */
export class TaskPrefixes {
  private readonly seed: number
  private readonly runId: string
  private readonly known = new Map<string, string>()

  constructor(seed: number, runId: string) {
    this.seed = seed
    this.runId = runId
  }

  /** @param index of the task in its phase @param slot of its first request; null for a task without a prefix */
  of({ name, prefix }: Task, index: number, slot: number): string | null {
    if (prefix === null) return null
    const { tokens, texts } = prefix
    const words = () => new TokenText(saltOf(this.seed, this.runId, `prefix of ${name}`))
    if (texts === null) return words().unique(tokens, slot)
    const draws = new RandomStream(this.seed, `groups of ${name}`)
    const group = Math.floor(draws.at(index) * texts)
    const place = `${group} ${name}`
    // Negative, because slots are not.
    const text = this.known.get(place) ?? words().unique(tokens, -1 - group)
    this.known.set(place, text)
    return text
  }
}
