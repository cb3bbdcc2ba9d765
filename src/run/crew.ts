import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { TlsTexts } from '../client/authorities.ts'
import type { Contract } from '../contract/contract.ts'
import type { RunStart } from '../store/runs.ts'
import { secrets } from '../user/secrets/secrets.ts'
import type {
  FromRecorderControl,
  FromSender,
  PromptPool,
  RecorderControl,
  RecorderData,
  ResolvedKey,
  SenderData,
  ToSender,
} from './messages.ts'
import type { Shard } from './shard.ts'
import type { CrewedScenario } from './threads.ts'

export interface CrewOptions {
  readonly scenario: CrewedScenario
  readonly contract: Contract
  readonly run: RunStart
  readonly shard: Shard
  readonly zeroNs: bigint
  readonly seed: number
  readonly baseUrl: string
  readonly dbPath: string
  readonly keys: readonly ResolvedKey[]
  readonly prompts: readonly PromptPool[]
  readonly tls: TlsTexts
  readonly proxy: string | null
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
  private readonly recorder: Worker
  private readonly senders: Worker[]

  constructor(options: CrewOptions, shared: SharedArrayBuffer, listener: CrewListener) {
    this.options = options
    this.shared = shared
    this.listener = listener
    const { threads } = options.scenario
    const channels = Array.from({ length: threads }, () => new MessageChannel())
    this.recorder = this.startRecorder(channels.map((channel) => channel.port2))
    const first = options.shard.index * threads
    this.senders = channels.map(({ port1 }, thread) =>
      this.startSender(this.senderData(first + thread, port1)),
    )
  }

  get size(): number {
    return this.senders.length
  }

  tell(message: ToSender): void {
    for (const sender of this.senders) sender.postMessage(message)
  }

  tellRecorder(message: RecorderControl): void {
    this.recorder.postMessage(message)
  }

  /** Ends all threads at once, after a failure. */
  async terminate(): Promise<void> {
    const workers = [...this.senders, this.recorder]
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

  private startSender(workerData: SenderData): Worker {
    const sender = startWorker('sender', { workerData, transferList: [workerData.recorder] })
    sender.on('message', (message: FromSender) => this.listener.onSender(message))
    this.watch(sender, `Sending thread ${workerData.shard}`)
    return sender
  }

  private senderData(shard: number, recorder: MessagePort): SenderData {
    const { options } = this
    return {
      runId: options.run.runId,
      shard,
      shards: options.shard.of * options.scenario.threads,
      zeroNs: options.zeroNs,
      seed: options.seed,
      baseUrl: options.baseUrl,
      contract: options.contract,
      scenario: options.scenario,
      keys: options.keys,
      secrets: secrets.values,
      prompts: options.prompts,
      tls: options.tls,
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
  name: 'sender' | 'recorder',
  options: ConstructorParameters<typeof Worker>[1],
) {
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return new Worker(new URL(`./${name}.worker.${ending}`, import.meta.url), options)
}
