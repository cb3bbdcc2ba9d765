import { Conditions } from '../run/plan/conditions.ts'
import { reasonOf } from '../user/reason.ts'
import { userError } from '../user/user-error.ts'
import { bucket } from './names.ts'
import type { Server } from './server.ts'

const retryMs = 250

/** A local copy of the words that the server keeps of one run. */
export class Kept {
  private readonly server: Server
  private readonly words = new Map<string, string>()
  private readonly lastWords = new Map<string, string>()
  private readonly conditions = new Conditions()
  private readonly listeners: (() => void)[] = []
  isConnected = true

  private constructor(server: Server) {
    this.server = server
  }

  /**
   * @param names pattern of the names to follow, such as `run.>`
   * @throws UserError if they may not be followed; the connection is then closed
   */
  static async of(server: Server, names: string): Promise<Kept> {
    const kept = new Kept(server)
    try {
      await kept.follow(names)
    } catch (error) {
      await server.connection.close()
      throw userError.fleet(
        `--join: ${server.shown} does not let these credentials follow its bucket ${bucket} (${reasonOf(error)}). Permit it, or use other credentials.`,
      )
    }
    void kept.watchConnection()
    return kept
  }

  get(name: string): string | undefined {
    return this.words.get(name)
  }

  /** The last word under a name, even if it was removed since. */
  last(name: string): string | undefined {
    return this.lastWords.get(name)
  }

  entries(): Iterable<readonly [name: string, word: string]> {
    return this.words
  }

  onNews(listener: () => void): void {
    this.listeners.push(listener)
  }

  /** Checks the conditions of all calls of `until` again. */
  check(): void {
    this.conditions.check()
  }

  /** Resolves when the condition holds, or at the deadline on the clock of `performance.now()`. */
  async until(holds: () => boolean, deadlineMs: number): Promise<void> {
    let isOver = false
    const timer = setTimeout(
      () => {
        isOver = true
        this.conditions.check()
      },
      Math.max(0, deadlineMs - performance.now()),
    )
    await this.conditions.until(() => isOver || holds())
    clearTimeout(timer)
  }

  /** Stores a word unless the name has one. @returns whether this word was stored */
  async claim(name: string, word: unknown): Promise<boolean> {
    try {
      await this.server.kept.create(name, JSON.stringify(word))
      return true
    } catch (error) {
      const held = await this.server.kept.get(name)
      if (held === null) throw error
      this.hear(name, held.string())
      return false
    }
  }

  /** Stores a word, with retries until the deadline of `performance.now()`. @returns whether it was stored */
  async put(name: string, word: unknown, deadlineMs: number): Promise<boolean> {
    for (;;) {
      try {
        await this.server.kept.put(name, JSON.stringify(word), {
          timeout: Math.min(1000, Math.max(1, deadlineMs - performance.now())),
        })
        return true
      } catch {
        if (performance.now() + retryMs > deadlineMs) return false
        await new Promise((resolve) => setTimeout(resolve, retryMs))
      }
    }
  }

  async remove(name: string): Promise<void> {
    await this.server.kept.delete(name).catch(() => {})
  }

  private hear(name: string, word: string | null): void {
    if (word === null) this.words.delete(name)
    else {
      this.words.set(name, word)
      this.lastWords.set(name, word)
    }
    this.conditions.check()
    for (const listener of this.listeners) listener()
  }

  private async follow(names: string): Promise<void> {
    const changes = await this.server.kept.watch({ key: names })
    void (async () => {
      for await (const change of changes)
        this.hear(change.key, change.operation === 'PUT' ? change.string() : null)
    })().catch(() => {})
  }

  private async watchConnection(): Promise<void> {
    for await (const { type } of this.server.connection.status()) {
      if (type === 'disconnect' || type === 'staleConnection') this.isConnected = false
      if (type === 'reconnect') this.isConnected = true
    }
  }
}
