import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { AttemptRow } from '../../attempt/columns.ts'
import type { RunStart } from '../../store/runs/runs.ts'
import type { Store } from '../../store/session/open.ts'
import { secrets } from '../../user/secrets/secrets.ts'
import { threadFile } from '../../user/thread-file.ts'
import type { CheckerData } from '../expect/checks.ts'
import { expectsAnswers } from '../expect/ready.ts'
import { type PlacedRecorder, startRecorder } from '../record/recorder-place.ts'
import { connectionsOf } from '../start/open-files.ts'
import type {
  FromRecorderControl,
  FromSender,
  RecorderControl,
  SenderData,
  SenderSettings,
  ToSender,
} from './messages.ts'
import type { Shard } from './shard.ts'

export interface CrewOptions extends SenderSettings {
  readonly run: RunStart
  readonly shard: Shard
  readonly dbPath: string
  readonly onAttempts: ((attempts: readonly AttemptRow[]) => void) | null
  /** The store in which this thread records; null if the recorder has a thread, which opens the file. */
  readonly store: Promise<Store> | null
}

export interface CrewListener {
  onSender(message: FromSender): void
  onRecorder(message: FromRecorderControl): void
  onFailure(error: Error): void
}

/**
 * The threads of a run: one recorder, and the senders. Each sender has its own port to the recorder.
 */
export class Crew {
  private readonly options: CrewOptions
  private readonly listener: CrewListener
  private readonly shared: SharedArrayBuffer
  private readonly recorder: PlacedRecorder
  private readonly senders: Worker[]
  /** The thread that judges answers; null if no step expects anything. */
  private readonly checker: Worker | null
  private readonly openConnections: number

  constructor(options: CrewOptions, shared: SharedArrayBuffer, listener: CrewListener) {
    this.options = options
    this.shared = shared
    this.openConnections = connectionsOf(options.scenario.threads)
    this.listener = listener
    const { threads } = options.scenario
    const channels = Array.from({ length: threads }, () => new MessageChannel())
    this.recorder = this.startRecorder(channels.map((channel) => channel.port2))
    const checks = expectsAnswers(options.scenario) ? channels.map(() => new MessageChannel()) : []
    this.checker = checks.length === 0 ? null : this.startChecker(checks.map(({ port2 }) => port2))
    const first = options.shard.index * threads
    this.senders = channels.map(({ port1 }, thread) =>
      this.startSender(this.senderData(first + thread, port1, checks[thread]?.port1)),
    )
  }

  get size(): number {
    return this.senders.length
  }

  tell(message: ToSender): void {
    for (const sender of this.senders) sender.postMessage(message)
  }

  tellRecorder(message: RecorderControl): void {
    this.recorder.tell(message)
  }

  /** Ends all threads at once, after a failure. */
  async terminate(): Promise<void> {
    const all = [...this.senders, this.recorder, ...(this.checker === null ? [] : [this.checker])]
    await Promise.all(all.map((each) => each.terminate()))
  }

  /** Ends the thread that judges answers, when no sender has one left. */
  async endChecks(): Promise<void> {
    await this.checker?.terminate()
  }

  private startChecker(senders: readonly MessagePort[]): Worker {
    const { steps, modulePath } = this.options.scenario
    const workerData: CheckerData = {
      scenario: { steps, modulePath },
      secrets: secrets.values,
      senders,
    }
    const checker = new Worker(threadFile('../expect/check', import.meta.url), {
      workerData,
      transferList: [...senders],
    })
    this.watch(checker, 'The thread that judges answers')
    return checker
  }

  private startRecorder(senders: readonly MessagePort[]): PlacedRecorder {
    const { dbPath, run, zeroNs, onAttempts } = this.options
    const tellsAttempts = onAttempts !== null
    return startRecorder(
      { dbPath, run, senders, zeroNs, tellsAttempts },
      this.options.store,
      this.listener,
    )
  }

  private startSender(workerData: SenderData): Worker {
    const sender = new Worker(threadFile('../send/sender', import.meta.url), {
      workerData,
      transferList: [
        workerData.recorder,
        ...(workerData.checker === undefined ? [] : [workerData.checker]),
      ],
    })
    sender.on('message', (message: FromSender) => this.listener.onSender(message))
    this.watch(sender, `Sending thread ${workerData.shard}`)
    return sender
  }

  private senderData(
    shard: number,
    recorder: MessagePort,
    checker: MessagePort | undefined,
  ): SenderData {
    const { run, shard: part, ...options } = this.options
    const { scenario, contract, zeroNs, seed, baseUrl, keys, prompts, tls, proxy } = options
    return {
      ...{ scenario, contract, zeroNs, seed, baseUrl, keys, prompts, tls, proxy },
      ...{ shard, recorder, checker, shared: this.shared, secrets: secrets.values },
      runId: run.runId,
      shards: part.of * scenario.threads,
      startedMs: run.startedAtUs / 1000,
      timeScale: run.timeScale,
      openConnections: this.openConnections,
    }
  }

  private watch(worker: Worker, who: string): void {
    worker.on('error', (error) =>
      this.listener.onFailure(new Error(`${who} failed: ${error.stack}`)),
    )
  }
}
