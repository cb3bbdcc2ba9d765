import type { MessagePort } from 'node:worker_threads'
import type { WrongAnswerRow } from '../../attempt/evidence.ts'
import type { Attempt } from '../../client/row/attempt.ts'
import type { OpenRow, RowWriter } from '../record/row-writer.ts'
import type { ActivePhase } from '../send/active-phase.ts'
import type { Flight } from '../send/flight.ts'
import { Checks } from './checks.ts'
import type { AnswerVerdict } from './judge.ts'

/** Wrong answers that each thread stores of each phase. */
const mostWrong = 10

interface Examined {
  readonly phase: ActivePhase
  readonly step: number
  readonly slot: number
  readonly retry: number
  readonly place: OpenRow
  /** What it was counted as, as if it were correct. */
  readonly standing: Standing
}

/** What a request counts as; `maybeGood` if an objective that it has is not known to be met. */
export type Standing = 'good' | 'maybeGood' | 'missed'

/** Has the successes of one sending thread judged by what they say, and counts the verdicts. */
export class Examiner {
  private readonly checks: Checks<Examined>
  private readonly runId: string
  private readonly rows: RowWriter
  private readonly onVerdict: () => void
  private readonly kept = new Map<ActivePhase, number>()
  private wrong: WrongAnswerRow[] = []

  constructor(port: MessagePort, runId: string, rows: RowWriter, onVerdict: () => void) {
    this.runId = runId
    this.rows = rows
    this.onVerdict = onVerdict
    this.checks = new Checks(port, (examined, verdict, shown) =>
      this.settle(examined, verdict, shown),
    )
  }

  /** Answers that are not judged yet. */
  get size(): number {
    return this.checks.size
  }

  /** @param standing what the request counts as if the answer is correct */
  examine(flight: Flight, attempt: Attempt, place: OpenRow, standing: Standing): void {
    const { phase, plan, slot, retry } = flight
    const { captured, rawBody, completionTokens } = attempt
    const truncated = (captured ?? rawBody)?.truncated ?? true
    this.checks.ask(
      { phase, step: plan.index, slot, retry, place, standing },
      {
        step: plan.index,
        body: captured?.body ?? rawBody?.bytes ?? '',
        isWhole: !truncated,
        isText: plan.step.endpoint === 'other',
        completionTokens: Number.isNaN(completionTokens) ? null : completionTokens,
      },
    )
  }

  /** Evidence for the next message to the recorder. */
  take(): readonly WrongAnswerRow[] {
    const taken = this.wrong
    this.wrong = []
    return taken
  }

  close(): void {
    this.checks.close()
  }

  private settle(examined: Examined, verdict: AnswerVerdict, answer: string): void {
    const { phase, step, slot, retry, place, standing } = examined
    this.rows.judge(place, verdict.answer)
    const counters = phase.countersOf(step)
    if (verdict.answer !== 'unchecked') counters.examined++
    if (verdict.answer === 'correct') counters.correct++
    else {
      const isOpen = verdict.answer === 'unchecked'
      if (standing === 'good' || (standing === 'maybeGood' && !isOpen)) {
        counters[standing]--
        if (isOpen) counters.maybeGood++
        phase.trial?.disappointed(slot)
      }
      const kept = this.kept.get(phase) ?? 0
      if (kept < mostWrong) {
        this.kept.set(phase, kept + 1)
        this.wrong.push({ runId: this.runId, slot, retry, why: verdict.why, answer })
      }
    }
    this.onVerdict()
  }
}
