import type { Contract } from '../contract/contract.ts'
import { modelPriceOf } from '../contract/model-price.ts'
import { shownAmount } from '../money/money.ts'
import { add, multiply, type Rational, rational, zero } from '../money/rational.ts'
import { calculate } from '../price/calculate.ts'
import type { PhasePlan } from '../run/plan.ts'
import type { Scenario, Step } from '../scenario/scenario.ts'
import { tokensOf } from '../schedule/draw.ts'
import { RandomStream } from '../schedule/random.ts'
import { normalUsage } from '../tokens/usage.ts'

/** Draws for the mean of a distribution of lengths. */
const draws = 1000
/** Letters of English in one token of usual tokenizers. */
const lettersOfToken = 4

/** What a plan costs at the prices of a contract; null if the contract has no prices by token or request. */
export interface PlanMoney {
  /** Unit of the amounts. */
  readonly unit: string
  /** The cost of each phase, by its place; null if it cannot be foreseen. */
  readonly phases: readonly (string | null)[]
  /** The sum in a sentence, or why there is none. */
  readonly says: string
}

/**
 * The cost if every request succeeds and every answer is as long as it may be: prompts by an estimate of their tokens,
 * nothing from a cache.
 *
 * @param atMs Unix milliseconds: prices may depend on the hour
 */
export function planMoney(
  scenario: Scenario,
  plan: readonly PhasePlan[],
  contract: Contract,
  atMs: number,
): PlanMoney | null {
  const unit = contract.prices?.currency.name
  if (unit === undefined) return null
  const foreseen = new Map(
    scenario.steps.map((step) => [step.name, costOf(step, scenario, contract, atMs)]),
  )
  const costs = plan.map(({ phase, requests, bySteps }): Rational | string => {
    const counts = Object.entries(bySteps)
    if (requests === null || (requests > 0 && counts.length === 0))
      return `answers decide how many requests ${phase} sends`
    let sum = zero
    for (const [name, count] of counts) {
      const cost = foreseen.get(name)!
      if (typeof cost === 'string') return cost
      sum = add(sum, multiply(cost, rational(BigInt(count))))
    }
    return sum
  })
  const known = costs.filter((cost) => typeof cost !== 'string')
  const open = new Set(costs.filter((cost) => typeof cost === 'string'))
  const sum = shownAmount(known.reduce(add, zero), unit)
  const by =
    'if every answer is as long as max_tokens: prompts by an estimate of their tokens, nothing from a cache'
  return {
    unit,
    phases: costs.map((cost) => (typeof cost === 'string' ? null : shownAmount(cost, unit))),
    says:
      open.size === 0
        ? `About ${sum} in all, ${by}.`
        : `No bound on the cost: ${[...open].join('; ')}.${known.length === 0 ? '' : ` The other phases cost about ${sum}, ${by}.`}`,
  }
}

/** The cost of a request, with all turns of its conversation; a sentence why it cannot be foreseen. */
function costOf(
  step: Step,
  scenario: Scenario,
  contract: Contract,
  atMs: number,
): Rational | string {
  const { name, model, maxTokens, wrong, endpoint, body, session } = step
  if (wrong !== null || model === null) return zero
  const price = modelPriceOf(contract, model)
  if (price === null) return `step ${name}: ${model} has no price`
  const prompt = promptTokens(step, scenario.seed)
  if (prompt === null) return `step ${name}: the length of its prompts is not planned`
  const answer = endpoint === 'embeddings' ? 0 : (maxTokens ?? body.max_completion_tokens)
  if (typeof answer !== 'number') return `step ${name} has no max_tokens`
  const choices = typeof body.n === 'number' ? body.n : 1
  let sum = zero
  for (let turn = 0; turn < (session?.turns ?? 1); turn++) {
    const usage = normalUsage(
      { input: prompt + turn * (prompt + answer), output: answer * choices },
      { input: 'all', output: 'all' },
    )
    const { cost } = calculate(price, usage, {
      ...{ atMs, serviceTier: null, choices: {}, outcome: 'success', counts: {} },
    })
    if (cost === null) return `step ${name}: the price of ${model} is open`
    sum = add(sum, cost)
  }
  return sum
}

/** Mean tokens of a step's first prompt, by estimate; null if a file or a function decides. */
function promptTokens({ name, prompt, system }: Step, seed: number): number | null {
  const textTokens = (text: string) => Math.ceil(text.length / lettersOfToken)
  const before = system === null ? 0 : textTokens(system)
  switch (prompt.kind) {
    case 'text':
      return before + textTokens(prompt.text)
    case 'sentence':
      return before + 20
    case 'file':
    case 'function':
      return null
    case 'synthetic': {
      const lengths = new RandomStream(seed, `lengths of ${name}`)
      let sum = 0
      for (let at = 0; at < draws; at++) sum += tokensOf(prompt.tokens, lengths, at)
      return before + Math.round(sum / draws) + (prompt.prefix?.tokens ?? 0)
    }
  }
}
