import type { Scenario } from '../../scenario/scenario.ts'
import type { Step } from '../../scenario/steps.ts'
import type { Task } from '../../scenario/tasks.ts'
import { WeightedChoice } from '../../schedule/draw.ts'
import { RandomStream } from '../../schedule/random.ts'
import {
  type Begun,
  begunAt,
  mostRequests,
  type PlannedTurn,
  planTask,
  whole,
} from '../../schedule/tasks.ts'
import type { TraceSession } from '../../schedule/traces/sessions.ts'
import { largest } from '../../user/extremes.ts'
import type { StepCounters } from '../count/attempt-counts.ts'
import type { ItlCells } from '../count/itl-cells.ts'
import { metricsOf, StepHistograms, taken } from '../count/step-histograms.ts'
import { TimeHistogram } from '../count/time-histogram.ts'
import type { PhaseRun, StepReport } from '../crew/messages.ts'
import { type Crowd, crowdOf } from '../plan/crowd.ts'
import type { KeyChoice } from '../plan/key-choice.ts'
import { type Arrivals, arrivalsOf } from '../plan/phase-arrivals.ts'
import { TurnsOfTarget } from '../plan/turns-of-target.ts'
import { TrialCounter, type TrialCounting } from '../search/trial-counts.ts'
import { TaskTrialCounter } from '../search/trial-tasks.ts'

/** Draws that the prompt of one turn may take before they are those of the next. */
const drawsOfTurn = 2 ** 16

/** A phase in one sending thread: its plan, draws and counts. */
export class ActivePhase {
  readonly run: PhaseRun
  readonly endUs: number
  /** Slots for each index of the plan: the turns of its longest conversation. */
  readonly stride: number
  /** Null if the load is closed. */
  readonly arrivals: Arrivals | null
  /** Null if the load is open. */
  readonly crowd: Crowd | null
  /** By index of the step in the scenario. */
  private readonly counted: (StepHistograms | undefined)[] = []
  private readonly choice: WeightedChoice
  /** Null for a phase of requests. */
  private readonly taskChoice: {
    readonly tasks: readonly Task[]
    readonly firstSteps: readonly number[]
    readonly choice: WeightedChoice
  } | null
  /** Of a replay whose requests wait for each other; null for any other load. */
  readonly sessions: readonly TraceSession[] | null
  /** By index of a step, a session whose requests are of this step. */
  private readonly sessionTasks: readonly Task[]
  /** For the requests of tasks. */
  readonly turnDraws: RandomStream
  private readonly stepDraws: RandomStream
  private readonly keyDraws: RandomStream
  private readonly promptDraws: RandomStream
  readonly thinkDraws: RandomStream
  /** Null unless it is a trial of a search. */
  readonly trial: TrialCounting | null
  /** The same, if it is a search by tasks. */
  readonly taskTrial: TaskTrialCounter | null
  /** Whether this thread has sent its share. */
  issued = false

  constructor(run: PhaseRun, scenario: Scenario, seed: number) {
    this.run = run
    this.endUs = run.durationUs === null ? Infinity : run.startUs + run.durationUs
    const steps = run.steps.map((at) => scenario.steps[at]!)
    this.stride = strideOf(run, scenario)
    // If the phase names only steps without weight, all are equally frequent.
    const weightless = steps.every((step) => step.weight === 0)
    this.choice = new WeightedChoice(steps.map((step) => (weightless ? 1 : step.weight)))
    const stream = (what: string) => new RandomStream(seed, `${what} of ${run.name}`)
    this.taskChoice = taskChoiceOf(run, scenario)
    this.sessions = run.load.kind === 'replay' ? (run.load.sessions ?? null) : null
    this.sessionTasks = this.sessions === null ? [] : scenario.steps.map(sessionOf)
    this.turnDraws = stream('turns')
    this.stepDraws = stream('steps')
    this.keyDraws = stream('keys')
    this.promptDraws = stream('prompts')
    this.thinkDraws = stream('thinks')
    this.crowd = crowdOf(run.load)
    const arrivals = this.crowd === null ? arrivalsOf(run, seed) : null
    const { target } = scenario
    this.arrivals =
      arrivals === null || target === undefined
        ? arrivals
        : new TurnsOfTarget(arrivals, target.name, stream('first targets'))
    const { trialRequests = null, trialTaskUs = null } = run
    const isTrial = trialRequests !== null
    this.taskTrial =
      isTrial && this.drawsTasks
        ? new TaskTrialCounter(trialRequests, run, this.stride, trialTaskUs)
        : null
    const ofRequests = () =>
      isTrial ? new TrialCounter(trialRequests, run, this.stride, scenario.objectives) : null
    this.trial = this.taskTrial ?? ofRequests()
    // Created ahead: a branch that is first taken under load deoptimises the compiled code, and the
    // interpreter falls behind a high rate for a tenth of a second.
    for (const [at, step] of steps.entries()) {
      const index = run.steps[at]!
      const { histograms } = this.countedOf(index)
      for (const metric of metricsOf(step)) histograms[metric] = new TimeHistogram()
    }
  }

  /** @returns index of a step in the scenario */
  stepAt(index: number): number {
    const { steps } = this.run
    if (this.taskChoice !== null) return this.taskChoice.firstSteps[this.pickTask(index)]!
    return steps[steps.length === 1 ? 0 : this.choice.pick(this.stepDraws.at(index))]!
  }

