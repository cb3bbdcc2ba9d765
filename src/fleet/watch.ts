import type { Progress } from '../run/count/progress.ts'
import { userError } from '../user/user-error.ts'
import { Kept } from './kept.ts'
import { type EndWord, type LiveWord, parsed } from './messages.ts'
import { type Names, namesOf } from './names.ts'
import { progressOfFleet } from './progress.ts'
import { reachServer, type Server } from './server.ts'

/** The known state of one shard. */
export interface ShardSeen {
  readonly index: number
  /** Time since its last progress; null before the first. */
  readonly silentMs: number | null
  readonly ended: EndWord | null
}

/** The known state of a run on several machines. */
export interface RunSeen {
  /** By index; without shards that never joined. */
  readonly shards: readonly ShardSeen[]
  /** Sum over all shards that reported; null before any did. */
  readonly progress: Progress | null
  /** Whether the server is connected; if not, the figures are the last received. */
  readonly isConnected: boolean
}

export interface WatchRunOptions {
  readonly address: string
  readonly runId: string
  readonly waitMs: number
}

/** Listens to the shards of a run. @throws UserError if the server cannot be reached, or does not permit it */
export const watchRun = (options: WatchRunOptions): Promise<RunWatch> => RunWatch.of(options)

export class RunWatch {
  private readonly server: Server
  private readonly kept: Kept
  private readonly names: Names
  private readonly live = new Map<number, { readonly word: LiveWord; readonly atMs: number }>()

  static async of({ address, runId, waitMs }: WatchRunOptions): Promise<RunWatch> {
    const server = await reachServer(address, performance.now() + waitMs)
    const names = namesOf(runId)
    const watch = new RunWatch(server, await Kept.of(server, names.all), names)
    await watch.listen()
    return watch
  }

  private constructor(server: Server, kept: Kept, names: Names) {
    this.server = server
    this.kept = kept
    this.names = names
  }

  /** @throws UserError if the server does not permit it; the connection is then closed */
  private async listen(): Promise<void> {
    const { connection, shown } = this.server
    const subject = this.names.live('*')
    let isRefused = false
    connection.subscribe(subject, {
      callback: (error, message) => {
        // Beside an error, the message is an empty object.
        if (error !== null) {
          isRefused = true
          return
        }
        const word = parsed.live(message.string())
        const index = Number(message.subject.split('.').at(-1))
        if (word !== null) this.live.set(index, { word, atMs: performance.now() })
      },
    })
    // The server refuses a subject before it answers what was sent after it.
    await connection.flush()
    if (!isRefused) return
    await this.close()
    throw userError.fleet(
      `--join: ${shown} does not let these credentials hear ${subject}, where shards tell their progress. Permit it, or use other credentials.`,
    )
  }

  seen(): RunSeen {
    const nowMs = performance.now()
    const ended = new Map<number, EndWord | null>()
    const indexes = new Set(this.live.keys())
    for (const [name, word] of this.kept.entries()) {
      const joined = this.names.indexOf('shard', name)
      if (joined !== null) indexes.add(joined)
      const end = this.names.indexOf('end', name)
      if (end !== null) ended.set(end, parsed.end(word))
    }
    const shards = [...indexes].sort((a, b) => a - b)
    const [first, ...more] = shards.flatMap((index) => this.live.get(index)?.word ?? [])
    return {
      shards: shards.map((index) => {
        const last = this.live.get(index)
        const silentMs = last === undefined ? null : nowMs - last.atMs
        return { index, silentMs, ended: ended.get(index) ?? null }
      }),
      progress: first === undefined ? null : progressOfFleet([first, ...more]),
      isConnected: this.kept.isConnected,
    }
  }

  /** Ends the load on every machine. @returns false if it was stopped before */
  stop(): Promise<boolean> {
    return this.kept.claim(this.names.stop, { reason: 'interrupted' })
  }

  async close(): Promise<void> {
    await this.server.connection.close()
  }
}
