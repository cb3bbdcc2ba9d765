import {
  arenaBytes,
  Batch,
  type BatchColumns,
  type BatchMessage,
  Dictionary,
  nullCount,
  nullWord,
} from '../../attempt/batch.ts'
import { attemptColumns, type ColumnName } from '../../attempt/columns.ts'
import { fingerprintOf } from '../../attempt/fingerprint.ts'
import { flags } from '../../attempt/flags.ts'
import {
  type AnswerJudgement,
  answerJudgements,
  type NotSentReason,
} from '../../attempt/outcome.ts'
import type { PreparedRequest } from '../../client/call/request.ts'
import type { Attempt } from '../../client/row/attempt.ts'
import { plainSuccessColumns, responseColumns } from '../../client/row/columns.ts'
import { words } from '../../user/words.ts'
import type { DeadlineCounter } from '../count/token-deadlines.ts'
import type { PhaseRun } from '../crew/messages.ts'
import type { StepPlan } from '../plan/step-plan.ts'
import type { Flight } from '../send/flight.ts'
import type { ResolvedKey } from '../send/keys.ts'

/** Columns that rows of one phase, step, key and kind of request share. */
const requestColumns = [
  ...words('runId retry shard phase part step session turn keyFp account endpoint streamed model'),
  ...words('expects answer task taskTurn'),
] as const satisfies readonly ColumnName[]

/** Columns that are constant in a run of rows: only the first row is written, the rest when the run ends. */
class Run {
  /** Its first row; -1 outside a run. */
  from = -1
  private readonly names: readonly ColumnName[]

  constructor(names: readonly ColumnName[]) {
    this.names = names
  }

  /** @param row one past its last */
  end(columns: BatchColumns, row: number): void {
    const { from } = this
    this.from = -1
    if (from < 0 || row - from < 2) return
    for (const name of this.names) {
      const cells = columns[name]
      cells.fill(cells[from]!, from + 1, row)
    }
  }
}

/** Longest wait of a row before it goes to the recorder; a kill loses rows that still wait. */
const batchWaitUs = 250_000

/** A row whose answer is not judged yet, in a batch that waits for it. */
export interface OpenRow {
  readonly batch: Batch
  readonly row: number
}

/** Room that a batch reserves for the strings of one row. */
const arenaReserve = 4096

/**
 * Writes rows of flights into batches, and sends full ones. Words that every row repeats are looked up
 * once and kept as codes.
 */
export class RowWriter {
  rows = 0
  /** Batches that the recorder has not given back. */
  queued = 0
  readonly words = new Dictionary()
  private batch = new Batch()
  private readonly free: Batch[] = []
  private beganUs = 0
  private readonly runCode: number
  private readonly shard: number
  private readonly keyCodes: readonly { readonly print: number; readonly account: number }[]
  /** By index of the phase in the run. */
  private readonly phaseCodes: (PhaseCodes | undefined)[] = []
  /** By index of the step in the scenario. */
  private readonly stepCodes: (StepCodes | undefined)[] = []
  private readonly handOver: (message: BatchMessage) => void
  private readonly successes = new Run(plainSuccessColumns)
  private readonly requestRun = new Run(requestColumns)
  /** Full batches in their order, from the first one with an answer that is not judged yet. */
  private readonly held: { readonly batch: Batch; readonly message: BatchMessage }[] = []
  /** By batch, the answers that are not judged yet. */
  private readonly open = new Map<Batch, number>()
  /** Values of the run of rows in progress. */
  private phase: PhaseRun | null = null
  private plan: StepPlan | null = null
  private key = -1
  private retry = 0
  private request: PreparedRequest | null = null

  constructor(
    run: { readonly runId: string; readonly shard: number; readonly keys: readonly ResolvedKey[] },
    handOver: (message: BatchMessage) => void,
  ) {
    this.handOver = handOver
    this.shard = run.shard
    this.runCode = this.words.codeOf(run.runId)
    // Before the first batch: a verdict that arrives late must not need a word that is not yet known.
    for (const word of answerJudgements) this.words.codeOf(word)
    this.keyCodes = run.keys.map((key) => ({
      print: this.words.codeOf(fingerprintOf(key.key)),
      account: this.words.codeOf(key.account),
    }))
  }

