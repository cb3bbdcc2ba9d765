import type { LocalLimit, NotSentReason } from '../../attempt/outcome.ts'
import type { AttemptClient } from '../../client/call/client.ts'
import type { Attempt } from '../../client/row/attempt.ts'
import type { Phase } from '../../scenario/loads.ts'
import { countEnded } from '../count/count-ended.ts'
import { TimeHistogram } from '../count/time-histogram.ts'
import { MachineShare } from '../crew/machine-share.ts'
import type { PhaseRun, SenderReport } from '../crew/messages.ts'
import { SharedNumbers, shareOf } from '../crew/shared.ts'
import { answerOf } from '../expect/answer.ts'
import { Examiner, type Standing } from '../expect/examiner.ts'
import { Reservations } from '../money/reservations.ts'
import { RunMoney } from '../money/run-money.ts'
import { KeptBodies } from '../record/kept-bodies.ts'
import { RowWriter } from '../record/row-writer.ts'
import { Tasks } from '../tasks/tasks.ts'
import { ActivePhase } from './active-phase.ts'
import { DueQueue } from './due.ts'
import { Flight, type FlightOwner, type User } from './flight.ts'
import { FlightDraws } from './flight-draws.ts'
import { FlightPool } from './flight-pool.ts'
import { GivenPhases } from './given-phases.ts'
import { InFlight } from './in-flight.ts'
import { KeysSeen } from './keys-seen.ts'
import { Requester, type RequesterParts } from './requester.ts'
import { Retries } from './retries.ts'
import { Users } from './users.ts'

export interface SenderParts extends RequesterParts {
  readonly client: AttemptClient
  readonly now: () => number
  readonly handOver: ConstructorParameters<typeof RowWriter>[1]
  readonly onIssued: (ordinal: number) => void
  /** Every request of the first `phases` phases has ended. */
  readonly onDrained: (phases: number) => void
  readonly onIdle: () => void
  /** Something new is due before all others. */
  readonly onDueSooner: () => void
}

/**
 * One thread's share of a run: it sends due requests and writes a row when each ends.
 *
 *     plan ─▶ dispatch ─▶ launch ─┬─▶ client ─▶ ended ─▶ row ─┬─▶ next turn, user or retry: due
 *                                 └─▶ not sent ─▶ row         └─▶ flight is free again
 */
export class Sender implements FlightOwner {
  readonly rows: RowWriter
  private readonly parts: SenderParts
  private readonly requester: Requester
  readonly bodies: KeptBodies
  /** Null if no step expects anything of its answers. */
  readonly examiner: Examiner | null
  /** Null if no requests of the scenario wait for others. */
  private readonly tasks: Tasks | null
  private readonly shared: SharedNumbers
  private readonly money: RunMoney | null
  private readonly reservations: Reservations
  private readonly phases = new GivenPhases()
  private readonly due: DueQueue<Flight | User>
  private readonly pool: FlightPool
  private readonly draws: FlightDraws
  private readonly flying = new InFlight()
  private readonly share: MachineShare
  private readonly users: Users
  private readonly maxInFlight: number
  private readonly retries: Retries
  private readonly keysSeen: KeysSeen
  private stopping = false
  private finishing = false
  /** The number of phases in a pending `drain`; null for none. */
  private draining: number | null = null
  /** Lags since the last report. */
  private readonly lags = new TimeHistogram()

  constructor(parts: SenderParts) {
    this.pool = new FlightPool(this, parts.data.scenario.tokenDeadlines)
    this.parts = parts
    const { data } = parts
    const { scenario, shard, shards } = data
    this.rows = new RowWriter(data, parts.handOver)
    this.examiner =
      data.checker === undefined
        ? null
        : new Examiner(data.checker, data.runId, this.rows, () => this.checkIdle())
    this.shared = new SharedNumbers(data.shared, shards === 1)
    this.money = RunMoney.of(scenario, data.contract, this.shared.money, data.startedMs)
    this.reservations = new Reservations(this.shared, this.money)
    this.maxInFlight = shareOf(scenario.policy.maxInFlight, shard, shards)
    this.retries = new Retries(data)
    this.keysSeen = new KeysSeen(data.keys.length)
    this.bodies = new KeptBodies(data.runId, scenario.capture)
    this.requester = new Requester(parts)
    this.draws = new FlightDraws(this.requester, this.pool)
    this.share = new MachineShare(data, this.shared, this.requester.plans)
    this.due = new DueQueue(parts.onDueSooner)
    this.users = new Users({
      due: this.due,
      share: this.share,
      isStopping: () => this.stopping,
      begin: (phase, index, atUs, user) => this.begin(phase, index, atUs, user),
      issued: (phase) => this.issued(phase),
    })
    const waits = ({ load }: Phase) => load.kind === 'replay' && load.gaps !== null
    const hasTasks = scenario.tasks.length > 0 || scenario.phases.some(waits)
    this.tasks = hasTasks ? this.openTasks() : null
  }

