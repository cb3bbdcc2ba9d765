import type { Phase } from '../../scenario/loads.ts'
import type { Objectives } from '../../scenario/scenario.ts'
import { largest } from '../../user/extremes.ts'
import { given } from '../../user/given.ts'
import { userError } from '../../user/user-error.ts'
import { runClock } from '../clock.ts'
import type { Progress, Searching } from '../count/progress.ts'
import { type Counted, Tally } from '../count/tally.ts'
import { Budget } from '../money/budget.ts'
import { runBilling } from '../money/run-money.ts'
import { boundOf } from '../money/shared-money.ts'
import { Conditions } from '../plan/conditions.ts'
import { stepsOf, tasksOf } from '../plan/phase-steps.ts'
import { Crew, type CrewOptions } from './crew.ts'
import { CrewFigures, threadFailure } from './crew-figures.ts'
import { leadUs, slotAfter, startAfter } from './following.ts'
import type { FromRecorderControl, FromSender, PhaseRun, SenderLoad } from './messages.ts'
import { SharedNumbers } from './shared.ts'
import { cheapestOf, Refusals, reasonToStop, type StopReason } from './stop-conditions.ts'
import type { Said, Team } from './team.ts'

export interface CoordinatorOptions extends CrewOptions {
  readonly team: Team | null
  readonly onProgress: (progress: Progress, counted: Counted) => void
  /** Shortest time between two calls of `onProgress`. */
  readonly progressEveryMs: number
}

/** Time for the word of the last machine to reach the others. */
const togetherUs = 500_000

type PhaseToRun = Pick<
  Phase,
  'name' | 'part' | 'durationUs' | 'maxRequests' | 'steps' | 'tasks' | 'middle'
> &
  Pick<PhaseRun, 'trialRequests' | 'trialTaskUs'>

/**
 * Gives phases to the threads of a run, sums their reports, and ends them. It sends no requests itself.
 */
export class Coordinator {
  readonly tally: Tally
  readonly phases: PhaseRun[] = []
  readonly figures = new CrewFigures()
  readonly shared = new SharedNumbers()
  stopReason: StopReason | null = null
  private readonly options: CoordinatorOptions
  /** Microseconds since the run began. */
  readonly now: () => number
  private readonly crew: Crew
  /** By phase, the number of threads that have sent their share. */
  private readonly issued = new Map<number, number>()
  /** By number of phases, the number of threads whose requests of these have all ended. */
  private readonly drained = new Map<number, number>()
  private readonly conditions = new Conditions()
  private readonly refusals = new Refusals()
  private readonly budget: Budget
  private ready = 0
  private finished = 0
  private recorderState: 'starting' | 'open' | 'closed' = 'starting'

  constructor(options: CoordinatorOptions) {
    this.options = options
    this.now = runClock(options.zeroNs)
    const { scenario, contract, team } = options
    this.shared.bound = scenario.policy.maxCredits ?? Infinity
    const { maxCost } = scenario.policy
    if (maxCost !== null) this.shared.money.bound = boundOf(maxCost)
    this.budget = new Budget(this.shared, team, cheapestOf(scenario, contract))
    this.tally = new Tally(scenario, options.run.runId, this.phases, {
      machines: options.shard.of,
      billing: runBilling(contract, scenario),
    })
    this.crew = new Crew(options, this.shared.buffer, {
      onSender: (message) => this.onSender(message),
      onRecorder: (message) => this.onRecorder(message),
      onFailure: (error) => this.conditions.fail(error),
    })
    team?.onStop((reason) => this.stop(reason))
  }

  /** Resolves when all threads are ready. @throws UserError if the store cannot be opened */
  async start(): Promise<void> {
    await this.conditions.until(() => this.recorderState === 'open')
    await this.conditions.until(() => this.ready === this.options.scenario.threads)
  }

