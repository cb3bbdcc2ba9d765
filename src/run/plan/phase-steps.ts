import type { Phase } from '../../scenario/loads.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import type { Task } from '../../scenario/tasks.ts'
import { RandomStream } from '../../schedule/random.ts'
import { meanDelaysUs } from '../../schedule/tasks.ts'
import type { PhaseRun, SenderLoad } from '../crew/messages.ts'

/** The tasks that a phase draws from, and how many start in their middle; nothing for a phase of requests. */
export function tasksOf(
  scenario: Scenario,
  { name, tasks: names = [], middle, maxRequests }: PhaseOfTasks,
  load: SenderLoad,
  seed: number,
): Pick<PhaseRun, 'taskIndexes' | 'begunTasks'> {
  if (names.length === 0) return {}
  const taskIndexes = names.map((each) => scenario.tasks.findIndex((task) => task.name === each))
  if (middle === undefined) return { taskIndexes }
  const tasks = taskIndexes.map((at) => scenario.tasks[at]!)
  const begun = middle === 'by load' ? inProgress(tasks, name, load, seed) : middle
  return { taskIndexes, begunTasks: Math.min(begun, maxRequests ?? Infinity) }
}

/** Whether requests of a phase wait for others, so that answers decide when they are due. */
export const waitsForAnswers = ({ load, taskIndexes }: Pick<PhaseRun, 'load' | 'taskIndexes'>) =>
  taskIndexes !== undefined || (load.kind === 'replay' && load.sessions !== undefined)

type PhaseOfTasks = Pick<Phase, 'name' | 'tasks' | 'middle' | 'maxRequests'>

/** The tasks of all users; of an open load, those that its rate and the delays alone keep in progress (Little's law). */
function inProgress(tasks: readonly Task[], phase: string, load: SenderLoad, seed: number): number {
  if (load.kind === 'concurrency') return Math.max(load.fromUsers, load.toUsers)
  if (load.kind === 'replay') return 0
  const draws = new RandomStream(seed, `turns of ${phase}`)
  const isWeightless = tasks.every(({ weight }) => weight === 0)
  const weightOf = ({ weight }: Task) => (isWeightless ? 1 : weight)
  const weights = tasks.reduce((sum, task) => sum + weightOf(task), 0)
  const meanUs = tasks.reduce(
    (sum, task) => sum + (weightOf(task) / weights) * meanDelaysUs(task, draws),
    0,
  )
  return Math.round((load.rate[0]!.fromPerS * meanUs) / 1e6)
}

/**
 * Indexes of the steps that a phase draws from: those that it names, or all with a weight above 0.
 */
export function stepsOf(scenario: Scenario, names: readonly string[]): readonly number[] {
  return scenario.steps.flatMap((step, index) =>
    (names.length === 0 ? step.weight > 0 : names.includes(step.name)) ? [index] : [],
  )
}
