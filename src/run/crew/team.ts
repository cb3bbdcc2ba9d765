import type { StopReason } from './stop-conditions.ts'

/** The start of a run on which all machines agreed. */
export interface AgreedStart {
  /** Unix microseconds, by the clock of shard 0. */
  readonly startedAtUs: number
  /** The same instant on the monotonic clock of this machine. */
  readonly zeroNs: bigint
}

/** Numbers by name, which machines exchange during a run. */
export type Said = Readonly<Record<string, number>>

/** The connected machines of a run. */
export interface Team {
  /**
   * Waits until every shard has joined with the same plan.
   *
   * @returns null if the signal ended the wait
   * @throws UserError if a shard is missing, has another plan, or joined before
   */
  begin(planHash: string, signal: AbortSignal | undefined): Promise<AgreedStart | null>
  /** The words of all shards under a name, by index; null if one is missing at the deadline. */
  gather<Own extends Said>(name: string, own: Own): Promise<readonly Own[] | null>
  /** Ends the run on every machine; the first reason is that of all. */
  stop(reason: StopReason): void
  /** @param listener is also called for an earlier stop */
  onStop(listener: (reason: StopReason) => void): void
  /** @returns credits that other machines gave to this one */
  askForCredits(most: number): Promise<number>
  /** @param giveUp takes up to `most` credits from this machine's bound, for another machine */
  onAsked(giveUp: (most: number) => number): void
  /** Greatest difference between the clocks of this machine and of shard 0, in microseconds. */
  readonly clockErrorUs: number
}
