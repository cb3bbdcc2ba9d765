import type { Task, Turn } from '../scenario/scenario.ts'
import { thinkUs } from './draw.ts'
import type { RandomStream } from './random.ts'

/** A request of a task: what it waits for, and what its prompt holds. */
export interface PlannedTurn {
  /** Index of its turn in the task. */
  readonly turn: number
  /** Numbers of the requests in the same plan that must end before it; empty for the start of the task. */
  readonly after: readonly number[]
  readonly join: 'all' | 'first'
  /** Those that are aborted when the first of `after` has ended. */
  readonly rest: readonly number[]
  readonly delayUs: number
  /** The request whose conversation it continues; null to begin one. */
  readonly continues: number | null
  /** Requests whose answers it is given. */
  readonly takes: readonly number[]
}

/** The most requests of a task. */
export const mostRequests = ({ turns }: Task) =>
  turns.reduce((sum, { repeat, children }) => sum + repeat.max * children, 0)

/**
 * The requests of one task, each after those that it waits for. The seed, the phase and the index of the task decide
 * every draw, so any thread plans the same.
 *
 * @param draws numbers of the phase @param index of the task in the phase
 */
export function planTask(task: Task, draws: RandomStream, index: number): readonly PlannedTurn[] {
  const planned: PlannedTurn[] = []
  /** By name of the turn, its requests: all of them, and the last of each series. */
  const made = new Map<string, { readonly all: number[]; readonly last: number[] }>()
  const all = (names: readonly string[]) => names.flatMap((name) => made.get(name)!.all)
  const last = (names: readonly string[]) => names.flatMap((name) => made.get(name)!.last)
  const base = index * mostRequests(task)
  for (const turn of inOrder(task.turns)) {
    const after = last(turn.after)
    const requests = { all: [] as number[], last: [] as number[] }
    for (let child = 0; child < turn.children; child++) {
      const times = timesOf(turn, draws.at(base + planned.length, 1))
      for (let nth = 0; nth < times; nth++) {
        const number = planned.length
        const isFirst = nth === 0
        const context = turn.context === 'new' ? null : (after[0] ?? null)
        planned.push({
          turn: task.turns.indexOf(turn),
          after: isFirst ? after : [number - 1],
          join: isFirst ? turn.join : 'all',
          rest: isFirst && turn.join === 'first' ? all(turn.after) : [],
          delayUs: Math.round(thinkUs(turn.delay, draws, base + number)),
          continues: isFirst ? context : number - 1,
          takes: isFirst ? last(turn.takes) : [],
        })
        requests.all.push(number)
      }
      requests.last.push(planned.length - 1)
    }
    made.set(turn.name, requests)
  }
  return planned
}

function timesOf({ repeat: { min, max } }: Turn, uniform: number): number {
  return min + Math.floor(uniform * (max - min + 1))
}

/** Turns after those that they wait for, else in the order of the file. The scenario has no circle. */
function inOrder(turns: readonly Turn[]): readonly Turn[] {
  const ordered: Turn[] = []
  const visit = (turn: Turn) => {
    if (ordered.includes(turn)) return
    for (const name of turn.after) visit(turns.find((each) => each.name === name)!)
    ordered.push(turn)
  }
  for (const turn of turns) visit(turn)
  return ordered
}
