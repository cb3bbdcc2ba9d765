import { type Fields, InvalidRequest, shown } from './fields.ts'

const leastBudgetTokens = 1024

/** `thinking` of the messages format: whether the model reasons first; null leaves it to the model. */
export function readThinking(fields: Fields, maxTokens: number): boolean | null {
  const thinking = fields.record('thinking')
  if (thinking === undefined) return null
  switch (thinking.type) {
    case 'disabled':
      return false
    case 'adaptive':
      return null
    case 'enabled': {
      const budget = thinking.budget_tokens
      if (
        Number.isInteger(budget) &&
        Number(budget) >= leastBudgetTokens &&
        Number(budget) < maxTokens
      ) {
        return true
      }
      throw new InvalidRequest(
        `thinking.budget_tokens: expected a whole number, at least ${leastBudgetTokens} and less than max_tokens (${maxTokens}); got ${shown(budget)}`,
      )
    }
  }
  throw new InvalidRequest(
    `thinking.type: expected enabled, disabled or adaptive; got ${shown(thinking.type)}`,
  )
}
