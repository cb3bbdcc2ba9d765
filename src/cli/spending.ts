import { createInterface } from 'node:readline/promises'
import { isLoopback } from '../contract/base-url.ts'
import type { Contract } from '../contract/contract.ts'
import { planOf } from '../run/plan.ts'
import type { Scenario } from '../scenario/scenario.ts'
import { UserError } from '../user/user-error.ts'

/** Credits that a run may cost without confirmation. */
const freely = 1000

interface Spending {
  readonly scenario: Scenario
  readonly contract: Contract
  readonly seed: number
  readonly baseUrl: string
  /** Whether the user agreed on the command line. */
  readonly isAgreed: boolean
}

/**
 * Asks the user before an expensive run against a service on another machine.
 *
 * @throws UserError if the user declines, or if there is no terminal to ask
 */
export async function mustMaySpend(spending: Spending): Promise<void> {
  const { scenario, contract, seed, baseUrl, isAgreed } = spending
  if (isAgreed || isLoopback(baseUrl)) return
  const plans = planOf(scenario, contract, seed).map(({ mostCredits }) => mostCredits ?? Infinity)
  const planned = plans.reduce((sum, credits) => sum + credits, 0)
  const most = Math.min(planned, scenario.policy.maxCredits ?? Infinity)
  if (most <= freely) return
  const cost = `This run may cost ${most === Infinity ? 'any number of' : most.toLocaleString('en-US')} credits of ${baseUrl}.`
  if (process.stdin.isTTY && process.stderr.isTTY) {
    const terminal = createInterface({ input: process.stdin, output: process.stderr })
    const answer = await terminal.question(`${cost} Go on? [y/N] `)
    terminal.close()
    if (/^y(es)?$/i.test(answer.trim())) return
    throw new UserError('usage', 'Nothing was sent.')
  }
  throw new UserError('usage', `${cost} Confirm with --yes, or limit it with --max-credits.`)
}
