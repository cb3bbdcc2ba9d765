import { outputParts, type Part, type Parts, parts } from '../../../tokens/usage.ts'
import { type Change, onModel, onTerms, onUsage } from './change.ts'

const isOutput = (part: Part): boolean => (outputParts as readonly Part[]).includes(part)

/** Counts of a stream that are added up, although each is already a total. */
export const streamChanges: readonly Change[] = [
  streamSum('the input of every event added up', (part) => !isOutput(part)),
  streamSum('the output of every event added up', isOutput),
  streamSum('the counts of every event added up', () => true),
  onTerms(
    'only the counts at the top of the usage, without those of its passes',
    'usage of passes',
    ({ usage }) => (usage.passes.length === 0 ? null : { usage: { ...usage, passes: [] } }),
  ),
  onTerms(
    'every pass at the price of the requested model',
    'usage of passes',
    ({ model, usage, context }, { requestedModel }) =>
      usage.passes.some((pass) => pass.model !== null)
        ? {
            model: context.priceOf?.(requestedModel) ?? model,
            usage: { ...usage, passes: usage.passes.map((pass) => ({ ...pass, model: null })) },
          }
        : null,
  ),
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

/** Events count the whole answer: their sum is that of none of its passes. */
function streamSum(summary: string, adds: (part: Part) => boolean): Change {
  return onTerms(summary, 'usage of streams', ({ usage }, { eventUsages }) => {
    if (eventUsages.length < 2 || usage.passes.length > 0) return null
    const summed = parts.map((part) => {
      const counts = eventUsages.map(({ parts: of }) => of[part] ?? 0)
      const sum = counts.reduce((a, b) => a + b, 0)
      return [part, adds(part) && usage.parts[part] !== null ? sum : usage.parts[part]]
    })
    return { usage: { ...usage, parts: Object.fromEntries(summed) as Parts } }
  })
}
