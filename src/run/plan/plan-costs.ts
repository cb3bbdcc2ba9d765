import type { Contract } from '../../contract/contract.ts'
import { AttemptCosts, type PromptMedia } from '../../price/attempts/attempt-costs.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import type { TraceRequest } from '../../schedule/traces/trace.ts'
import { largest } from '../../user/extremes.ts'
import {
  isFree,
  mediaOf,
  mostOfStep,
  mostOutputOf,
  runBilling,
  tokensOfBytes,
} from '../money/run-money.ts'
import type { PromptPool } from './prompts.ts'
import { uniquePromptsOf } from './unique-prompts.ts'

/** Unique prompts whose lengths are read. */
const mostRead = 1000

/**
 * The most that the requests of a plan can cost by the contract: no prompt comes from a cache, and every answer is as long as
 * `max_tokens`. A prompt counts a token for each three bytes, or its own length if it is synthetic.
 */
export class PlanCosts {
  private readonly scenario: Scenario
  private readonly contract: Contract
  private readonly costs: AttemptCosts
  private readonly atMs: number
  private readonly prompts: readonly (number | null)[]
  private readonly media: readonly (readonly PromptMedia[])[]

  /** Null if the contract states no prices for the scenario's models. */
  static of(
    scenario: Scenario,
    contract: Contract,
    seed: number,
    pools: readonly PromptPool[],
    atMs: number,
  ): PlanCosts | null {
    const billing = runBilling(contract, scenario)
    if (billing.kind !== 'money') return null
    return new PlanCosts(scenario, contract, new AttemptCosts(contract, billing.prices), {
      seed,
      pools,
      atMs,
    })
  }

  private constructor(
    scenario: Scenario,
    contract: Contract,
    costs: AttemptCosts,
    { seed, pools, atMs }: { seed: number; pools: readonly PromptPool[]; atMs: number },
  ) {
    this.scenario = scenario
    this.contract = contract
    this.costs = costs
    this.atMs = atMs
    this.media = scenario.steps.map(({ body }, at) => {
      const parts = (pools[at] ?? []).filter((prompt) => typeof prompt !== 'string')
      return [...new Set([body, ...parts].flatMap((each) => mediaOf(JSON.stringify(each))))]
    })
    this.prompts = scenario.steps.map((step, at) => {
      const own = promptTokens(scenario, at, seed, pools[at] ?? null)
      const around = `${step.system ?? ''}${JSON.stringify(step.body)}`
      return own === null ? null : own + tokensOfBytes(Buffer.byteLength(around))
    })
  }

  get unit(): string {
    return this.costs.prices.currency.name
  }

  /**
   * The most that a request of a step, with all turns of its conversation, can cost.
   *
   * @returns units of 10^-18; null if nothing bounds it
   */
  most(at: number, traced: TraceRequest | null = null): bigint | null {
    const step = this.scenario.steps[at]!
    const { atMs } = this
    if (isFree(step, traced?.model ?? step.model)) return 0n
    if (traced !== null) {
      return mostOfStep(step, this.costs, this.contract, traced.inputTokens + tokensOfBytes(0), {
        ...(traced.model === null ? {} : { model: traced.model }),
        maxTokens: Math.max(1, traced.outputTokens),
        atMs,
      })
    }
    const prompt = this.prompts[at]!
    if (prompt === null) return null
    let sum = 0n
    const answer = mostOutputOf(step, this.contract) ?? 0
    const turns = step.session?.turns ?? 1
    for (let turn = 0; turn < turns; turn++) {
      const before = turn * (prompt + answer)
      const units = mostOfStep(step, this.costs, this.contract, prompt + before, {
        atMs,
        media: this.media[at]!,
      })
      if (units === null) return null
      sum += units
    }
    return sum
  }
}

/** An upper estimate of the tokens of a step's prompts; null for those of a function. */
function promptTokens(
  scenario: Scenario,
  at: number,
  seed: number,
  pool: PromptPool,
): number | null {
  const step = scenario.steps[at]!
  if (step.prompt.kind === 'function') return null
  if (pool !== null) {
    return pool.reduce((most, prompt) => {
      const text = typeof prompt === 'string' ? prompt : JSON.stringify(prompt)
      return Math.max(most, tokensOfBytes(Buffer.byteLength(text)))
    }, 0)
  }
  const unique = uniquePromptsOf(step, seed, 'plan')
  if (unique === null) return tokensOfBytes(0)
  const lengths = Array.from({ length: mostRead }, (_, slot) => unique.of(slot).tokens)
  return largest(lengths) + tokensOfBytes(0)
}
