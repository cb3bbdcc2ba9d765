import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { decimalText } from '../../src/money/rational.ts'
import { calculate } from '../../src/price/calculate.ts'
import { priceLists } from '../../src/price/first/price-lists.ts'
import { readUsage } from '../../src/tokens/read-usage.ts'
import { modelOf } from '../price/made-requests.ts'
import { installLiteLlm } from './proxy.ts'

interface Case {
  readonly info: Readonly<Record<string, number>>
  readonly usage: {
    readonly prompt_tokens: number
    readonly completion_tokens_details: { readonly reasoning_tokens?: number }
  }
  readonly tier: string | null
  /** What LiteLLM's own calculator gives, a sum of doubles. */
  readonly cost: number
}

/**
 * With a service tier and a size of context at once, LiteLLM bills reasoning at the output price of the size. A contract has
 * no words for a price that depends on both (decision 1003).
 */
function isExcluded({ info, usage, tier }: Case): boolean {
  const sizes = Object.keys(info).flatMap((name) => /_above_(\d+)k/.exec(name)?.[1] ?? [])
  return (
    info.output_cost_per_reasoning_token !== undefined &&
    usage.completion_tokens_details.reasoning_tokens !== undefined &&
    tier !== null &&
    info[`output_cost_per_token_${tier}`] !== undefined &&
    sizes.some((size) => usage.prompt_tokens > Number(size) * 1000)
  )
}

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e6))

test.runIf(process.env.NIGHTLY !== undefined)(
  `random usage of models with random prices costs what LiteLLM's calculator says (SEED=${seed})`,
  () => {
    const text = execFileSync(
      installLiteLlm(),
      [join(import.meta.dirname, 'cost_cases.py'), '2000', String(seed)],
      { encoding: 'utf8', maxBuffer: 64e6 },
    )
    const cases = text
      .trim()
      .split('\n')
      .map((line): Case => JSON.parse(line))
    expect(cases).toHaveLength(2000)
    const judged = cases.filter((each) => !isExcluded(each))
    expect(judged.length).toBeGreaterThan(0.9 * cases.length)
    for (const each of judged) {
      const body = { data: [{ model_name: 'm', model_info: each.info }] }
      const { id: _, ...fields } = priceLists.litellm.read(body).models[0]!
      const found = calculate(modelOf(fields), readUsage(each.usage, 'litellm'), {
        atMs: Date.parse('2026-11-25T12:00:00Z'),
        serviceTier: each.tier,
        choices: {},
        outcome: 'success',
        counts: {},
      })
      const cost = found.cost === null ? Number.NaN : Number(decimalText(found.cost))
      expect(
        Math.abs(cost - each.cost),
        JSON.stringify({ ...each, cost, theirs: each.cost }),
      ).toBeLessThanOrEqual(1e-9 * each.cost)
    }
  },
  300_000,
)
