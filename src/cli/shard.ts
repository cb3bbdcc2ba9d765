import { type Shard, unsharded } from '../run/shard.ts'
import { durationUsOf } from '../scenario/quantity.ts'
import { UserError } from '../user/user-error.ts'
import { quantityOf } from './numbers.ts'

/** Options of the command line that make a run a part of one on several machines. */
export interface ShardOptions {
  readonly shard?: string
  readonly runId?: string
  readonly startAt?: string
  readonly join?: string
  readonly joinTimeout: string
}

/** Where schedulers put the index of a task, and what their first one has. */
const indexVariables = [
  ['JOB_COMPLETION_INDEX', 0],
  ['SLURM_ARRAY_TASK_ID', 0],
  ['CI_NODE_INDEX', 1],
] as const

/** Longer is a wrong year. */
const longestWaitMs = 7 * 86_400_000

/** @throws UserError for options that are no shard, or not whole */
export function shardOf(
  text: string | undefined,
  environment: NodeJS.ProcessEnv,
  option = '--shard',
): Shard {
  if (text === undefined) return unsharded
  const [, given, of = ''] = /^(?:(\d+)\/)?(\d+)$/.exec(text) ?? []
  const index = given ?? scheduledIndex(environment)
  if (of !== '' && index === null) {
    throw new UserError(
      'usage',
      `${option} ${text}: no index is given, and no scheduler sets one (${indexVariables.map(([name]) => name).join(', ')}). Give it, as ${option} 3/8.`,
    )
  }
  const shard = { index: Number(index), of: Number(of) }
  if (of === '' || shard.of > 100_000 || shard.index < 0 || shard.index >= shard.of) {
    throw new UserError(
      'usage',
      `${option}: expected an index from 0 and the number of shards, as 3/8 (the last is 7/8), or the number alone on a scheduler; got ${of === '' ? text : `${index}/${of}`}.`,
    )
  }
  return shard
}

/** @throws UserError where machines would not know that they are of one run, or when it begins */
export function mustHaveOneClock(
  shard: Shard,
  { runId, startAt, join }: Pick<ShardOptions, 'runId' | 'startAt' | 'join'>,
): void {
  if (join !== undefined && (shard.of === 1 || startAt !== undefined)) {
    throw new UserError(
      'usage',
      shard.of === 1
        ? '--join: shards meet there; say which one this is, as --shard 3/8.'
        : '--join: shards agree on a start; leave out --start-at.',
    )
  }
  if (shard.of === 1 || (runId !== undefined && (startAt ?? join) !== undefined)) return
  throw new UserError(
    'usage',
    '--shard: every shard needs the same --run-id, and the same --start-at or --join, as --run-id launch-7 --start-at 2026-12-01T10:00:00Z.',
  )
}

/** @returns how long a shard waits for others, in milliseconds @throws UserError for what is no duration */
export function joinWaitMsOf(text: string): number {
  return quantityOf('--join-timeout', text, durationUsOf, 'a duration, such as 5m') / 1000
}

function scheduledIndex(environment: NodeJS.ProcessEnv): string | null {
  for (const [name, first] of indexVariables) {
    const value = environment[name]
    if (value !== undefined && /^\d+$/.test(value)) return String(Number(value) - first)
  }
  return null
}

/** @throws UserError for an id that could not be a file's name */
export function runIdOf(text: string | undefined): string | undefined {
  if (text === undefined || /^[\w][\w.-]{0,63}$/.test(text)) return text
  throw new UserError(
    'usage',
    `--run-id: expected up to 64 letters, digits, dots, hyphens and underscores; got ${JSON.stringify(text)}.`,
  )
}

/** @returns Unix microseconds @throws UserError for what is no instant, or one that is far away */
export function startAtUsOf(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined
  const atMs = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : NaN
  if (Math.abs(atMs - nowMs) <= longestWaitMs) return atMs * 1000
  throw new UserError(
    'usage',
    `--start-at: expected an instant with its time zone within seven days, as 2026-12-01T10:00:00Z; got ${text}.`,
  )
}
