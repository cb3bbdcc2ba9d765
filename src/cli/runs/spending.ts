import { isLoopback } from '../../contract/base-url.ts'
import type { Billing } from '../../contract/billing.ts'
import type { Contract } from '../../contract/contract.ts'
import { minorDigits, shownAmount } from '../../money/money.ts'
import {
  add,
  compare,
  numberOf,
  type Rational,
  rational,
  readNumber,
  zero,
} from '../../money/rational.ts'
import { runBilling } from '../../run/money/run-money.ts'
import { planOf } from '../../run/plan/plan.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import { userError } from '../../user/user-error.ts'

/** Credits that a run may cost without confirmation. */
const freely = 1000n
/** Money, in whole units of a currency with cents; of others, as many as credits. */
const freelyIn = (unit: string) => (minorDigits(unit) === 0 ? freely : 1n)

interface Spending {
  readonly scenario: Scenario
  /** The contract of each run of the scenario at the service. */
  readonly contracts: readonly Contract[]
  readonly seed: number
  readonly baseUrl: string
  /** Whether the user agreed on the command line. */
  readonly isAgreed: boolean
}

/**
 * Asks the user before expensive runs against a service on another machine.
 *
 * @throws UserError if the user declines, or if there is no terminal to ask
 */
export async function mustMaySpend(spending: Spending): Promise<void> {
  const { scenario, contracts, seed, baseUrl, isAgreed } = spending
  if (isAgreed || isLoopback(baseUrl)) return
  const costs = new Map(
    [...new Set(contracts)].map((contract) => [contract, costOf(scenario, contract, seed)]),
  )
  // Only amounts of one unit add up.
  const said = [
    ...Map.groupBy(
      contracts.map((contract) => costs.get(contract)!),
      ({ kind, unit }) => `${kind} ${unit}`,
    ).values(),
  ].flatMap((same) => saidOf(same, { all: contracts.length, baseUrl }))
  if (said.length === 0) return
  const cost = said.map((each) => each.cost).join(' ')
  if (process.stdin.isTTY && process.stderr.isTTY) {
    const { createInterface } = await import('node:readline/promises')
    const terminal = createInterface({ input: process.stdin, output: process.stderr })
    const answer = await terminal.question(`${cost} Go on? [y/N] `)
    terminal.close()
    if (/^y(es)?$/i.test(answer.trim())) return
    throw userError.usage('Nothing was sent.')
  }
  const options = [...new Set(said.map(({ option }) => option))].join(' and ')
  throw userError.usage(`${cost} Confirm with --yes, or limit it with ${options}.`)
}

/** The most that a run costs. */
interface Cost {
  readonly kind: Billing['kind']
  /** A currency if `kind` is money, else credits. */
  readonly unit: string
  /** Null for any amount. */
  readonly most: Rational | null
}

function costOf(scenario: Scenario, contract: Contract, seed: number): Cost {
  const { maxCost, maxCredits } = scenario.policy
  const billing = runBilling(contract, scenario)
  const phases = planOf(scenario, contract, seed)
  const isMoney = billing.kind === 'money'
  const costs = phases.map(({ mostCost, mostCredits }) =>
    isMoney ? amountOf(mostCost?.amount) : amountOf(mostCredits),
  )
  const planned = costs.reduce((sum, cost) => sum && cost && add(sum, cost), zero)
  const bound = amountOf(isMoney ? maxCost : maxCredits)
  const [most = null] = [planned, bound].filter((each) => each !== null).toSorted(compare)
  return { kind: billing.kind, unit: isMoney ? billing.prices.currency.name : 'credits', most }
}

const amountOf = (value: string | number | null | undefined): Rational | null =>
  value === null || value === undefined ? null : readNumber(String(value))

/** What to ask about runs that are paid in one unit; empty if they cost little. */
function saidOf(
  costs: readonly Cost[],
  { all, baseUrl }: { readonly all: number; readonly baseUrl: string },
): readonly { readonly cost: string; readonly option: string }[] {
  const { kind, unit } = costs[0]!
  const most = costs.reduce<Rational | null>(
    (sum, cost) => sum && cost.most && add(sum, cost.most),
    zero,
  )
  const limit = kind === 'money' ? freelyIn(unit) : freely
  if (most !== null && compare(most, rational(limit)) <= 0) return []
  const runs = subject(costs.length, all)
  if (kind === 'money') {
    const amount = most === null ? `any amount of ${unit}` : shownAmount(most, unit)
    return [{ cost: `${runs} may cost ${amount} at ${baseUrl}.`, option: '--max-cost' }]
  }
  const number = most === null ? 'any number of' : numberOf(most).toLocaleString('en-US')
  // Without a price, a request counts as 1.
  const cost =
    kind === 'credits'
      ? `${runs} may cost ${number} credits of ${baseUrl}.`
      : `${runs} may send ${number} requests to ${baseUrl}, and no contract states what they cost.`
  return [{ cost, option: '--max-credits' }]
}

function subject(runs: number, all: number): string {
  if (runs < all) return `${runs === 1 ? 'One' : runs} of these ${all} runs`
  return all === 1 ? 'This run' : `These ${all} runs`
}
