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
    const output = price('output_visible')
    return prompt === null || output === null
      ? null
      : [...lines.map(({ cost }) => cost), multiply(rational(BigInt(prompt)), output)]
  }),
  side('the prices of input and output exchanged', (_, price, lines) => {
    const [input, output] = [price('input_uncached'), price('output_visible')]
    if (input === null || output === null) return null
    return lines.map(({ name, count, cost }) =>
      name === 'input_uncached'
        ? multiply(count, output)
        : name === 'output_visible'
          ? multiply(count, input)
          : cost,
    )
  }),
]

function side(
  summary: string,
  costs: (
    usage: Usage,
    priceOf: (name: string) => Rational | null,
    lines: readonly CostLine[],
  ) => readonly Rational[] | null,
): Change {
  return {
    summary,
    about: 'input',
    costOf(_, model, usage, context: PriceContext) {
      const { cost, lines } = calculate(model, usage, context)
      if (cost === null) return null
      const priceOf = (name: string) => {
        const line = lines.find((each) => each.name === name)
        return line === undefined ? null : divide(line.price, line.per)
      }
      const changed = costs(usage, priceOf, lines)
      return changed === null ? null : finishedLike(model, usage, context, changed)
    },
  }
}