  /** @param keepBody whether the body was kept, which sets the flag `captured` */
  writeEnded(flight: Flight, attempt: Attempt, keepBody: boolean, nowUs: number): void {
    // The model that was asked for, whole: a service that names the same one says this word.
    if (flight.request !== this.request) this.word(flight.request.model)
    this.writeResponse(attempt, keepBody)
    this.writeDeadlines(flight.hasContent ? flight.deadlines : null)
    this.writeRequest(flight, this.batch.rows, nowUs)
  }

  /** Writes a row whose answer is still to be judged; its batch waits until `judge` was called with the result. */
  writeUnjudged(flight: Flight, attempt: Attempt, keepBody: boolean, nowUs: number): OpenRow {
    const { batch } = this
    const place = { batch, row: batch.rows }
    this.open.set(batch, (this.open.get(batch) ?? 0) + 1)
    this.writeEnded(flight, attempt, keepBody, nowUs)
    return place
  }

  judge({ batch, row }: OpenRow, answer: AnswerJudgement): void {
    batch.columns.answer[row] = this.words.codeOf(answer)
    const left = this.open.get(batch)! - 1
    if (left > 0) this.open.set(batch, left)
    else {
      this.open.delete(batch)
      this.release()
    }
  }

  private writeResponse(attempt: Attempt, keepBody: boolean): void {
    const { batch } = this
    const row = batch.rows
    if (attempt.isPlainSuccess && this.successes.from >= 0) attempt.writeOwnTo(batch, this.words)
    else {
      this.successes.end(batch.columns, row)
      attempt.writeTo(batch, this.words)
      if (attempt.isPlainSuccess) this.successes.from = row
    }
    if (!keepBody) batch.columns.flags[row]! &= ~flags.captured
  }

  writeNotSent(flight: Flight, reason: NotSentReason, nowUs: number): void {
    const { columns, rows: row } = this.batch
    this.successes.end(columns, row)
    for (const name of responseColumns) {
      const { kind, nullable } = attemptColumns[name]
      switch (kind) {
        case 'word':
          columns[name][row] = nullWord
          break
        case 'text':
          this.batch.setText(name, row, null)
          break
        case 'count':
          columns[name][row] = nullable ? nullCount : 0
          break
        default:
          columns[name][row] = nullable ? Number.NaN : 0
      }
    }
    columns.outcome[row] = this.words.codeOf('not_sent')
    columns.reason[row] = this.words.codeOf(reason)
    this.writeDeadlines(null)
    this.writeRequest(flight, row, nowUs)
  }

  private writeDeadlines(counter: DeadlineCounter | null): void {
    const { columns, rows: row } = this.batch
    columns.deadlines[row] = counter?.all ?? nullCount
    columns.missedDeadlines[row] = counter?.missed ?? nullCount
  }

  /** Sends rows that have waited long enough. A busy thread does so with its next row. */
  handOverInTime(nowUs: number): void {
    if (this.batch.rows > 0 && nowUs - this.beganUs >= batchWaitUs) this.flush()
  }

  flush(): void {
    const { batch } = this
    if (batch.rows === 0) return
    this.successes.end(batch.columns, batch.rows)
    this.requestRun.end(batch.columns, batch.rows)
    this.rows += batch.rows
    const { buffer, rows } = batch
    const message = { buffer, rows, newWords: this.words.takeNew() }
    this.batch = this.free.pop() ?? new Batch()
    if (this.held.length > 0 || this.open.has(batch)) this.held.push({ batch, message })
    else this.give(message)
  }

  private give(message: BatchMessage): void {
    this.queued++
    this.handOver(message)
  }

  /** Hands over held batches in their order, because each brings the words that later ones use. */
  private release(): void {
    while (this.held.length > 0 && !this.open.has(this.held[0]!.batch)) {
      this.give(this.held.shift()!.message)
    }
  }

