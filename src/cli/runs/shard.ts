import { instantMs } from '../../measure/usage/zone.ts'
import { type Shard, unsharded } from '../../run/crew/shard.ts'
import { durationUsOf } from '../../scenario/quantity.ts'
import { dayMs } from '../../user/durations.ts'
import { userError } from '../../user/user-error.ts'
import type { Options } from '../commands/run.ts'
import { quantityOf } from '../terminal/numbers.ts'

/** Options for a run on several machines. */
export type ShardOptions = Pick<Options, 'shard' | 'runId' | 'startAt' | 'join' | 'joinTimeout'>

/** Variables of schedulers with the index of a task, and the index of their first task. */
const indexVariables = [
  ['JOB_COMPLETION_INDEX', 0],
  ['SLURM_ARRAY_TASK_ID', 0],
  ['CI_NODE_INDEX', 1],
] as const

/** A start further away is probably a mistake, such as a wrong year. */
const longestWaitMs = 7 * dayMs

/** @throws UserError for an invalid shard, or one without an index */
export function shardOf(
  text: string | undefined,
  environment: NodeJS.ProcessEnv,
  option = '--shard',
): Shard {
  if (text === undefined) return unsharded
  const [, given, of = ''] = /^(?:(\d+)\/)?(\d+)$/.exec(text) ?? []
  const index = given ?? scheduledIndex(environment)
  if (of !== '' && index === null) {
    throw userError.usage(
      `${option} ${text}: no index is given, and no scheduler sets one (${indexVariables.map(([name]) => name).join(', ')}). Give one, such as ${option} 3/8.`,
    )
  }
  const shard = { index: Number(index), of: Number(of) }
  if (of === '' || shard.of > 100_000 || shard.index < 0 || shard.index >= shard.of) {
    throw userError.usage(
      `${option}: expected an index from 0 and the number of shards, such as 3/8 (the last is 7/8), or the number alone on a scheduler; got ${of === '' ? text : `${index}/${of}`}.`,
    )
  }
  return shard
}

/** @throws UserError if machines could not agree on the run or on its start */
export function mustHaveOneClock(
  shard: Shard,
  { runId, startAt, join }: Pick<ShardOptions, 'runId' | 'startAt' | 'join'>,
): void {
  if (join !== undefined && (shard.of === 1 || startAt !== undefined)) {
    throw userError.usage(
      shard.of === 1
        ? '--join connects shards; name this one, such as --shard 3/8.'
        : '--join: shards agree on a start; leave out --start-at.',
    )
  }
  if (shard.of === 1 || (runId !== undefined && (startAt ?? join) !== undefined)) return
  throw userError.usage(
    '--shard: every shard needs the same --run-id, and the same --start-at or --join, such as --run-id launch-7 --start-at 2026-12-01T10:00:00Z.',
  )
}

/** @returns how long a shard waits for others, in milliseconds @throws UserError for an invalid duration */
export const joinWaitMsOf = (text: string): number =>
  quantityOf('--join-timeout', text, durationUsOf, 'a duration, such as 5m') / 1000

function scheduledIndex(environment: NodeJS.ProcessEnv): string | null {
  for (const [name, first] of indexVariables) {
    const value = environment[name]
    if (value !== undefined && /^\d+$/.test(value)) return String(Number(value) - first)
  }
  return null
}

/** @throws UserError for an id that cannot be a file name */
export function runIdOf(text: string | undefined): string | undefined {
  if (text === undefined || /^[\w][\w.-]{0,63}$/.test(text)) return text
  throw userError.usage(
    `--run-id: expected up to 64 letters, digits, dots, hyphens and underscores; got ${JSON.stringify(text)}.`,
  )
}

/** @returns Unix microseconds @throws UserError for an invalid time, or one that is far away */
export function startAtUsOf(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined
  const atMs = instantMs(text) ?? Number.NaN
  if (Math.abs(atMs - nowMs) <= longestWaitMs) return atMs * 1000
  throw userError.usage(
    `--start-at: expected an instant with its time zone within seven days, such as 2026-12-01T10:00:00Z; got ${text}.`,
  )
}
