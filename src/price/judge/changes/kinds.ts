import { priceOfPart } from '../../../contract/prices.ts'
import { divide, multiply, rational, zero } from '../../../money/rational.ts'
import type { Part, Usage } from '../../../tokens/usage.ts'
import { lookup } from '../../../user/lookup.ts'
import { calculate } from '../../calculate.ts'
import type { Change } from './change.ts'
import { ancestorsOf, finishedLike, type Repricing, repriced } from './parts.ts'

const cacheParts: readonly Part[] = [
  'cache_read',
  'cache_write',
  'cache_write_1h',
  'cache_read_audio',
]
const kinds: Readonly<Record<string, readonly Part[]>> = lookup({
  'all cached tokens': cacheParts,
  'all audio tokens': ['input_audio', 'output_audio', 'cache_read_audio'],
  'all image tokens': ['input_image', 'output_image'],
})

/** Changes to several parts of one kind. */
export const groupChanges: readonly Change[] = [
  ...Object.entries(kinds).flatMap(([kind, of]) => {
    const has = (usage: Usage) => of.filter((part) => (usage.parts[part] ?? 0) > 0).length > 1
    const asText: Repricing = ({ name, count }, parentOf) => {
      const part = of.find((each) => each === name)
      const price =
        part === undefined ? null : parentOf(part, ancestorsOf(priceOfPart[part]).at(-1)!)
      return price && multiply(count, price)
    }
    return [
      repriced('instead', `${kind} at the text price`, kind, asText, has),
      repriced('beside', `${kind} also charged as text`, kind, asText, has),
      repriced(
        'instead',
        `${kind} free`,
        kind,
        ({ name }) => (of.some((each) => each === name) ? zero : null),
        has,
      ),
    ]
  }),
  // Reads that are subtracted from a count that excludes them.
  {
    summary: 'cached tokens subtracted from an input that does not contain them',
    about: 'cache_read',
    costOf(_, model, usage, context) {
      const reads = usage.parts.cache_read ?? 0
      if (reads === 0 || usage.parts.input_uncached === null) return null
      const found = calculate(model, usage, context)
      const input = found.lines.find(({ name }) => name === 'input_uncached')
      const price = input === undefined ? null : divide(input.price, input.per)
      if (found.cost === null || price === null) return null
      const costs = found.lines.map(({ cost }) => cost)
      return finishedLike(model, usage, context, [
        ...costs,
        multiply(rational(BigInt(-reads)), price),
      ])
    },
  },
]
