import { isLoopback } from '../../contract/base-url.ts'
import type { Contract } from '../../contract/contract.ts'
import { minorDigits, shownAmount } from '../../money/money.ts'
import { add, compare, multiply, rational, readNumber, zero } from '../../money/rational.ts'
import { runBilling } from '../../run/money/run-money.ts'
import { type PhasePlan, planOf } from '../../run/plan/plan.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import { userError } from '../../user/user-error.ts'

/** Credits that a run may cost without confirmation. */
const freely = 1000
/** Money, in whole units of a currency with cents; of others, as many as credits. */
const freelyIn = (unit: string) => (minorDigits(unit) === 0 ? BigInt(freely) : 1n)

interface Spending {
  readonly scenario: Scenario
  readonly contract: Contract
  readonly seed: number
  readonly baseUrl: string
  /** Whether the user agreed on the command line. */
  readonly isAgreed: boolean
  /** How often the scenario is run. Default: 1. */
  readonly runs?: number
}

/**
 * Asks the user before an expensive run against a service on another machine.
 *
 * @throws UserError if the user declines, or if there is no terminal to ask
 */
export async function mustMaySpend(spending: Spending): Promise<void> {
  const { scenario, contract, seed, baseUrl, isAgreed, runs = 1 } = spending
  if (isAgreed || isLoopback(baseUrl)) return
  const phases = planOf(scenario, contract, seed)
  const billing = runBilling(contract, scenario)
  const said =
    billing.kind === 'money'
      ? moneySaid(scenario, phases, billing.prices.currency.name, baseUrl, runs)
      : creditsSaid(scenario, phases, billing.kind === 'credits', baseUrl, runs)
  if (said === null) return
  if (process.stdin.isTTY && process.stderr.isTTY) {
    const { createInterface } = await import('node:readline/promises')
    const terminal = createInterface({ input: process.stdin, output: process.stderr })
    const answer = await terminal.question(`${said.cost} Go on? [y/N] `)
    terminal.close()
    if (/^y(es)?$/i.test(answer.trim())) return
    throw userError.usage('Nothing was sent.')
  }
  throw userError.usage(`${said.cost} Confirm with --yes, or limit it with ${said.option}.`)
}

interface Said {
  readonly cost: string
  readonly option: string
}

const subject = (runs: number) => (runs === 1 ? 'This run' : `These ${runs} runs`)

function moneySaid(
  { policy }: Scenario,
  phases: readonly PhasePlan[],
  unit: string,
  baseUrl: string,
  runs: number,
): Said | null {
  const costs = phases.map(({ mostCost }) => mostCost)
  const planned = costs.some((cost) => cost === null)
    ? null
    : costs.map((cost) => readNumber(cost!.amount)!).reduce(add, zero)
  const bound = policy.maxCost === null ? null : readNumber(policy.maxCost)!
  const known = [planned, bound].filter((each) => each !== null)
  const [ofOne] = known.toSorted(compare)
  const most = ofOne === undefined ? undefined : multiply(ofOne, rational(BigInt(runs)))
  if (most !== undefined && compare(most, rational(freelyIn(unit))) <= 0) return null
  const amount = most === undefined ? `any amount of ${unit}` : shownAmount(most, unit)
  return { cost: `${subject(runs)} may cost ${amount} at ${baseUrl}.`, option: '--max-cost' }
}

function creditsSaid(
  { policy }: Scenario,
  phases: readonly PhasePlan[],
  isPriced: boolean,
  baseUrl: string,
  runs: number,
): Said | null {
  const plans = phases.map(({ mostCredits }) => mostCredits ?? Infinity)
  const planned = plans.reduce((sum, credits) => sum + credits, 0)
  const most = runs * Math.min(planned, policy.maxCredits ?? Infinity)
  if (most <= freely) return null
  const number = most === Infinity ? 'any number of' : most.toLocaleString('en-US')
  // Without a price, a request counts as 1.
  const cost = isPriced
    ? `${subject(runs)} may cost ${number} credits of ${baseUrl}.`
    : `${subject(runs)} may send ${number} requests to ${baseUrl}, and no contract states what they cost.`
  return { cost, option: '--max-credits' }
}
