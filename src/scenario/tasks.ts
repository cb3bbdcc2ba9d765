import type { PromptPrefix, ThinkTime } from './steps.ts'

/** Whether all turns before must end, or the first one decides and the rest is aborted. */
export const joins = ['all', 'first'] as const
export type Join = (typeof joins)[number]
/** Whether a turn continues the conversation before it, or begins its own. */
export const conversations = ['same', 'new'] as const

/** A request of a task, or several of a kind. */
export interface Turn {
  readonly name: string
  readonly step: string
  /** Names of the turns that must end before it; empty for the start of the task. */
  readonly after: readonly string[]
  /** Whether all of these must end, or the first one decides and the rest is aborted. */
  readonly join: Join
  /** From the end of the last of these to the send: the time of a tool. */
  readonly delay: ThinkTime
  /** How often, one after the other. */
  readonly repeat: { readonly min: number; readonly max: number }
  /** How many such series at the same time. */
  readonly children: number
  /** Whether it continues the conversation of the first of `after`, or begins its own. */
  readonly context: (typeof conversations)[number]
  /** Names of turns whose answers it is given in its prompt. */
  readonly takes: readonly string[]
  /** Whether it offers a tool, whose calls the next request of the conversation answers. */
  readonly tools: boolean
}

/** An agent's task: requests that wait for each other, with one key. */
export interface Task {
  readonly name: string
  readonly weight: number
  readonly turns: readonly Turn[]
  /** After so long, counted from its planned start, the task is aborted; null for never. */
  readonly deadlineUs: number | null
  /** A header that stays the same within a task, or that repeats what the service sent last. */
  readonly affinity: { readonly header: string; readonly repeats: boolean } | null
  /** A conversation of more tokens is replaced by a text of `compactTokens`; null for no limit. */
  readonly context: { readonly limitTokens: number; readonly compactTokens: number } | null
  /** Text before each conversation of it; null for none. */
  readonly prefix: PromptPrefix | null
}
