import { Conditions } from '../run/conditions.ts'
import type { Server } from './server.ts'

const retryMs = 250

/** What the server keeps of one run, as it was last heard. */
export class Kept {
  private readonly server: Server
  private readonly words = new Map<string, string>()
  private readonly lastWords = new Map<string, string>()
  private readonly conditions = new Conditions()
  private readonly listeners: (() => void)[] = []
  /** Whether the server is there. */
  isConnected = true

  private constructor(server: Server) {
    this.server = server
  }

  /** @param names of what is read, as `run.>` */
  static async of(server: Server, names: string): Promise<Kept> {
    const kept = new Kept(server)
    await kept.follow(names)
    void kept.watchConnection()
    return kept
  }

  get(name: string): string | undefined {
    return this.words.get(name)
  }

  /** What was said there last, even if it was taken back since. */
  last(name: string): string | undefined {
    return this.lastWords.get(name)
  }

  /** All that is kept of the run. */
  entries(): Iterable<readonly [name: string, word: string]> {
    return this.words
  }

  onNews(listener: () => void): void {
    this.listeners.push(listener)
  }

  /** Looks again at what is waited for. */
  check(): void {
    this.conditions.check()
  }

  /** Resolves when something holds, or at a time of `performance.now()`. */
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

  /** Says something unless somebody did. @returns whether it is this one's word that stands */
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

  /** Says something, again and again until a time of `performance.now()`. @returns whether the server has it */
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