  /**
   * Runs phases in sequence. A phase of known length is followed without a gap.
   *
   * @param firstUs when the first begins; null for as soon as possible
   */
  async runPhases(
    phases: readonly Phase[],
    loads: Loads,
    firstUs: number | null = null,
  ): Promise<void> {
    let startUs = firstUs
    for (const phase of phases) {
      if (this.stopReason !== null) return
      if (phase.load.kind === 'sweep') {
        await this.untilDrained()
        await loads.sweep(this, phase)
        startUs = null
        continue
      }
      startUs ??= await this.agreedStart(`phase ${this.phases.length}`)
      if (this.stopReason !== null) return
      const load = loads.load(phase)
      const run = this.launch(phase, load, startUs)
      startUs = phase === phases.at(-1) ? null : startAfter(run, this.options.seed)
      if (startUs === null) await this.untilIssued(run.ordinal)
    }
  }

  get seed(): number {
    return this.options.seed
  }

  get objectives(): Objectives {
    return this.options.scenario.objectives
  }

  launch(phase: PhaseToRun, load: SenderLoad, startUs: number | null): PhaseRun {
    const { scenario, seed } = this.options
    const before = this.phases.at(-1)
    const run: PhaseRun = {
      ordinal: this.phases.length,
      name: phase.name,
      part: phase.part,
      load,
      startUs: startUs ?? Math.floor(this.now() + leadUs),
      durationUs: phase.durationUs,
      maxRequests: phase.maxRequests,
      steps: stepsOf(scenario, phase.steps),
      ...tasksOf(scenario, phase, load, seed),
      slotBase: before === undefined ? 0 : slotAfter(before, scenario, seed),
      ...given({ trialRequests: phase.trialRequests, trialTaskUs: phase.trialTaskUs }),
    }
    this.phases.push(run)
    this.onPhase?.(phase.name)
    this.crew.tell({ type: 'phase', phase: run })
    return run
  }

  /** The words of all machines under a name; without a team, only the own one. Null if the run was stopped. */
  async gather<Own extends Said>(name: string, own: Own): Promise<readonly Own[] | null> {
    const { team } = this.options
    if (team === null) return [own]
    let said: readonly Own[] | null = null
    let isOver = false
    void team.gather(name, own).then((all) => {
      said = all
      isOver = true
      if (all === null) this.stop('fleet')
      this.conditions.check()
    })
    await this.until(() => isOver)
    return this.stopReason === null ? said : null
  }

  /** A common start for all machines; null without a team, or if the run was stopped. */
  async agreedStart(name: string): Promise<number | null> {
    if (this.options.team === null) return null
    const all = await this.gather(`${name} start`, { atUs: this.now() })
    return all === null ? null : Math.ceil(largest(all.map(({ atUs }) => atUs))) + togetherUs
  }

  /** Starts no more requests of a phase, on this machine. */
  endPhase(ordinal: number): void {
    this.crew.tell({ type: 'end-phase', ordinal })
  }

  /** What a search is trying, for the live view; null without one. */
  searching: Searching | null = null

  /** Called when a phase is given to the senders, shortly before it begins. */
  onPhase: ((name: string) => void) | null = null

  /** Called after each report of a sending thread, while a trial is sent. */
  onReport: (() => void) | null = null

  async untilIssued(ordinal: number): Promise<void> {
    await this.until(() => this.issued.get(ordinal) === this.options.scenario.threads)
  }

  /** Waits until every request so far has ended and is counted, or until `endUs` of the run. */
  async untilDrained(endUs = Infinity): Promise<void> {
    for (const phase of this.phases) await this.untilIssued(phase.ordinal)
    const phases = this.phases.length
    this.crew.tell({ type: 'drain', phases })
    await this.until(() => (this.drained.get(phases) ?? 0) >= this.options.scenario.threads, endUs)
  }

  /** A moment of the run as Unix time. */
  unixMs(us: number): number {
    return (this.options.run.startedAtUs + us) / 1000
  }

  /** Waits for a time, or until the run is stopped. */
  async rest(us: number): Promise<void> {
    await this.until(() => false, this.now() + us)
  }

