import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { Contract } from '../contract/contract.ts'
import type { Scenario } from '../scenario/scenario.ts'
import type { RunStart } from '../store/runs.ts'
import type {
  FromRecorderControl,
  FromSender,
  PhaseRun,
  PromptPool,
  RecorderControl,
  RecorderData,
  ResolvedKey,
  SenderData,
  ToRecorder,
  ToSender,
} from './messages.ts'

/** What the threads of a run are given. */
export interface CrewOptions {
  readonly scenario: Scenario
  readonly contract: Contract
  readonly run: RunStart
  readonly zeroNs: bigint
  readonly seed: number
  readonly baseUrl: string
  readonly dbPath: string
  readonly keys: readonly ResolvedKey[]
  readonly prompts: readonly PromptPool[]
  readonly ca: string | null
  readonly proxy: string | null
}

/** Who hears of the threads. */
export interface CrewListener {
  onSender(message: FromSender): void
  onRecorder(message: FromRecorderControl): void
  onFailure(error: Error): void
}

/**
 * The threads of a run: one recorder, the senders, and one more for each phase that saturates. Each
 * sender has a port of its own to the recorder, made before there is anybody at either end.
 */
export class Crew {
  private readonly options: CrewOptions
  private readonly listener: CrewListener
  private readonly shared: SharedArrayBuffer
  private readonly recorder: Worker
  private readonly senders: Worker[]
  private readonly saturating: Worker[] = []
  /** Ports to the recorder for phases that are yet to saturate. */
  private readonly spare: MessagePort[]

  constructor(options: CrewOptions, shared: SharedArrayBuffer, listener: CrewListener) {
    this.options = options
    this.shared = shared
    this.listener = listener
    const { phases, threads } = options.scenario
    const more = phases.filter((phase) => phase.load.kind === 'saturate').length
    const channels = Array.from({ length: threads + more }, () => new MessageChannel())
    const ports = channels.map((channel) => channel.port1)
    this.recorder = this.startRecorder(channels.map((channel) => channel.port2))
    this.senders = ports
      .slice(0, threads)
      .map((port, shard) => this.startSender('sender', this.senderData(shard, port)))
    this.spare = ports.slice(threads)
  }

  /** Senders of both kinds that were started. */
  get size(): number {
    return this.senders.length + this.saturating.length
  }

  /** Starts a thread for a phase that saturates. */
  saturate(phase: PhaseRun, connections: number): void {
    const data = { ...this.senderData(this.size, this.spare.shift()!), phase, connections }
    this.saturating.push(this.startSender('saturate', data))
  }

  tell(message: ToSender): void {
    for (const sender of [...this.senders, ...this.saturating]) sender.postMessage(message)
  }

  tellRecorder(message: RecorderControl): void {
    this.recorder.postMessage(message)
  }

  /** Says for the phases that never saturated that nothing will come from them. */
  endSpare(): void {
    for (const port of this.spare) {
      port.postMessage({ batch: null, templates: [], bodies: [], last: true } satisfies ToRecorder)
    }
  }

  /** Ends all threads at once: after a failure. */
  async terminate(): Promise<void> {
    const workers = [...this.senders, ...this.saturating, this.recorder]
    await Promise.all(workers.map((worker) => worker.terminate()))
  }

  private startRecorder(senders: readonly MessagePort[]): Worker {
    const { dbPath, run, zeroNs } = this.options
    const recorder = startWorker('recorder', {
      workerData: { dbPath, run, senders, zeroNs } satisfies RecorderData,
      transferList: [...senders],
    })
    recorder.on('message', (message: FromRecorderControl) => this.listener.onRecorder(message))
    this.watch(recorder, 'The recorder')
    return recorder
  }

  private startSender(name: 'sender' | 'saturate', workerData: SenderData): Worker {
    const sender = startWorker(name, { workerData, transferList: [workerData.recorder] })
    sender.on('message', (message: FromSender) => this.listener.onSender(message))
    this.watch(sender, `Sending thread ${workerData.shard}`)
    return sender
  }

  private senderData(shard: number, recorder: MessagePort): SenderData {
    const { options } = this
    return {
      runId: options.run.runId,
      shard,
      shards: options.scenario.threads,
      zeroNs: options.zeroNs,
      seed: options.seed,
      baseUrl: options.baseUrl,
      contract: options.contract,
      scenario: options.scenario,
      keys: options.keys,
      prompts: options.prompts,
      ca: options.ca,
      proxy: options.proxy,
      shared: this.shared,
      recorder,
    }
  }

  private watch(worker: Worker, who: string): void {
    worker.on('error', (error) =>
      this.listener.onFailure(new Error(`${who} failed: ${error.stack}`)),
    )
  }
}

function startWorker(
  name: 'sender' | 'recorder' | 'saturate',
  options: ConstructorParameters<typeof Worker>[1],
) {
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return new Worker(new URL(`./${name}.worker.${ending}`, import.meta.url), options)
}