  /** Whether the task of an index starts in its middle. */
  isBegun(index: number): boolean {
    return index < (this.run.begunTasks ?? 0)
  }

  /** Whether an index stands for requests that wait for each other. */
  get drawsTasks(): boolean {
    return this.taskChoice !== null || this.sessions !== null
  }

  /** The task of an index with its requests, and where it begins. */
  planOf(index: number): {
    readonly task: Task
    readonly plan: readonly PlannedTurn[]
    readonly begun: Begun
  } {
    if (this.sessions !== null) {
      // A trace names no step: all requests of a session are of one, which is drawn.
      const task = this.sessionTasks[this.stepAt(index)]!
      return { task, plan: this.sessions[index]!.plan, begun: whole }
    }
    const task = this.taskAt(index)!
    const plan = planTask(task, this.turnDraws, index)
    const begun = this.isBegun(index) ? begunAt(task, plan, this.turnDraws, index) : whole
    return { task, plan, begun }
  }

  /** The task of an index; null in a phase of requests. */
  taskAt(index: number): Task | null {
    return this.taskChoice === null ? null : this.taskChoice.tasks[this.pickTask(index)]!
  }

  private pickTask(index: number): number {
    return this.taskChoice!.choice.pick(this.stepDraws.at(index))
  }

  /** @returns index of the key of a request, among those that its step may use; -1 for none */
  keyOf(index: number, choice: KeyChoice): number {
    return choice.at(choice.keys.length > 1 ? this.keyDraws.at(index) : 0)
  }

  promptDraw(index: number): number {
    return this.promptDraws.at(index)
  }

  /** @returns draws for the prompt of one turn, one after the other; those of the next turn are others */
  drawsOfPrompt(index: number, turn: number): () => number {
    let lane = turn * drawsOfTurn
    return () => this.promptDraws.at(index, lane++)
  }

  slotOf(index: number, turn: number): number {
    if (this.sessions !== null) return this.run.slotBase + this.sessions[index]!.requests[turn]!
    return this.run.slotBase + index * this.stride + turn
  }

  countersOf(step: number): StepCounters {
    return this.countedOf(step).counters
  }

  /** One method for each metric, because a look-up by a varying name is slow. */
  countSuccess(step: number, serviceUs: number, responseUs: number): void {
    const { histograms } = this.countedOf(step)
    histograms.service ??= new TimeHistogram()
    histograms.service.record(serviceUs)
    histograms.response ??= new TimeHistogram()
    histograms.response.record(responseUs)
  }

  countFailure(step: number, serviceUs: number, responseUs: number): void {
    const { histograms } = this.countedOf(step)
    histograms.failed_service ??= new TimeHistogram()
    histograms.failed_service.record(serviceUs)
    histograms.failed_response ??= new TimeHistogram()
    histograms.failed_response.record(responseUs)
  }

  countTtft(step: number, us: number): void {
    const { histograms } = this.countedOf(step)
    histograms.ttft ??= new TimeHistogram()
    histograms.ttft.record(us)
  }

  countItl(step: number, itl: ItlCells): void {
    const { histograms } = this.countedOf(step)
    histograms.itl ??= new TimeHistogram()
    itl.addTo(histograms.itl)
  }

  /** Counters of each step, and its histograms since the last call. */
  takeCounts(): readonly Omit<StepReport, 'ordinal'>[] {
    return this.counted.flatMap((counted, step) =>
      counted === undefined
        ? []
        : [{ step, counters: counted.counters, histograms: taken(counted) }],
    )
  }

  private countedOf(step: number): StepHistograms {
    this.counted[step] ??= new StepHistograms()
    return this.counted[step]
  }
}

/** Slots for each index of a phase: the most requests that an index may stand for. */
export const strideOf = (
  { steps, taskIndexes = [] }: Pick<PhaseRun, 'steps' | 'taskIndexes'>,
  scenario: Scenario,
) =>
  largest(
    [
      ...steps.map((at) => scenario.steps[at]!.session?.turns ?? 1),
      ...taskIndexes.map((at) => mostRequests(scenario.tasks[at]!)),
    ],
    1,
  )

function taskChoiceOf({ taskIndexes: drawn = [] }: PhaseRun, { tasks, steps }: Scenario) {
  if (drawn.length === 0) return null
  const chosen = drawn.map((at) => tasks[at]!)
  const first = ({ turns }: Task) =>
    steps.findIndex(({ name }) => name === turns.find(({ after }) => after.length === 0)!.step)
  const weightless = chosen.every(({ weight }) => weight === 0)
  return {
    tasks: chosen,
    firstSteps: chosen.map(first),
    choice: new WeightedChoice(chosen.map(({ weight }) => (weightless ? 1 : weight))),
  }
}

const sessionOf = ({ name: step }: Step): Task => ({
  name: 'session',
  weight: 1,
  deadlineUs: null,
  affinity: null,
  context: null,
  prefix: null,
  turns: [
    {
      name: 'request',
      step,
      after: [],
      join: 'all',
      delay: { kind: 'fixed', us: 0 },
      repeat: { min: 1, max: 1 },
      children: 1,
      context: 'new',
      takes: [],
      tools: false,
    },
  ],
})