  /** Waits until the condition holds, until `endUs` of the run, or until the run is stopped. */
  private async until(holds: () => boolean, endUs = Infinity): Promise<void> {
    let isLate = false
    const giveUp = () => {
      isLate = true
      this.conditions.check()
    }
    const leftMs = (endUs - this.now()) / 1000
    const timer = endUs === Infinity ? undefined : setTimeout(giveUp, leftMs)
    await this.conditions
      .until(() => isLate || this.stopReason !== null || holds())
      .finally(() => clearTimeout(timer))
  }

  /** Waits until all requests have ended and the recorder has written them. */
  async finish(): Promise<void> {
    this.crew.tell({ type: 'finish' })
    await this.conditions.until(() => this.finished === this.crew.size)
    await this.crew.endChecks()
    this.crew.tellRecorder({
      type: 'evidence',
      histograms: this.tally.takeHistograms(Infinity),
      health: [],
    })
    this.crew.tellRecorder({ type: 'close' })
    await this.conditions.until(() => this.recorderState === 'closed')
  }

  /** Starts no more requests; with `now`, also aborts those in flight. */
  stop(reason: StopReason, now = false): void {
    if (this.stopReason === null) {
      this.stopReason = reason
      this.options.team?.stop(reason)
    }
    this.crew.tell({ type: 'stop', now })
    this.conditions.check()
  }

  private onRecorder(message: FromRecorderControl): void {
    switch (message.type) {
      case 'attempts':
        this.options.onAttempts?.(message.attempts)
        return
      case 'open':
        this.recorderState = 'open'
        break
      case 'closed':
        this.recorderState = 'closed'
        this.figures.closed(message)
        break
      case 'broken':
        this.figures.storeFailure = message.message
        this.stop('store')
        break
      case 'failed':
        this.conditions.fail(userError.store(message.message))
        break
    }
    this.conditions.check()
  }

  private onSender(message: FromSender): void {
    switch (message.type) {
      case 'ready':
        this.ready++
        break
      case 'report': {
        this.tally.add(message)
        this.onReport?.()
        this.figures.deepestQueue = Math.max(
          this.figures.deepestQueue,
          message.health.queuedBatches,
        )
        const nowUs = this.now()
        this.crew.tellRecorder({
          type: 'evidence',
          histograms: this.tally.takeHistograms(nowUs),
          health: [message.health],
        })
        if (this.stopReason === null) {
          const { scenario } = this.options
          const refusedUs = this.refusals.lastedUs(scenario, this.tally, nowUs)
          this.budget.look(nowUs)
          const { isSpent } = this.budget
          const reason = reasonToStop(scenario, this.tally, this.shared, isSpent, refusedUs)
          if (reason !== null) this.stop(reason)
        }
        if (message.shard === this.options.shard.index * this.options.scenario.threads) {
          this.show(nowUs)
        }
        break
      }
      case 'issued': {
        this.issued.set(message.ordinal, (this.issued.get(message.ordinal) ?? 0) + 1)
        break
      }
      case 'drained': {
        const { phases } = message
        this.drained.set(phases, (this.drained.get(phases) ?? 0) + 1)
        break
      }
      case 'finished':
        this.finished++
        this.figures.finished(message)
        break
      case 'failed':
        this.conditions.fail(threadFailure(message))
        break
    }
    this.conditions.check()
  }

  private shownUs = 0

  /** Limits how often progress is summed, because that takes time. */
  private show(nowUs: number): void {
    const { onProgress, progressEveryMs } = this.options
    if (nowUs - this.shownUs < progressEveryMs * 1000) return
    this.shownUs = nowUs
    onProgress(
      { ...this.tally.progress(nowUs, this.endsUs()), searching: this.searching },
      this.tally,
    )
  }

  private endsUs(): number | null {
    const last = this.phases.at(-1)
    if (last === undefined || last.durationUs === null) return null
    return last.startUs + last.durationUs
  }

  /** Ends all threads at once, after a failure. */
  async terminate(): Promise<void> {
    await this.crew.terminate()
  }
}

/** Turns the phases of a scenario into loads for senders; a sweep runs as several such phases. */
export interface Loads {
  load(phase: Phase): SenderLoad
  sweep(coordinator: Coordinator, phase: Phase): Promise<void>
}
