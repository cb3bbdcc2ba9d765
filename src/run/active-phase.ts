import type { Scenario } from '../scenario/scenario.ts'
import { ArrivalPlan } from '../schedule/arrivals.ts'
import { WeightedChoice } from '../schedule/draw.ts'
import { RandomStream } from '../schedule/random.ts'
import type { TraceRequest } from '../schedule/trace.ts'
import { Counts, type CountsSlice } from './counts.ts'
import { StepCounters } from './ledger.ts'
import type { Metric, PhaseRun } from './messages.ts'

const plainMetrics: readonly Metric[] = ['service', 'response']
const streamMetrics: readonly Metric[] = [...plainMetrics, 'ttft', 'itl']

/** A phase in one sending thread: its plan, its draws and its counts. */
export class ActivePhase {
  readonly run: PhaseRun
  readonly endUs: number
  /** Slots that one index of the plan takes: the turns of its longest conversation. */
  readonly stride: number
  /** Null where the load is closed. */
  readonly arrivals: Arrivals | null
  readonly counters = new Map<number, StepCounters>()
  readonly counts = new Map<number, Map<Metric, Counts>>()
  private readonly choice: WeightedChoice
  private readonly stepDraws: RandomStream
  private readonly keyDraws: RandomStream
  private readonly promptDraws: RandomStream
  readonly thinkDraws: RandomStream
  /** Whether everything of it that is this thread's has been sent. */
  issued = false
  /** One past the highest index that was sent. */
  indexEnd = 0

  constructor(run: PhaseRun, scenario: Scenario, seed: number) {
    this.run = run
    this.endUs = run.durationUs === null ? Infinity : run.startUs + run.durationUs
    const steps = run.steps.map((at) => scenario.steps[at]!)
    this.stride = Math.max(1, ...steps.map((step) => step.session?.turns ?? 1))
    // Steps without weight are here only by name, and then all are: each as often as the others.
    const weightless = steps.every((step) => step.weight === 0)
    this.choice = new WeightedChoice(steps.map((step) => (weightless ? 1 : step.weight)))
    const stream = (what: string) => new RandomStream(seed, `${what} of ${run.name}`)
    this.stepDraws = stream('steps')
    this.keyDraws = stream('keys')
    this.promptDraws = stream('prompts')
    this.thinkDraws = stream('thinks')
    this.arrivals = arrivalsOf(run, seed)
    // Made ahead: a branch that is first taken while requests flow throws the compiled path away,
    // and sending by the interpreter falls behind a high rate for a tenth of a second.
    for (const [at, step] of steps.entries()) {
      const index = run.steps[at]!
      this.countersOf(index)
      for (const metric of step.stream ? streamMetrics : plainMetrics) this.countsOf(index, metric)
    }
  }

  /** @returns index of a step in the scenario */
  stepAt(index: number): number {
    const { steps } = this.run
    return steps[steps.length === 1 ? 0 : this.choice.pick(this.stepDraws.at(index))]!
  }

  keyDraw(index: number): number {
    return this.keyDraws.at(index)
  }

  promptDraw(index: number, lane = 0): number {
    return this.promptDraws.at(index, lane)
  }

  slotOf(index: number, turn: number): number {
    return this.run.slotBase + index * this.stride + turn
  }

  countersOf(step: number): StepCounters {
    let counters = this.counters.get(step)
    if (counters === undefined) {
      counters = new StepCounters()
      this.counters.set(step, counters)
    }
    return counters
  }

  count(step: number, metric: Metric, us: number): void {
    this.countsOf(step, metric).record(us)
  }

  private countsOf(step: number, metric: Metric): Counts {
    let metrics = this.counts.get(step)
    if (metrics === undefined) {
      metrics = new Map()
      this.counts.set(step, metrics)
    }
    let counts = metrics.get(metric)
    if (counts === undefined) {
      counts = new Counts()
      metrics.set(metric, counts)
    }
    return counts
  }

  /** What was counted for a step since the last call. */
  takeCounts(step: number): Partial<Record<Metric, CountsSlice>> {
    const taken: Partial<Record<Metric, CountsSlice>> = {}
    for (const [metric, counts] of this.counts.get(step) ?? []) {
      const slice = counts.take()
      if (slice !== null) taken[metric] = slice
    }
    return taken
  }
}

/** An open plan as a sender walks it. */
export interface Arrivals {
  readonly index: number
  /** Since the phase began. */
  readonly atUs: number
  advance(): boolean
}

export function arrivalsOf(
  run: Pick<PhaseRun, 'load' | 'durationUs' | 'maxRequests' | 'name'>,
  seed: number,
): Arrivals | null {
  const { load, durationUs, maxRequests, name } = run
  switch (load.kind) {
    case 'arrivals':
      return new ArrivalPlan(load.spacing, load.rate, { durationUs, maxRequests }, seed, name)
    case 'replay':
      return new TraceArrivals(load.requests, load.speed, durationUs, maxRequests)
    case 'concurrency':
      return null
  }
}

/** A trace at its speed, as a cursor. */
class TraceArrivals implements Arrivals {
  index = -1
  atUs = Infinity
  private readonly requests: readonly TraceRequest[]
  private readonly speed: number
  private readonly endUs: number
  private readonly count: number

  constructor(
    requests: readonly TraceRequest[],
    speed: number,
    durationUs: number | null,
    maxRequests: number | null,
  ) {
    this.requests = requests
    this.speed = speed
    this.endUs = durationUs ?? Infinity
    this.count = Math.min(requests.length, maxRequests ?? Infinity)
  }

  advance(): boolean {
    const index = this.index + 1
    if (index >= this.count) return false
    const atUs = Math.floor(this.requests[index]!.atUs / this.speed)
    if (atUs >= this.endUs) return false
    this.index = index
    this.atUs = atUs
    return true
  }
}
