import type { MessagePort } from 'node:worker_threads'
import type { BatchMessage } from '../attempt/batch.ts'
import type { BodyRow, TemplateRow } from '../attempt/evidence.ts'
import type { TlsTexts } from '../client/authorities.ts'
import type { MemoryFigures } from '../client/memory.ts'
import type { Message } from '../client/request.ts'
import type { Contract } from '../contract/contract.ts'
import type { Load } from '../scenario/scenario.ts'
import type { TraceRequest } from '../schedule/trace.ts'
import type { HealthRow, HistogramRow } from '../store/recorder.ts'
import type { RunStart } from '../store/runs.ts'
import type { StepCounters } from './attempt-counts.ts'
import type { CrewedScenario } from './threads.ts'
import type { HistogramSlice } from './time-histogram.ts'

/**
 * What crosses between the threads of a run.
 *
 *     coordinator ──── phases, stop ────▶ sender 0 … n ──── batches, bodies ────▶ recorder
 *          ▲ ◀──── counters, issued, drained ───┘ ◀──────── empty buffers ────────────┤
 *          └──────── histograms, health ─────────────────────────────────────────────▶│
 */

/** A key as a sender needs it. Lives in memory only. */
export interface ResolvedKey {
  readonly name: string
  readonly account: string
  readonly weight: number
  readonly key: string
}

/** The prompts that a step draws from; null for a function. */
export type PromptPool = readonly PooledPrompt[] | null

/** What the user says, or a whole conversation with its images and tools. */
export type PooledPrompt =
  | string
  | {
      readonly messages: readonly Message[]
      /** `tools`, `response_format` and the like, as the body has them. */
      readonly fields: Readonly<Record<string, unknown>>
    }

export interface SenderData {
  readonly runId: string
  /** The thread among those of all machines of the run, and how many these are. */
  readonly shard: number
  readonly shards: number
  readonly zeroNs: bigint
  readonly seed: number
  readonly baseUrl: string
  readonly contract: Contract
  readonly scenario: CrewedScenario
  readonly keys: readonly ResolvedKey[]
  readonly prompts: readonly PromptPool[]
  readonly tls: TlsTexts
  readonly proxy: string | null
  readonly shared: SharedArrayBuffer
  readonly recorder: MessagePort
}

/** A load that senders know; sweeps are made of such. */
export type SenderLoad =
  | Extract<Load, { kind: 'arrivals' | 'concurrency' }>
  | { readonly kind: 'replay'; readonly requests: readonly TraceRequest[]; readonly speed: number }

/** One phase as it is run. */
export interface PhaseRun {
  /** Place in the run, from 0. */
  readonly ordinal: number
  readonly name: string
  readonly part: 'warmup' | 'steady' | 'drain'
  readonly load: SenderLoad
  readonly startUs: number
  readonly durationUs: number | null
  readonly maxRequests: number | null
  /** Indexes into the scenario's steps. */
  readonly steps: readonly number[]
  /** First slot of the phase. */
  readonly slotBase: number
}

export type ToSender =
  | { readonly type: 'phase'; readonly phase: PhaseRun }
  /** No more phases: end when everything in flight has ended. */
  | { readonly type: 'finish' }
  /** Report as soon as every request of the first so many phases has ended, and say `drained`. */
  | { readonly type: 'drain'; readonly phases: number }
  /** Start nothing new; with `now`, leave what is in flight. */
  | { readonly type: 'stop'; readonly now: boolean }

/** Counters of one phase and step since the run began, and counts since the last message. */
export interface StepReport {
  readonly ordinal: number
  readonly step: number
  readonly counters: StepCounters
  readonly histograms: Readonly<Partial<Record<Metric, HistogramSlice>>>
}

/** What is counted per step: times of successes and, apart, of failures. */
export const countedMetrics = [
  'service',
  'response',
  'ttft',
  'itl',
  'failed_service',
  'failed_response',
] as const
export type Metric = (typeof countedMetrics)[number]

export interface KeyReport {
  readonly creditsRemaining: number | null
  readonly rateRemaining: number | null
}

export interface SenderReport {
  readonly type: 'report'
  readonly shard: number
  readonly atUs: number
  readonly steps: readonly StepReport[]
  readonly keys: readonly KeyReport[]
  readonly inFlight: number
  /** Since the last report. */
  readonly health: HealthRow
}

export type FromSender =
  | { readonly type: 'ready'; readonly shard: number }
  | SenderReport
  /** Everything of the phase that is this thread's has been sent. */
  | {
      readonly type: 'issued'
      readonly shard: number
      readonly ordinal: number
      readonly atUs: number
    }
  /** Every request of the first so many phases has ended, and is reported. */
  | { readonly type: 'drained'; readonly phases: number }
  /** Everything has ended and the recorder has every row. */
  | {
      readonly type: 'finished'
      readonly shard: number
      readonly rows: number
      /** Captures that were not kept. */
      readonly bodiesGivenUp: number
      readonly memory: MemoryFigures
      /** Over the whole life of the thread. */
      readonly loopDelayP99Us: number
      readonly utilisation: number
    }
  | { readonly type: 'failed'; readonly shard: number; readonly message: string }

/** From a sender to the recorder, over their own port. */
export interface ToRecorder {
  readonly batch: BatchMessage | null
  readonly templates: readonly TemplateRow[]
  readonly bodies: readonly BodyRow[]
  /** The last message of this sender. */
  readonly last: boolean
}

/** Back to a sender: a buffer to fill again, or how many characters of bodies are written. */
export type FromRecorder = ArrayBuffer | number

export interface RecorderData {
  readonly dbPath: string
  readonly run: RunStart
  readonly senders: readonly MessagePort[]
  readonly zeroNs: bigint
}

export interface IntervalHistogram extends Omit<HistogramRow, 'hdr' | 'samples'> {
  readonly slice: HistogramSlice
}

export type RecorderControl =
  | {
      readonly type: 'evidence'
      readonly histograms: readonly IntervalHistogram[]
      readonly health: readonly HealthRow[]
    }
  | { readonly type: 'close' }

export type FromRecorderControl =
  | { readonly type: 'open' }
  /** The store cannot be written any more; what is under way is to end. */
  | { readonly type: 'broken'; readonly message: string }
  | { readonly type: 'closed'; readonly rows: number; readonly bodiesGivenUp: number }
  | { readonly type: 'failed'; readonly name: string; readonly message: string }
