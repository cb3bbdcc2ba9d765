import { timeIn } from '../../measure/usage/calendar.ts'
import type { Bearer } from '../settings/tokens.ts'
import type { Snapshot } from '../source/snapshot.ts'
import { Problem } from './problem.ts'

/** A listener for changes of accounts. */
type Listener = (version: string) => void

const mostStreams = 2
const beatMs = 15_000

/** Tells those who listen that the figures of their account changed; it has no figures. */
export class Live {
  private readonly listeners = new Map<string, Set<Listener>>()
  private readonly streams = new Map<string, number>()
  private readonly snapshot: Snapshot
  /** Unix milliseconds. */
  private readonly now: () => number

  constructor(snapshot: Snapshot, now: () => number) {
    this.snapshot = snapshot
    this.now = now
  }

  tell(account: string): void {
    for (const listen of this.listeners.get(account) ?? []) listen(this.snapshot.versionOf(account))
  }

  /**
   * Server-sent events of an account until its token ends.
   *
   * @param lastId the version that the asker knows
   * @throws Problem for a third stream of a token
   */
  stream(bearer: Bearer, lastId: string | undefined): ReadableStream<Uint8Array> {
    const open = this.streams.get(bearer.id) ?? 0
    if (open >= mostStreams) {
      throw new Problem(429, 'too-many-requests', 'This token has two streams already', {
        retryAfterS: 15,
      })
    }
    this.streams.set(bearer.id, open + 1)
    const listeners = this.listeners.get(bearer.account) ?? new Set()
    this.listeners.set(bearer.account, listeners)
    const encoder = new TextEncoder()
    let end = () => {}
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        const send = (text: string) => controller.enqueue(encoder.encode(text))
        const isOver = () => {
          if (this.now() / 1000 <= bearer.expiresS) return false
          end()
          controller.close()
          return true
        }
        const event = (version: string) => {
          if (isOver()) return
          const at = timeIn(this.snapshot.refreshedMs! * 1000, 'UTC')
          send(`event: changed\nid: ${version}\ndata: ${JSON.stringify({ version, at })}\n\n`)
        }
        send('retry: 5000\n\n')
        const version = this.snapshot.versionOf(bearer.account)
        if (lastId !== version) event(version)
        const beat = setInterval(() => {
          if (!isOver()) send(': here\n\n')
        }, beatMs)
        listeners.add(event)
        end = () => {
          clearInterval(beat)
          listeners.delete(event)
          this.streams.set(bearer.id, (this.streams.get(bearer.id) ?? 1) - 1)
          end = () => {}
        }
      },
      cancel: () => end(),
    })
  }
}
