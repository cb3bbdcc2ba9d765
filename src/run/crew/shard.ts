import { decimalText, divide, rational, readNumber, roundTo } from '../../money/rational.ts'
import type { Load } from '../../scenario/loads.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import { userError } from '../../user/user-error.ts'
import { KeyChoice } from '../plan/key-choice.ts'
import { stepsOf } from '../plan/phase-steps.ts'
import { shareOf } from './shared.ts'

/** A machine's part of a run: one of `of`, counted from 0. Its threads split it further. */
export interface Shard {
  readonly index: number
  readonly of: number
}

/** A run on one machine. */
export const unsharded: Shard = { index: 0, of: 1 }

/** Threads of each shard. The number is the same on all machines, because it decides who sends a request. */
export const threadsOfShard = ({ threads }: Scenario): number => threads ?? 1

/**
 * The machine of each key, if shards split accounts: in the order of the scenario, each account goes to
 * the next machine. Null if shards split requests.
 */
export function ownersOf({ shards, keys }: Scenario, of: number): readonly number[] | null {
  if (shards === 'by index' || of === 1) return null
  const accounts = [...new Set(keys.map(({ account }) => account))]
  return keys.map(({ account }) => accounts.indexOf(account) % of)
}

/** Whether answers decide when its requests are due, so that shards cannot know whose the next one is. */
const isClosed = (load: Load) =>
  load.kind === 'concurrency' ||
  load.kind === 'saturate' ||
  (load.kind === 'replay' && load.users !== null)

/** @throws UserError if a machine would have no account */
function mustHaveAccounts(scenario: Scenario, of: number): void {
  const owners = ownersOf(scenario, of)
  if (owners === null) return
  for (const { name, steps } of scenario.phases) {
    const usable = stepsOf(scenario, steps).flatMap(
      (at) => new KeyChoice(scenario.steps[at]!, scenario.keys).keys,
    )
    const machines = new Set(usable.map((key) => owners[key]))
    if (machines.size === of) continue
    throw userError.usage(
      `--shard: the accounts of the phase ${name} are enough for ${machines.size} of ${of} shards; add accounts, use fewer shards, or leave out shards: by account.`,
    )
  }
}

/**
 * The scenario of a shard, with its share of the credits. Users, requests in flight and connections are
 * split by the index of the thread over all machines (`shareOf`).
 *
 * @param hearsOthers whether machines can agree on what comes next
 * @throws UserError for a load that needs one machine or a team, or that has too little for each shard
 */
export function scenarioOf(
  scenario: Scenario,
  { index, of }: Shard,
  hearsOthers = false,
): Scenario {
  if (of === 1) return scenario
  mustHaveAccounts(scenario, of)
  const { policy } = scenario
  const threads = threadsOfShard(scenario)
  for (const { name, load, maxRequests } of hearsOthers ? [] : scenario.phases) {
    if (load.kind === 'sweep') {
      throw userError.usage(
        `--shard: the next rate of the sweep ${name} depends on the results of all shards; run it on one machine, or connect the shards with --join.`,
      )
    }
    if (isClosed(load) && maxRequests !== null) {
      throw userError.usage(
        `--shard: the phase ${name} is closed and ends by max_requests, a count that shards do not share; give it a duration instead, or connect the shards with --join.`,
      )
    }
  }
  const bounds = { max_in_flight: policy.maxInFlight, max_connections: policy.maxConnections }
  for (const [bound, most] of Object.entries(bounds)) {
    if (most === null || most >= of * threads) continue
    throw userError.usage(
      `--shard: ${bound} is ${most}, less than the ${of * threads} sending threads of ${of} shards; raise it, or use fewer shards.`,
    )
  }
  const maxCredits = policy.maxCredits === null ? null : shareOf(policy.maxCredits, index, of)
  const maxCost = policy.maxCost === null ? null : partOf(policy.maxCost, of)
  return { ...scenario, policy: { ...policy, maxCredits, maxCost } }
}

/** An equal part of an amount, cut to 18 decimals. */
function partOf(amount: string, of: number): string {
  const whole = readNumber(amount)!
  return decimalText(roundTo(divide(whole, rational(BigInt(of))), 18, 'down'))
}
