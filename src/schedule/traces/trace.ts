import type { TraceFormat, TraceUnit } from '../../scenario/loads.ts'

export interface TraceRequest {
  /** Since the first one, as recorded. May have a fraction. */
  readonly atUs: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** Ids of the blocks that its prompt begins with; equal ids mean equal text. */
  readonly hashIds: readonly number[]
  /** What to send; null if the trace does not say it. */
  readonly endpoint: 'chat' | 'messages' | null
  readonly stream: boolean | null
  readonly model: string | null
  /** The conversation or the agent that it belongs to; null if the trace names none. */
  readonly session: string | null
  /** Its place in the session as recorded, from 1. */
  readonly turn: number | null
  /** Index of the request whose end it waited for; null if it waited for none. */
  readonly after: number | null
  readonly recorded: Recorded
}

/** What the trace tells of the recorded answer. A replay does not send it. */
export interface Recorded {
  /** The model that answered then. The service under test may have others. */
  readonly model?: string
  readonly failed?: boolean
  readonly toolCall?: boolean
  readonly serviceUs?: number | null
  readonly ttftUs?: number | null
}

/** Microseconds of a unit. */
export const unitUs: Readonly<Record<TraceUnit, number>> = { s: 1e6, ms: 1e3, us: 1, ns: 1e-3 }

/** Rows of the file that are no request of a replay. */
export interface LeftOut {
  readonly rows: number
  readonly reason: string
}

export interface Trace {
  readonly format: TraceFormat
  /** How times were read, and why, as a sentence for a person. */
  readonly times: string
  /** Tokens of a block of `hashIds`; the last block of a prompt may have fewer. Null without ids. */
  readonly tokensPerBlock: number | null
  /** In order of time, the first at 0. */
  readonly requests: readonly TraceRequest[]
  readonly leftOut: readonly LeftOut[]
}

/** A request before its trace is put in order: times in the trace's unit, or in microseconds where they are instants. */
export type TraceRow = Omit<TraceRequest, 'atUs'> & { readonly time: number }

/** @returns a row without anything that only some formats know */
export function plainRow(time: number, inputTokens: number, outputTokens: number): TraceRow {
  return {
    time,
    inputTokens,
    outputTokens,
    hashIds: [],
    endpoint: null,
    stream: null,
    model: null,
    session: null,
    turn: null,
    after: null,
    recorded: {},
  }
}

/** What a reader of a format returns. */
export interface TraceRows {
  readonly rows: readonly TraceRow[]
  readonly leftOut: readonly LeftOut[]
  /** The unit that the format itself defines; null if the rows must tell. */
  readonly unit: TraceUnit | null
  /** Sizes of a block that the format can have, the likeliest first. */
  readonly blocks: readonly number[]
}
