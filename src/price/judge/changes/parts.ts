import {
  type ModelPrice,
  priceOfPart,
  type TokenPrice,
  tokenPriceNames,
  tokenPrices,
} from '../../../contract/prices.ts'
import { divide, isEqual, multiply, one, type Rational, zero } from '../../../money/rational.ts'
import { type Part, type Parts, parts, type Usage } from '../../../tokens/usage.ts'
import { calculate, type PriceContext } from '../../calculate.ts'
import type { CostLine } from '../../cost-sum.ts'
import { type Change, onUsage } from './change.ts'

/**
 * Changes to each part, the likelier kinds first: at its parent's price, or at that beside its own; free; counted twice. Of many
 * that give the same, the first are named.
 */
export const partChanges: readonly Change[] = (['priced', 'free', 'twice'] as const).flatMap(
  (kind) => parts.flatMap((part) => changesOf(part)[kind]),
)

function changesOf(part: Part): Readonly<Record<'priced' | 'free' | 'twice', readonly Change[]>> {
  const name = priceOfPart[part]
  const count = ({ parts: of }: Usage) => (of[part] ?? 0) || null
  const set = (usage: Usage, change: Partial<Parts>): Usage => ({
    ...usage,
    parts: { ...usage.parts, ...change },
  })
  const own = shownOf(part)
  const has = (usage: Usage) => count(usage) !== null
  return {
    twice: [
      onUsage(`${own} counted twice`, name, (usage) => {
        const n = count(usage)
        return n === null ? null : set(usage, { [part]: 2 * n })
      }),
      // Where each line is rounded, or a tier begins at a count, a line that is charged twice is another cost than one of twice the count.
      repriced(
        'beside',
        `${own} counted twice`,
        name,
        (line) => (line.name === part ? line.cost : null),
        has,
      ),
    ],
    free: [withTierOf(`${own} free`, name, part)],
    priced: ancestorsOf(name).flatMap((parent) => [
      atParent('instead', `${own} at the price of ${parent}`, part, parent),
      atParent('beside', `${own} also charged as ${parent}`, part, parent),
    ]),
  }
}

/** A part at a price of another kind of token that the model writes, such as input at the price of cache reads. */
export function pairChanges(models: readonly ModelPrice[]): readonly Change[] {
  const written = tokenPriceNames.filter((name) =>
    models.some(({ price }) => Object.hasOwn(price, name)),
  )
  return parts.flatMap((part) => {
    const own = priceOfPart[part]
    return written
      .filter((name) => name !== own && !ancestorsOf(own).includes(name))
      .map((name) => atParent('instead', `${shownOf(part)} at the price of ${name}`, part, name))
  })
}

/** `input` of `input_uncached`. */
export function shownOf(part: Part): string {
  const name = priceOfPart[part]
  return name === part || name === 'input' || name === 'output' ? name : `uncached ${name}`
}

/** The prices to which a price falls back, nearest first. */
export function ancestorsOf(name: TokenPrice): readonly TokenPrice[] {
  const parent = tokenPrices[name]
  return parent === null ? [] : [parent, ...ancestorsOf(parent)]
}

/** The cost without one part, in the tier that the whole request has. */
function withTierOf(summary: string, about: string, part: Part): Change {
  return {
    summary,
    about,
    costOf(_, model, usage, context) {
      if ((usage.parts[part] ?? 0) === 0) return null
      const found = calculate(model, usage, context)
      if (found.cost === null) return null
      const kept = found.lines.filter((line) => line.name !== part)
      return kept.length === found.lines.length
        ? null
        : finishedLike(
            model,
            usage,
            context,
            kept.map(({ cost }) => cost),
          )
    },
  }
}

/** The cost of some lines after factors, rounding and the smallest charge. Each is a part of its own, which may be rounded. */
export function finishedLike(
  model: ModelPrice,
  usage: Usage,
  context: PriceContext,
  costs: readonly Rational[],
): Rational | null {
  const [first = zero, ...others] = costs
  const named = others.map((cost, at) => [`line ${at}`, cost] as const)
  const only: ModelPrice = {
    ...model,
    price: Object.fromEntries(
      [['request', first] as const, ...named].map(([name, price]) => [name, { price, per: one }]),
    ),
    tiers: null,
    changes: [],
    service: {},
    by: {},
    hours: [],
  }
  const counts = Object.fromEntries(named.map(([name]) => [name, one]))
  const plain = { ...usage, named: {}, passes: [] }
  return calculate(only, plain, { ...context, serviceTier: null, counts }).cost
}

/** What a line of a cost would cost otherwise; null for the same. */
export type Repricing = (
  line: Pick<CostLine, 'name' | 'cost' | 'count'>,
  parentOf: (part: Part, parent: TokenPrice) => Rational | null,
) => Rational | null

/** A change to the lines of a cost: another cost stands instead of a line or beside it, each rounded where lines are. */
export function repriced(
  stands: 'instead' | 'beside',
  summary: string,
  about: string,
  price: Repricing,
  applies: (usage: Usage, model: ModelPrice) => boolean,
): Change {
  return {
    summary,
    about,
    costOf(_, model, usage, context) {
      if (!applies(usage, model)) return null
      const found = calculate(model, usage, context)
      if (found.cost === null) return null
      const parentOf = (part: Part, parent: TokenPrice) =>
        parentPrice(model, usage, context, part, parent)
      const others = found.lines.map((line) => price(line, parentOf))
      const isOwn = (other: Rational | null, at: number) =>
        other === null || (stands === 'instead' && isEqual(other, found.lines[at]!.cost))
      if (others.every(isOwn)) return null
      const costs = found.lines.flatMap(({ cost }, at) =>
        stands === 'instead' ? (others[at] ?? cost) : [cost, others[at] ?? []].flat(),
      )
      return finishedLike(model, usage, context, costs)
    },
  }
}

/** The price of one token of a parent of the part, in the tier of this request. */
export function parentPrice(
  model: ModelPrice,
  usage: Usage,
  context: PriceContext,
  part: Part,
  parent: TokenPrice,
): Rational | null {
  const root = parts.find((each) => priceOfPart[each] === parent)!
  const own = calculate(model, usage, context).lines.find((line) => line.name === root)
  if (own !== undefined) return divide(own.price, own.per)
  // One token of the part becomes one of its parent, so the tier stays.
  const count = Math.max(0, (usage.parts[part] ?? 0) - 1)
  const probe: Usage = { ...usage, parts: { ...usage.parts, [root]: 1, [part]: count } }
  const line = calculate(model, probe, context).lines.find(({ name }) => name === root)
  return line === undefined ? null : divide(line.price, line.per)
}

function atParent(stands: 'instead' | 'beside', summary: string, part: Part, parent: TokenPrice) {
  return repriced(
    stands,
    summary,
    priceOfPart[part],
    ({ name, count }, parentOf) => {
      const price = name === part ? parentOf(part, parent) : null
      return price && multiply(count, price)
    },
    (usage) => (usage.parts[part] ?? 0) > 0,
  )
}