  /** When something is next due; Infinity if only responses are awaited. */
  get nextUs(): number {
    return Math.min(this.due.nextUs, this.tasks?.nextUs ?? Infinity, this.phases.nextUs)
  }

  addPhase(run: PhaseRun): void {
    if (this.stopping) return
    const { scenario, seed, shard, shards } = this.parts.data
    const phase = new ActivePhase(run, scenario, seed)
    this.phases.list.push(phase)
    if (phase.arrivals !== null) {
      if (this.share.advance(phase)) this.parts.onDueSooner()
      else this.issued(phase)
      return
    }
    this.users.join(phase, shard, shards)
  }

  /** No more phases follow. */
  finish(): void {
    this.finishing = true
    this.checkIdle()
  }

  /** Calls `onDrained` once when every request of the first `phases` phases has ended. */
  drain(phases: number): void {
    this.draining = phases
    this.checkIdle()
  }

  /** Starts no more requests of a phase. */
  endPhase(ordinal: number): void {
    const phase = this.phases.list.find(({ run }) => run.ordinal === ordinal)
    if (phase !== undefined && !phase.issued) this.issued(phase)
    this.checkIdle()
  }

  /** Starts no more requests; with `now`, aborts those in flight. */
  stop(now: boolean): void {
    this.stopping = true
    for (const phase of this.phases.list) if (!phase.issued) this.issued(phase)
    this.tasks?.stop(this.parts.now())
    for (const thing of this.due.clear()) if (thing instanceof Flight) this.pool.release(thing)
    if (now) this.flying.abort('stopped')
    this.checkIdle()
  }

  /** Sends all due requests. Call it often. */
  tick(): void {
    const nowUs = this.parts.now()
    for (const phase of this.phases.list) {
      if (phase.issued) continue
      const { arrivals, run } = phase
      if (arrivals === null) {
        if (nowUs >= phase.endUs) this.issued(phase)
        continue
      }
      while (run.startUs + arrivals.atUs <= nowUs) {
        this.begin(phase, arrivals.index, run.startUs + arrivals.atUs, null)
        if (this.stopping) return
        if (this.share.advance(phase)) continue
        this.issued(phase)
        break
      }
    }
    this.tasks?.cutOverdue(nowUs)
    while (this.due.nextUs <= nowUs) {
      const atUs = this.due.nextUs
      const thing = this.due.take()
      if (thing instanceof Flight) this.launch(thing)
      else this.users.act(thing, atUs)
    }
    this.checkIdle()
  }

  get inFlight(): number {
    return this.flying.size
  }

  /** Evidence for the next message to the recorder. */
  takeEvidence() {
    return {
      templates: this.requester.takeTemplates(),
      bodies: this.bodies.take(),
      wrongAnswers: this.examiner?.take() ?? [],
      tasks: this.tasks?.take() ?? [],
    }
  }

  /** Lag of the requests since the last call, in microseconds; null without any. */
  takeLagP99Us(): number | null {
    const p99Us = this.lags.percentile(99)
    this.lags.take()
    return p99Us
  }

  report(): Pick<SenderReport, 'steps' | 'keys' | 'trial'> {
    return {
      steps: this.phases.takeCounts(),
      keys: this.keysSeen.report(),
      trial: this.phases.trial(this.flying, this.parts.now()),
    }
  }

  ended(flight: Flight, attempt: Attempt): void {
    const nowUs = attempt.endedUs
    this.flying.remove(flight)
    if (attempt.outcome === 'not_sent') {
      this.notStarted(flight, attempt.reason as LocalLimit)
      return
    }
    const { plan, user } = flight
    const keepBody = this.bodies.keep(flight, attempt)
    const isTurn = flight.task !== null
    const answer = flight.conversation === null || isTurn ? null : answerOf(attempt.captured)
    const standing = this.count(flight, attempt)
    if (plan.examines && attempt.outcome === 'ok' && this.examiner !== null) {
      const place = this.rows.writeUnjudged(flight, attempt, keepBody, nowUs)
      this.examiner.examine(flight, attempt, place, standing)
    } else this.rows.writeEnded(flight, attempt, keepBody, nowUs)
    if (this.bodies.isFull) this.rows.flush()
    if (flight.key >= 0 && plan.sendsKey) this.keysSeen.see(flight.key, attempt)
    if (this.retry(flight, attempt, nowUs)) return
    if (isTurn) this.tasks!.ended(flight, attempt, nowUs)
    const next =
      attempt.outcome === 'ok' && answer !== null && !this.stopping
        ? this.draws.nextTurn(flight, answer, nowUs)
        : null
    if (next !== null) this.due.add(next.intendedUs, next)
    this.pool.release(flight)
    if (next !== null) return
    if (user !== null) this.users.think(user, nowUs)
    this.checkIdle()
  }

