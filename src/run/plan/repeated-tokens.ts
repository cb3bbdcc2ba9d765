import type { Scenario } from '../../scenario/scenario.ts'
import type { Step } from '../../scenario/steps.ts'
import { tokensOf } from '../../schedule/draw.ts'
import { RandomStream } from '../../schedule/random.ts'

/** Draws for the mean of a distribution of lengths. */
const draws = 1000

/**
 * The share of a step's prompt tokens that earlier requests of the run already had, which a prefix cache may answer.
 * Null if it is not planned: a function, a trace, a file.
 *
 * @param requests of the step; null if unknown, which gives the share of a run without end for a common prefix
 */
export function repeatedShare(
  { name, prompt }: Step,
  seed: number,
  requests: number | null,
): number | null {
  const allButFirst = (texts: number) =>
    requests === null ? null : requests <= texts ? 0 : 1 - texts / requests
  switch (prompt.kind) {
    case 'sentence':
      return 0
    case 'text':
      return allButFirst(1)
    case 'file':
    case 'function':
      return null
    case 'synthetic': {
      const { pool, prefix, tokens } = prompt
      if (pool !== null) return allButFirst(pool)
      if (prefix === null || prefix.texts === null) return 0
      const lengths = new RandomStream(seed, `lengths of ${name}`)
      let own = 0
      for (let at = 0; at < draws; at++) own += tokensOf(tokens, lengths, at)
      const share = prefix.tokens / (prefix.tokens + own / draws)
      return share * (allButFirst(prefix.texts) ?? 1)
    }
  }
}

/** A smaller share would be shown as 0 %. */
const leastShown = 0.005

/** `chat: 80 % of its prompt tokens are repeated`, for each step that repeats any and asks a model. */
export function repeatedTexts(
  scenario: Scenario,
  seed: number,
  requestsOf: (step: string) => number | null,
): readonly string[] {
  return scenario.steps.flatMap((step) => {
    const requests = requestsOf(step.name)
    const share = repeatedShare(step, seed, requests)
    if (share === null || share < leastShown || step.wrong !== null || step.model === null)
      return []
    const most = requests === null ? 'up to ' : ''
    return [
      `${step.name}: ${most}${(share * 100).toFixed(0)} % of its prompt tokens are repeated, so a prefix cache may answer them.`,
    ]
  })
}
