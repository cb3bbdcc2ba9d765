import { divide, multiply, type Rational, rational } from '../../../money/rational.ts'
import { promptOf, type Usage } from '../../../tokens/usage.ts'
import { calculate, type PriceContext } from '../../calculate.ts'
import type { CostLine } from '../../cost-sum.ts'
import type { Change } from './change.ts'
import { finishedLike } from './parts.ts'

/** Changes that mistake the prompt for the output, or the other way round. */
export const sideChanges: readonly Change[] = [
  side('the whole prompt also charged as output', (usage, price, lines) => {
    const prompt = promptOf(usage.parts)
    const output = price('output')
    return prompt === null || output === null
      ? null
      : [...lines.map(({ cost }) => cost), multiply(rational(BigInt(prompt)), output)]
  }),
  side('the prices of input and output exchanged', (_, price, lines) => {
    const [input, output] = [price('input'), price('output')]
    if (input === null || output === null) return null
    return lines.map(({ priced, count, cost }) =>
      priced === 'input'
        ? multiply(count, output)
        : priced === 'output'
          ? multiply(count, input)
          : cost,
    )
  }),
]

function side(
  summary: string,
  costs: (
    usage: Usage,
    priceOf: (written: 'input' | 'output') => Rational | null,
    lines: readonly CostLine[],
  ) => readonly Rational[] | null,
): Change {
  return {
    summary,
    about: 'input',
    costOf(_, model, usage, context: PriceContext) {
      const { cost, lines } = calculate(model, usage, context)
      if (cost === null) return null
      // Thinking, and what else has no price of its own, has that of its side.
      const priceOf = (written: string) => {
        const line = lines.find((each) => each.priced === written)
        return line === undefined ? null : divide(line.price, line.per)
      }
      const changed = costs(usage, priceOf, lines)
      return changed === null ? null : finishedLike(model, usage, context, changed)
    },
  }
}
