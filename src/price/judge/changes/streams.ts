import { type Part, type Parts, parts } from '../../../tokens/usage.ts'
import { calculate } from '../../calculate.ts'
import { type Change, onModel, onUsage } from './change.ts'

/** Counts of a stream that are added up, although each is already a total. */
export const streamChanges: readonly Change[] = [
  streamSum('the input of every event added up', (part) => !isOutput(part)),
  streamSum('the output of every event added up', isOutput),
  streamSum('the counts of every event added up', () => true),
  {
    summary: 'only the counts at the top of the usage, without those of its passes',
    about: 'usage of passes',
    costOf: (_, model, usage, context) =>
      usage.passes.length === 0 ? null : calculate(model, { ...usage, passes: [] }, context).cost,
  },
  {
    summary: 'every pass at the price of the requested model',
    about: 'usage of passes',
    costOf: ({ requestedModel }, model, usage, context) =>
      usage.passes.some((pass) => pass.model !== null)
        ? calculate(
            context.priceOf?.(requestedModel) ?? model,
            { ...usage, passes: usage.passes.map((pass) => ({ ...pass, model: null })) },
            context,
          ).cost
        : null,
  },
  onModel('an attempt that gave way to another model charged', 'charged', (model) =>
    model.charged.inner_attempt === 'none'
      ? { ...model, charged: { ...model.charged, inner_attempt: 'full' } }
      : null,
  ),
  onUsage('input and cached tokens counted twice', 'input', (usage) => ({
    ...usage,
    parts: {
      ...usage.parts,
      ...Object.fromEntries(
        parts
          .filter((part) => !isOutput(part))
          .map((part) => [part, usage.parts[part] === null ? null : 2 * usage.parts[part]!]),
      ),
    },
  })),
]

function isOutput(part: Part): boolean {
  return ['output_visible', 'reasoning', 'output_audio', 'output_image'].includes(part)
}

/** Events count the whole answer: their sum is that of none of its passes. */
function streamSum(summary: string, adds: (part: Part) => boolean): Change {
  return {
    summary,
    about: 'usage of streams',
    costOf({ eventUsages }, model, usage, context) {
      if (eventUsages.length < 2 || usage.passes.length > 0) return null
      const summed = parts.map((part) => {
        const counts = eventUsages.map(({ parts: of }) => of[part] ?? 0)
        const sum = counts.reduce((a, b) => a + b, 0)
        return [part, adds(part) && usage.parts[part] !== null ? sum : usage.parts[part]]
      })
      return calculate(model, { ...usage, parts: Object.fromEntries(summed) as Parts }, context)
        .cost
    },
  }
}
