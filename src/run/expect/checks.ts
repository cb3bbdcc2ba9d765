import type { MessagePort } from 'node:worker_threads'
import type { Scenario } from '../../scenario/scenario.ts'
import { type AnswerVerdict, unchecked } from './judge.ts'

/** An answer on its way to the thread that judges it. */
export interface ToCheck {
  readonly id: number
  /** Index of its step. */
  readonly step: number
  /** As it arrived, or as it is captured. */
  readonly body: string | Uint8Array
  readonly isWhole: boolean
  /** Whether the body itself is the answer, if no format of ours finds a text in it. */
  readonly isText: boolean
  readonly completionTokens: number | null
}

export interface Checked {
  readonly id: number
  readonly verdict: AnswerVerdict
  /** The answer, cut, without keys; empty if it is correct. */
  readonly shown: string
}

export interface CheckerData {
  readonly scenario: Pick<Scenario, 'steps' | 'modulePath'>
  readonly secrets: readonly string[]
  readonly senders: readonly MessagePort[]
}

/** Answers that may wait for a verdict; more would fill the memory. */
const mostWaiting = 10_000
const mostCharacters = 64 << 20
/** Without any verdict for so long, the judge is taken for lost, until it returns one. */
const patienceMs = 10_000

interface Waiting<Ticket> {
  readonly ticket: Ticket
  readonly characters: number
}

/** The answers of one sending thread that wait for a verdict. Each gets exactly one. */
export class Checks<Ticket> {
  private readonly port: MessagePort
  private readonly onVerdict: (ticket: Ticket, verdict: AnswerVerdict, shown: string) => void
  private readonly waiting = new Map<number, Waiting<Ticket>>()
  private batch: ToCheck[] = []
  private characters = 0
  private next = 0
  private isLost = false
  private patience: NodeJS.Timeout | undefined

  constructor(port: MessagePort, onVerdict: Checks<Ticket>['onVerdict']) {
    this.port = port
    this.onVerdict = onVerdict
    port.on('message', (checked: readonly Checked[]) => this.receive(checked))
  }

  get size(): number {
    return this.waiting.size
  }

  ask(ticket: Ticket, answer: Omit<ToCheck, 'id'>): void {
    const characters = answer.body.length
    const isFull = this.waiting.size >= mostWaiting || this.characters + characters > mostCharacters
    if (isFull || this.isLost) {
      const why = this.isLost ? 'the checks did not answer' : 'the checks fell behind the load'
      this.onVerdict(ticket, unchecked(why), '')
      return
    }
    const id = this.next++
    this.waiting.set(id, { ticket, characters })
    this.characters += characters
    this.batch.push({ ...answer, id })
    // Answers that one poll of the event loop read go together.
    if (this.batch.length === 1) setImmediate(() => this.send())
    this.patience ??= setTimeout(() => this.giveUp(), patienceMs)
  }

  close(): void {
    clearTimeout(this.patience)
    this.port.close()
  }

  private send(): void {
    const { batch } = this
    this.batch = []
    this.port.postMessage(batch)
  }

  private receive(checked: readonly Checked[]): void {
    clearTimeout(this.patience)
    this.patience = undefined
    // It was late, as on a machine that stood still, and is not lost.
    this.isLost = false
    for (const { id, verdict, shown } of checked) this.settle(id, verdict, shown)
    if (this.waiting.size > 0) this.patience = setTimeout(() => this.giveUp(), patienceMs)
  }

  private settle(id: number, verdict: AnswerVerdict, shown: string): void {
    const waiting = this.waiting.get(id)
    if (waiting === undefined) return
    this.waiting.delete(id)
    this.characters -= waiting.characters
    this.onVerdict(waiting.ticket, verdict, shown)
  }

  private giveUp(): void {
    this.isLost = true
    for (const id of [...this.waiting.keys()]) {
      this.settle(id, unchecked('the checks did not answer'), '')
    }
  }
}
