import type { Scenario } from '../scenario/scenario.ts'
import { UserError } from '../user/user-error.ts'
import { shareOf } from './shared.ts'

/** A machine's part of a run: one of `of`, counted from 0. Its threads split the part again. */
export interface Shard {
  readonly index: number
  readonly of: number
}

/** A run on one machine. */
export const unsharded: Shard = { index: 0, of: 1 }

/** Which machine sends an index of the plan: machine and thread are one split, `index * threads + thread`. */
export const machineOf = (index: number, threads: number, { of }: Shard) =>
  Math.floor((index % (of * threads)) / threads)

/**
 * The scenario as a shard sends it. Credits are dealt here; users, requests in flight and connections
 * by the number of the thread over all machines (`shareOf`).
 *
 * @throws UserError for what machines can only send together
 */
export function scenarioOf(scenario: Scenario, { index, of }: Shard): Scenario {
  if (of === 1) return scenario
  const { policy, threads } = scenario
  for (const { name, load, maxRequests } of scenario.phases) {
    if (load.kind === 'sweep') {
      throw new UserError(
        'usage',
        `--shard: the next rate of the sweep ${name} hangs on what all shards saw; run it on one machine.`,
      )
    }
    if ((load.kind === 'concurrency' || load.kind === 'saturate') && maxRequests !== null) {
      throw new UserError(
        'usage',
        `--shard: the phase ${name} is closed and ends by max_requests, a count that shards do not share; give it a duration instead.`,
      )
    }
  }
  const bounds = { max_in_flight: policy.maxInFlight, max_connections: policy.maxConnections }
  for (const [bound, most] of Object.entries(bounds)) {
    if (most === null || most >= of * threads) continue
    throw new UserError(
      'usage',
      `--shard: ${bound} is ${most}, less than the ${of * threads} sending threads of ${of} shards; raise it, or use fewer shards.`,
    )
  }
  const maxCredits = policy.maxCredits === null ? null : shareOf(policy.maxCredits, index, of)
  return { ...scenario, policy: { ...policy, maxCredits } }
}
