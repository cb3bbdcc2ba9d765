import type { Task, Turn } from '../scenario/tasks.ts'
import { largest } from '../user/extremes.ts'
import { thinkUs } from './draw.ts'
import type { RandomStream } from './random.ts'

/** A request of a task: what it waits for, and what its prompt holds. */
export interface PlannedTurn {
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

export const mostRequests = ({ turns }: Task) =>
  turns.reduce((sum, { repeat, children }) => sum + repeat.max * children, 0)

/** Lanes of draws beside those of a delay, which are 0 and 1. */
const middleLane = 2
const leftLane = 3
const repeatLane = 4

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
  for (const [turn, place] of inOrder(task.turns)) {
    const after = last(turn.after)
    const requests = { all: [] as number[], last: [] as number[] }
    for (let child = 0; child < turn.children; child++) {
      const times = timesOf(turn, draws.at(base + planned.length, repeatLane))
      for (let nth = 0; nth < times; nth++) {
        const number = planned.length
        const isFirst = nth === 0
        const context = turn.context === 'new' ? null : (after[0] ?? null)
        planned.push({
          turn: place,
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

/** Where a task is when it starts. */
export interface Begun {
  /** Requests of its plan with a lower number have ended before. */
  readonly from: number
  /** Share of the delays of its next requests that is still to come. */
  readonly left: number
}

/** A task that starts at its start. */
export const whole: Begun = { from: 0, left: 1 }

/** A task that has begun already: any of its requests may be the next. Requests before one have lower numbers. */
export function begunAt(
  task: Task,
  planned: readonly PlannedTurn[],
  draws: RandomStream,
  index: number,
): Begun {
  const base = index * mostRequests(task)
  const from = Math.floor(draws.at(base, middleLane) * planned.length)
  return from === 0 ? whole : { from, left: draws.at(base, leftLane) }
}

const plansForMean = 200

/** The mean time of a task if every answer came at once: the delays on its longest path, in microseconds. */
export function meanDelaysUs(task: Task, draws: RandomStream): number {
  let sum = 0
  for (let index = 0; index < plansForMean; index++) sum += delaysUs(planTask(task, draws, index))
  return sum / plansForMean
}

/**
 * When the last request ends that is not aborted, if every answer comes at once. A request that is aborted decides no join: the one
 * that aborts it alone waits for it (`turnIssues` refuses any other), and begins before it would have ended.
 */
function delaysUs(plan: readonly PlannedTurn[]): number {
  /** When the delay of each begins and ends, were nothing aborted. */
  const begins: number[] = []
  const ends: number[] = []
  for (const { after, join, delayUs } of plan) {
    const before = after.map((number) => ends[number]!)
    const from = before.length === 0 ? 0 : Math[join === 'all' ? 'max' : 'min'](...before)
    begins.push(from)
    ends.push(from + delayUs)
  }
  /** When each is aborted. A request aborts only those before it in the plan, so the last comes first: one that is aborted before it begins aborts none. */
  const aborts = plan.map(() => Number.POSITIVE_INFINITY)
  for (const [number, { rest }] of [...plan.entries()].toReversed()) {
    if (begins[number]! > aborts[number]!) continue
    for (const other of rest) aborts[other] = Math.min(aborts[other]!, begins[number]!)
  }
  return largest(ends.filter((end, number) => end <= aborts[number]!))
}

function timesOf({ repeat: { min, max } }: Turn, uniform: number): number {
  return min + Math.floor(uniform * (max - min + 1))
}

/** Turns after those that they wait for, else in the order of the file, with their places there. The scenario has no circle. */
function inOrder(turns: readonly Turn[]): Iterable<readonly [turn: Turn, place: number]> {
  const places = new Map(turns.map(({ name }, place) => [name, place]))
  const ordered = new Map<Turn, number>()
  for (const first of turns.keys()) {
    // A stack of its own, because a chain may have thousands of turns.
    const waiting = [first]
    while (waiting.length > 0) {
      const place = waiting.at(-1)!
      const turn = turns[place]!
      const before = turn.after
        .map((name) => places.get(name)!)
        .find((each) => !ordered.has(turns[each]!))
      if (before === undefined || ordered.has(turn)) {
        waiting.pop()
        ordered.set(turn, ordered.get(turn) ?? place)
      } else waiting.push(before)
    }
  }
  return ordered
}