  /** @returns what the request counts as so far */
  private count(flight: Flight, attempt: Attempt): Standing {
    const { phase, plan } = flight
    const counters = phase.countersOf(plan.index)
    const { judged, good, maybeGood } = counters
    countEnded(flight, attempt, this.parts.data.scenario.objectives, this.shared)
    this.money?.ended(flight, attempt, counters)
    // What nobody knows to be good or bad decides no trial.
    const isOpen = counters.maybeGood > maybeGood
    if (isOpen) phase.trial?.undecided(flight, attempt)
    const decided = isOpen ? 0 : counters.judged - judged
    phase.trial?.ended(flight, attempt, decided, counters.good - good)
    if (isOpen) return 'maybeGood'
    return counters.good > good ? 'good' : 'missed'
  }

  private issued(phase: ActivePhase): void {
    phase.issued = true
    // Users in think time send nothing more, so neither a drain nor the end waits for them.
    if (phase.arrivals === null) {
      this.due.drop((thing) => !(thing instanceof Flight) && thing.phase === phase)
    }
    this.parts.onIssued(phase.run.ordinal)
  }

  /** Sends a request of a phase, or starts a task. @param user of a closed load; null for none */
  private begin(phase: ActivePhase, index: number, intendedUs: number, user: User | null): void {
    if (phase.drawsTasks) {
      this.tasks!.start(phase, index, intendedUs, user)
      return
    }
    const flight = this.draws.first(phase, index, intendedUs)
    flight.user = user
    this.launch(flight)
  }

  private launch(flight: Flight): void {
    if (flight.task !== null && !this.tasks!.wants(flight)) {
      this.pool.release(flight)
      return
    }
    const counters = flight.phase.countersOf(flight.plan.index)
    counters.planned++
    const refused = this.refusal(flight)
    if (refused !== null) {
      flight.phase.trial?.refused(false)
      this.notSent(flight, refused)
      return
    }
    const capture = this.bodies.choiceFor(flight)
    flight.itl.clear()
    flight.hasContent = false
    const running = this.parts.client.start(flight.request, flight, capture)
    flight.running = running
    this.flying.add(flight)
    const lagUs = running.dispatchedUs - flight.intendedUs
    this.lags.record(lagUs)
    flight.phase.trial?.started(lagUs)
  }

  /** Why a flight may not start now; null if it may, with its credits reserved. */
  private refusal(flight: Flight): NotSentReason | null {
    if (this.stopping) return 'stopped'
    if (this.flying.size >= this.maxInFlight) return 'max-in-flight'
    return this.reservations.reserve(flight) ? null : 'budget'
  }

  /** Handles a flight for which this machine could open no connection. */
  private notStarted(flight: Flight, reason: LocalLimit): void {
    this.reservations.release(flight)
    flight.phase.countersOf(flight.plan.index).error(reason)
    flight.phase.trial?.refused(true)
    this.notSent(flight, reason)
    this.checkIdle()
  }

  private notSent(flight: Flight, reason: NotSentReason): void {
    const nowUs = this.parts.now()
    flight.phase.countersOf(flight.plan.index).ended('not_sent')
    this.rows.writeNotSent(flight, reason, nowUs)
    const { user } = flight
    if (flight.task !== null) this.tasks!.notSent(flight, nowUs)
    this.pool.release(flight)
    // A user whose request could not be sent tries again later, not at the same instant. Only failures
    // free budget, and the run checks each second whether it is spent.
    const waitUs = reason === 'budget' ? 1e6 : 10_000
    if (user !== null && !this.stopping) this.due.add(nowUs + waitUs, user)
  }

  /** Plans the next attempt of the same request. @returns false if the policy allows none */
  private retry(flight: Flight, attempt: Attempt, nowUs: number): boolean {
    const delayMs = this.stopping ? null : this.retries.delayMs(flight, attempt)
    if (delayMs === null) return false
    flight.retry++
    flight.intendedUs = nowUs + delayMs * 1000
    this.due.add(flight.intendedUs, flight)
    return true
  }

  private openTasks(): Tasks {
    return new Tasks({
      runId: this.parts.data.runId,
      newId: () => this.requester.newConversation(),
      keyOf: (phase, index) => this.draws.keyOf(phase, index),
      draw: (task, number, atUs) => this.draws.taskTurn(task, number, atUs),
      invent: (task, number) => this.draws.inventTaskTurn(task, number),
      plan: (flight) => {
        if (flight.intendedUs > this.parts.now()) this.due.add(flight.intendedUs, flight)
        else this.launch(flight)
      },
      over: (user, nowUs, isRefused) => {
        if (user !== null && isRefused && !this.stopping) this.due.add(nowUs + 1e6, user)
        else if (user !== null) this.users.think(user, nowUs)
        this.checkIdle()
      },
      onDueSooner: this.parts.onDueSooner,
    })
  }

  private checkIdle(): void {
    const { draining } = this
    const isEnding = this.finishing || this.stopping
    if (!isEnding && draining === null) return
    if (this.flying.size > 0 || this.due.size > 0) return
    if (this.examiner !== null && this.examiner.size > 0) return
    if (!this.phases.areIssued) return
    this.draining = null
    if (draining !== null) this.parts.onDrained(draining)
    if (isEnding) this.parts.onIdle()
  }
}
