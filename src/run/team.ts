import type { StopReason } from './stop-conditions.ts'

/** When a run begins, as all of its machines agreed. */
export interface AgreedStart {
  /** Unix microseconds, by the clock of shard 0. */
  readonly startedAtUs: number
  /** The same instant on the monotonic clock of this machine. */
  readonly zeroNs: bigint
}

/** Numbers by name: all that machines tell each other while they send. */
export type Said = Readonly<Record<string, number>>

/** The machines of a run, where they can hear each other. */
export interface Team {
  /**
   * Waits until every shard is there with the same plan.
   *
   * @returns null when the signal ended the wait
   * @throws UserError when shards do not come, run another plan, or came before
   */
  begin(planHash: string, signal: AbortSignal | undefined): Promise<AgreedStart | null>
  /** What every shard says under a name, by index; null when not all said it before the deadline. */
  gather<Own extends Said>(name: string, own: Own): Promise<readonly Own[] | null>
  /** Ends the run on every machine; the first reason is that of all. */
  stop(reason: StopReason): void
  /** @param listener is also called for a stop that came before it */
  onStop(listener: (reason: StopReason) => void): void
  /** @returns credits that other machines gave up for this one */
  askForCredits(most: number): Promise<number>
  /** @param giveUp takes credits from this machine's bound, for another that asked for so many at most */
  onAsked(giveUp: (most: number) => number): void
  /** How far the clock of this machine was from that of shard 0 at most, in microseconds. */
  readonly clockErrorUs: number
}