  /** Takes a buffer back from the recorder. */
  giveBack(buffer: ArrayBuffer): void {
    this.queued--
    if (this.free.length < 64) this.free.push(new Batch(buffer))
  }

  private writeRequest(flight: Flight, row: number, nowUs: number): void {
    const { batch } = this
    const { columns } = batch
    if (row === 0) this.beganUs = nowUs
    columns.slot[row] = flight.slot
    columns.template[row] = flight.template < 0 ? nullCount : flight.template
    columns.intendedUs[row] = Math.round(flight.intendedUs)
    if (!this.asksAsBefore(flight)) {
      this.requestRun.end(columns, row)
      this.writeRequestColumns(flight, row)
    }
    batch.rows = row + 1
    if (
      batch.full ||
      batch.arenaUsed > arenaBytes - arenaReserve ||
      nowUs - this.beganUs >= batchWaitUs
    ) {
      this.flush()
    }
  }

  /** Whether a flight has the same `requestColumns` as the run of rows in progress. */
  private asksAsBefore(flight: Flight): boolean {
    if (this.requestRun.from < 0 || flight.conversation !== null || flight.plan.examines) {
      return false
    }
    const { request } = flight
    const last = this.request!
    return (
      flight.plan === this.plan &&
      flight.phase.run === this.phase &&
      flight.key === this.key &&
      flight.retry === this.retry &&
      (request === last ||
        (request.endpoint === last.endpoint &&
          request.streamed === last.streamed &&
          request.model === last.model))
    )
  }

  private writeRequestColumns(flight: Flight, row: number): void {
    const { columns } = this.batch
    const { phase, plan } = flight
    const named = this.phaseCodesOf(phase.run)
    const step = this.stepCodesOf(plan)
    const key = flight.key < 0 ? null : this.keyCodes[flight.key]!
    columns.runId[row] = this.runCode
    columns.retry[row] = flight.retry
    columns.shard[row] = this.shard
    columns.phase[row] = named.phase
    columns.part[row] = named.part
    columns.step[row] = step.step
    columns.session[row] = flight.conversation === null ? nullCount : flight.conversation.id
    columns.turn[row] = flight.conversation === null ? nullCount : flight.turn
    columns.keyFp[row] = key === null || !plan.sendsKey ? nullWord : key.print
    columns.account[row] = key === null || !plan.sendsKey ? nullWord : key.account
    // A trace may use another endpoint or model than its step.
    columns.endpoint[row] =
      flight.request.endpoint === plan.step.endpoint
        ? step.endpoint
        : this.words.codeOf(flight.request.endpoint)
    columns.streamed[row] = flight.request.streamed ? 1 : 0
    columns.model[row] =
      flight.request.model === plan.step.model ? step.model : this.word(flight.request.model)
    columns.expects[row] = step.expects
    columns.answer[row] = nullWord
    columns.task[row] = this.word(flight.task?.task.name ?? null)
    columns.taskTurn[row] = this.word(flight.task?.turnOf(flight.turn).name ?? null)
    if (flight.conversation !== null || plan.examines) return
    this.requestRun.from = row
    this.phase = phase.run
    this.plan = plan
    this.key = flight.key
    this.retry = flight.retry
    this.request = flight.request
  }

  private word(text: string | null): number {
    return text === null ? nullWord : this.words.codeOf(text)
  }

  private phaseCodesOf({ ordinal, name, part }: PhaseRun): PhaseCodes {
    this.phaseCodes[ordinal] ??= { phase: this.words.codeOf(name), part: this.words.codeOf(part) }
    return this.phaseCodes[ordinal]
  }

  private stepCodesOf({ index, step }: StepPlan): StepCodes {
    this.stepCodes[index] ??= {
      step: this.words.codeOf(step.name),
      endpoint: this.words.codeOf(step.endpoint),
      model: this.word(step.model),
      expects: this.words.codeOf(step.wrong ?? 'ok'),
    }
    return this.stepCodes[index]
  }
}

interface PhaseCodes {
  readonly phase: number
  readonly part: number
}

interface StepCodes {
  readonly step: number
  readonly endpoint: number
  readonly model: number
  readonly expects: number
}
