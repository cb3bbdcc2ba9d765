import type { MessagePort } from 'node:worker_threads'
import type { BatchMessage } from '../../attempt/batch.ts'
import type { AttemptRow } from '../../attempt/columns.ts'
import type { BodyRow, TaskRow, TemplateRow, WrongAnswerRow } from '../../attempt/evidence.ts'
import type { MemoryFigures } from '../../client/bytes/memory.ts'
import type { TlsTexts } from '../../client/wire/authorities.ts'
import type { Contract } from '../../contract/contract.ts'
import type { Load } from '../../scenario/loads.ts'
import type { TraceSession } from '../../schedule/traces/sessions.ts'
import type { TraceRequest } from '../../schedule/traces/trace.ts'
import type { HealthRow, HistogramRow } from '../../store/attempts/recorder.ts'
import type { RunStart } from '../../store/runs/runs.ts'
import { words } from '../../user/words.ts'
import type { StepCounters } from '../count/attempt-counts.ts'
import type { HistogramSlice } from '../count/time-histogram.ts'
import type { PromptPool } from '../plan/prompts.ts'
import type { TrialCounts } from '../search/trial-sums.ts'
import type { ResolvedKey } from '../send/keys.ts'
import type { CrewedScenario } from './threads.ts'

/**
 * Messages between the threads of a run.
 *
 *     coordinator ──── phases, stop ────▶ sender 0 … n ──── batches, bodies ────▶ recorder
 *          ▲ ◀──── counters, issued, drained ───┘ ◀──────── empty buffers ────────────┤
 *          └──────── histograms, health ─────────────────────────────────────────────▶│
 */

/** What all sending threads of a run have in common. */
export interface SenderSettings {
  readonly scenario: CrewedScenario
  readonly contract: Contract
  readonly zeroNs: bigint
  readonly seed: number
  readonly baseUrl: string
  readonly keys: readonly ResolvedKey[]
  readonly prompts: readonly PromptPool[]
  readonly tls: TlsTexts
  readonly proxy: string | null
}

export interface SenderData extends SenderSettings {
  readonly runId: string
  /** Index of the thread among those of all machines of the run, and their number. */
  readonly shard: number
  readonly shards: number
  /** UTC milliseconds at microsecond 0 of the run. */
  readonly startedMs: number
  /** Seconds of the service in one second of this clock. */
  readonly timeScale: number
  /** All secrets of the process, because a service may answer with the key of another request. */
  readonly secrets: readonly string[]
  /** Connections that this thread may open. Default: no bound. */
  readonly openConnections?: number
  readonly shared: SharedArrayBuffer
  readonly recorder: MessagePort
  /** To the thread that judges answers; absent if no step expects anything. */
  readonly checker?: MessagePort | undefined
}

/** A load that senders can run; sweeps consist of such loads. */
export type SenderLoad =
  | Extract<Load, { kind: 'arrivals' | 'concurrency' }>
  | {
      readonly kind: 'replay'
      readonly requests: readonly TraceRequest[]
      readonly tokensPerBlock: number | null
      readonly speed: number
      /** Its requests as sessions, if they wait for each other; absent if each has its time. */
      readonly sessions?: readonly TraceSession[]
      /** Users that do one session after the other; absent if each session starts at its time. */
      readonly users?: number
    }

export interface PhaseRun {
  /** Index in the run, from 0. */
  readonly ordinal: number
  readonly name: string
  readonly part: 'warmup' | 'steady' | 'drain' | 'trial'
  readonly load: SenderLoad
  readonly startUs: number
  readonly durationUs: number | null
  readonly maxRequests: number | null
  /** Indexes into the scenario's steps. */
  readonly steps: readonly number[]
  /** Indexes into the scenario's tasks, for a phase of tasks; absent for one of requests. */
  readonly taskIndexes?: readonly number[]
  /** How many of its first tasks start in their middle; absent for none. */
  readonly begunTasks?: number
  /** First slot of the phase. */
  readonly slotBase: number
  /** Planned requests of a trial, whose threads also report its `TrialCounts`; absent for other phases. */
  readonly trialRequests?: number
  /** Most time of each task of a trial; null or absent for any. */
  readonly trialTaskUs?: number | null
}

export type ToSender =
  | { readonly type: 'phase'; readonly phase: PhaseRun }
  /** No more phases: end when all requests have ended. */
  | { readonly type: 'finish' }
  /** Start no more requests of this phase. */
  | { readonly type: 'end-phase'; readonly ordinal: number }
  /** Send a report and `drained` when every request of the first `phases` phases has ended. */
  | { readonly type: 'drain'; readonly phases: number }
  /** Start no more requests; with `now`, abort those in flight. */
  | { readonly type: 'stop'; readonly now: boolean }

/** Counters of one phase and step since the run began, and histograms since the last report. */
export interface StepReport {
  readonly ordinal: number
  readonly step: number
  readonly counters: StepCounters
  readonly histograms: Readonly<Partial<Record<Metric, HistogramSlice>>>
}

/** Histograms of a step: times of successes and, apart, of failures. */
export const countedMetrics = words('service response ttft itl failed_service failed_response')
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
  /** Of the latest trial of a search; null or absent without one. */
  readonly trial?: { readonly ordinal: number; readonly counts: TrialCounts } | null | undefined
  /** Since the last report. */
  readonly health: HealthRow
}

export type FromSender =
  | { readonly type: 'ready'; readonly shard: number }
  | SenderReport
  /** The thread has sent its share of the phase. */
  | {
      readonly type: 'issued'
      readonly shard: number
      readonly ordinal: number
      readonly atUs: number
    }
  /** Every request of the first `phases` phases has ended and is reported. */
  | { readonly type: 'drained'; readonly phases: number }
  /** All requests have ended, and every row was sent to the recorder. */
  | {
      readonly type: 'finished'
      readonly shard: number
      readonly rows: number
      /** Captures that were dropped. */
      readonly bodiesGivenUp: number
      readonly memory: MemoryFigures
      /** Connections on which bytes came that no request had asked for. */
      readonly strays: number
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
  readonly wrongAnswers?: readonly WrongAnswerRow[]
  readonly tasks?: readonly TaskRow[]
  /** Whether it is the last message of this sender. */
  readonly last: boolean
}

/** To a sender: a buffer to fill again, or the number of characters of bodies just written. */
export type FromRecorder = ArrayBuffer | number

export interface RecorderData {
  readonly dbPath: string
  readonly run: RunStart
  readonly senders: readonly MessagePort[]
  readonly zeroNs: bigint
  /** Whether rows are also told to the coordinator. */
  readonly tellsAttempts: boolean
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
  | { readonly type: 'attempts'; readonly attempts: readonly AttemptRow[] }
  | { readonly type: 'open' }
  /** The store can no longer be written; the run must end. */
  | { readonly type: 'broken'; readonly message: string }
  | { readonly type: 'closed'; readonly rows: number; readonly bodiesGivenUp: number }
  | { readonly type: 'failed'; readonly name: string; readonly message: string }
