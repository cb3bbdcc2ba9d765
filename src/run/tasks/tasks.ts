import type { TaskRow } from '../../attempt/evidence.ts'
import type { Attempt } from '../../client/row/attempt.ts'
import type { ActivePhase } from '../send/active-phase.ts'
import { DueQueue } from '../send/due.ts'
import type { Flight, User } from '../send/flight.ts'
import { RunningTask } from './running-task.ts'
import { type Following, TaskProgress } from './task-progress.ts'

/** What tasks need of the sending thread. */
export interface TaskOwner {
  readonly runId: string
  newId(): number
  keyOf(phase: ActivePhase, index: number): number
  draw(task: RunningTask, number: number, atUs: number): Flight
  /** Invents the conversation of a request that ended before the task started. */
  invent(task: RunningTask, number: number): void
  /** Sends it when it is due. */
  plan(flight: Flight): void
  /** A task is over. @param isRefused whether a request of it could not be sent, so that another would not be, either */
  over(user: User | null, nowUs: number, isRefused: boolean): void
  onDueSooner(): void
}

/** The tasks of one sending thread. The thread that owns an index of the plan sends all requests of its task. */
export class Tasks {
  private readonly owner: TaskOwner
  private readonly running = new Set<RunningTask>()
  private readonly deadlines: DueQueue<RunningTask>
  private rows: TaskRow[] = []

  constructor(owner: TaskOwner) {
    this.owner = owner
    this.deadlines = new DueQueue(() => owner.onDueSooner())
  }

  /** The next deadline; Infinity for none. */
  get nextUs(): number {
    return this.deadlines.nextUs
  }

  take(): readonly TaskRow[] {
    const taken = this.rows
    this.rows = []
    return taken
  }

  start(phase: ActivePhase, index: number, atUs: number, user: User | null): void {
    const { task, plan, begun } = phase.planOf(index)
    const progress = new TaskProgress(plan, atUs, begun)
    const id = this.owner.newId()
    const key = this.owner.keyOf(phase, index)
    const running = new RunningTask({ id, task, phase, index, key, user, progress })
    this.running.add(running)
    phase.taskTrial?.began(index, atUs)
    for (let number = 0; number < begun.from; number++) this.owner.invent(running, number)
    if (task.deadlineUs !== null) this.deadlines.add(atUs + task.deadlineUs, running)
    this.follow(running, { due: progress.begin(), dropped: [] }, atUs)
  }

  /** The last attempt of a turn has ended. */
  ended(flight: Flight, attempt: Attempt, nowUs: number): void {
    const task = flight.task!
    const isOk = attempt.outcome === 'ok'
    task.flights.delete(flight.turn)
    if (isOk) task.keep(flight, attempt)
    this.follow(task, task.progress.end(flight.turn, isOk, nowUs), nowUs)
  }

  /** A turn was not sent, so its task cannot succeed. */
  notSent(flight: Flight, nowUs: number): void {
    const task = flight.task!
    task.flights.delete(flight.turn)
    task.isRefused = true
    task.progress.cut('failed')
    task.progress.leave(flight.turn)
    this.checkOver(task, nowUs)
  }

  /** Whether a flight that is due is still wanted. */
  wants(flight: Flight): boolean {
    return flight.task!.flights.get(flight.turn) === flight
  }

  /** Aborts the tasks whose deadline has passed. */
  cutOverdue(nowUs: number): void {
    while (this.deadlines.nextUs <= nowUs) {
      const task = this.deadlines.take()
      if (!this.running.has(task)) continue
      task.progress.cut('deadline')
      this.drop(task, [...task.flights.keys()], 'deadline')
      this.checkOver(task, nowUs)
    }
  }

  /** Starts no more requests. Those in flight end by themselves. */
  stop(nowUs: number): void {
    for (const task of [...this.running]) {
      task.progress.cut('stopped')
      const due = [...task.flights].filter(([, flight]) => flight.running === null)
      this.drop(
        task,
        due.map(([number]) => number),
        'stopped',
      )
      this.checkOver(task, nowUs)
    }
  }

  private follow(task: RunningTask, { due, dropped }: Following, nowUs: number): void {
    this.drop(task, dropped, 'join')
    for (const { number, atUs } of due) {
      // The loop's request before this one could not be sent: `plan` said so at once.
      if (task.progress.isCut) {
        task.progress.leave(number)
        continue
      }
      const flight = this.owner.draw(task, number, atUs)
      task.flights.set(number, flight)
      this.owner.plan(flight)
    }
    this.checkOver(task, nowUs)
  }

  private drop(task: RunningTask, numbers: readonly number[], reason: string): void {
    for (const number of numbers) {
      const flight = task.flights.get(number)
      if (flight === undefined) continue
      if (flight.running !== null) flight.running.abort(reason)
      else {
        task.flights.delete(number)
        task.progress.leave(number)
      }
    }
  }

  private checkOver(task: RunningTask, nowUs: number): void {
    const { progress, phase, user, isRefused } = task
    const { outcome } = progress
    if (outcome === null || !this.running.delete(task)) return
    phase.taskTrial?.over(task.index, { outcome, isRefused, tookUs: nowUs - progress.startUs })
    const endedUs = outcome === 'ok' || outcome === 'failed' ? progress.lastUs : nowUs
    this.rows.push({
      runId: this.owner.runId,
      session: task.id,
      task: task.task.name,
      phase: phase.run.name,
      part: phase.run.part,
      intendedUs: Math.round(progress.startUs),
      endedUs: Math.round(endedUs),
      outcome,
      requests: progress.requests,
      skipped: progress.skipped,
      // Of a task that was cut off, all that is not known to be service.
      waitUs: Math.round(progress.waitUs + endedUs - progress.lastUs),
    })
    this.owner.over(user, nowUs, isRefused)
  }
}
