import { entryFor } from '../../contract/price-entry.ts'
import {
  type ModelPrice,
  type PriceEntry,
  priceOfPart,
  type TokenPrice,
  tokenPrices,
} from '../../contract/prices.ts'
import {
  add,
  divide,
  isEqual,
  multiply,
  one,
  type Rational,
  rational,
  subtract,
  zero,
} from '../../money/rational.ts'
import { type Part, type Parts, parts, type Usage } from '../../tokens/usage.ts'
import { calculate, type PriceContext } from '../calculate.ts'
import { scaled } from '../price-at.ts'
import type { PriceOf } from './expected.ts'
import type { PricedRequest } from './request.ts'

/** What a single change to the right calculation would charge. */
export interface Change {
  /** `cache_read at the price of input`. */
  readonly says: string
  /** The part or step of the price that it is about: `cache_read`, `tiers`, `round`. */
  readonly about: string
  /** Null if it does not apply to the request. */
  readonly costOf: (
    request: PricedRequest,
    model: ModelPrice,
    usage: Usage,
    context: PriceContext,
  ) => Rational | null
}

type OnUsage = (usage: Usage, request: PricedRequest) => Usage | null
type OnModel = (model: ModelPrice) => ModelPrice | null

const onUsage = (says: string, about: string, change: OnUsage): Change => ({
  says,
  about,
  costOf(request, model, usage, context) {
    const changed = change(usage, request)
    return changed === null ? null : calculate(model, changed, context).cost
  },
})

const onModel = (says: string, about: string, change: OnModel): Change => ({
  says,
  about,
  costOf(_, model, usage, context) {
    const changed = change(model)
    return changed === null ? null : calculate(changed, usage, context).cost
  },
})

/** Every single change that may explain a wrong cost. Those to one part come before those to the whole. */
export function changesFor(models: readonly ModelPrice[], priceOf: PriceOf): readonly Change[] {
  return [
    ...parts.flatMap(partChanges),
    ...groupChanges,
    ...streamChanges,
    ...priceChanges(models),
    ...feeChanges(models),
    ...outcomeChanges,
    ...nameChanges(models, priceOf),
    ...wholeChanges,
    ...roundingChanges,
  ]
}

/** Changes to one part: counted twice, free, at its parent's price, or at that beside its own. */
function partChanges(part: Part): readonly Change[] {
  const name = priceOfPart[part]
  const count = ({ parts: of }: Usage) => (of[part] ?? 0) || null
  const set = (usage: Usage, change: Partial<Parts>): Usage => ({
    ...usage,
    parts: { ...usage.parts, ...change },
  })
  const shown = name === part ? name : `uncached ${name}`
  const own = name === 'input' || name === 'output' ? name : shown
  return [
    onUsage(`${own} counted twice`, name, (usage) => {
      const n = count(usage)
      return n === null ? null : set(usage, { [part]: 2 * n })
    }),
    withTierOf(`${own} free`, name, part),
    ...ancestorsOf(name).flatMap((parent) => [
      atParent(`${own} at the price of ${parent}`, part, parent),
      besideParent(`${own} also charged as ${parent}`, part, parent),
    ]),
  ]
}

/** The prices to which a price falls back, nearest first. */
function ancestorsOf(name: TokenPrice): readonly TokenPrice[] {
  const parent = tokenPrices[name]
  return parent === null ? [] : [parent, ...ancestorsOf(parent)]
}

/** The cost without one part, in the tier that the whole request has. */
function withTierOf(says: string, about: string, part: Part): Change {
  return {
    says,
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

/** The cost of some lines after factors, rounding and the smallest charge. */
function finishedLike(
  model: ModelPrice,
  usage: Usage,
  context: PriceContext,
  costs: readonly Rational[],
): Rational | null {
  const sum = costs.reduce(add, zero)
  const only: ModelPrice = {
    ...model,
    price: { request: { price: sum, per: one } },
    tiers: null,
    changes: [],
    service: {},
    hours: [],
  }
  return calculate(only, usage, { ...context, serviceTier: null }).cost
}

function repriced(
  says: string,
  about: string,
  price: (
    line: { readonly name: string; readonly cost: Rational; readonly count: Rational },
    parentOf: (part: Part, parent: TokenPrice) => Rational | null,
  ) => Rational,
  applies: (usage: Usage) => boolean,
): Change {
  return {
    says,
    about,
    costOf(_, model, usage, context) {
      if (!applies(usage)) return null
      const found = calculate(model, usage, context)
      if (found.cost === null) return null
      const parentOf = (part: Part, parent: TokenPrice) =>
        parentPrice(model, usage, context, part, parent)
      const costs = found.lines.map((line) => price(line, parentOf))
      if (costs.every((cost, at) => isEqual(cost, found.lines[at]!.cost))) return null
      return finishedLike(model, usage, context, costs)
    },
  }
}

/** The price of one token of a parent of the part, in the tier of this request. */
function parentPrice(
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

const atParent = (says: string, part: Part, parent: TokenPrice) =>
  repriced(
    says,
    priceOfPart[part],
    ({ name, cost, count }, parentOf) => {
      const price = name === part ? parentOf(part, parent) : null
      return price === null ? cost : multiply(count, price)
    },
    (usage) => (usage.parts[part] ?? 0) > 0,
  )

const besideParent = (says: string, part: Part, parent: TokenPrice) =>
  repriced(
    says,
    priceOfPart[part],
    ({ name, cost, count }, parentOf) => {
      const price = name === part ? parentOf(part, parent) : null
      return price === null ? cost : add(cost, multiply(count, price))
    },
    (usage) => (usage.parts[part] ?? 0) > 0,
  )

const cacheParts: readonly Part[] = [
  'cache_read',
  'cache_write',
  'cache_write_1h',
  'cache_read_audio',
]
const kinds: Readonly<Record<string, readonly Part[]>> = {
  'all cached tokens': cacheParts,
  'all audio tokens': ['input_audio', 'output_audio', 'cache_read_audio'],
  'all image tokens': ['input_image', 'output_image'],
}

/** Changes to several parts of one kind. */
const groupChanges: readonly Change[] = [
  ...Object.entries(kinds).flatMap(([says, of]) => {
    const has = (usage: Usage) => of.filter((part) => (usage.parts[part] ?? 0) > 0).length > 1
    return [
      repriced(
        `${says} at the text price`,
        says,
        ({ name, cost, count }, parentOf) => {
          const part = of.find((each) => each === name)
          const price =
            part === undefined ? null : parentOf(part, ancestorsOf(priceOfPart[part]).at(-1)!)
          return price === null ? cost : multiply(count, price)
        },
        has,
      ),
      repriced(
        `${says} also charged as text`,
        says,
        ({ name, cost, count }, parentOf) => {
          const part = of.find((each) => each === name)
          const price =
            part === undefined ? null : parentOf(part, ancestorsOf(priceOfPart[part]).at(-1)!)
          return price === null ? cost : add(cost, multiply(count, price))
        },
        has,
      ),
      repriced(
        `${says} free`,
        says,
        ({ name, cost }) => (of.some((each) => each === name) ? zero : cost),
        has,
      ),
    ]
  }),
  // Reads that are subtracted from a count that excludes them.
  {
    says: 'cached tokens subtracted from an input that does not contain them',
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

/** Counts of a stream that are added up, although each is already a total. */
const streamChanges: readonly Change[] = [
  streamSum('the input of every event added up', (part) => !isOutput(part)),
  streamSum('the output of every event added up', isOutput),
  streamSum('the counts of every event added up', () => true),
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

function streamSum(says: string, adds: (part: Part) => boolean): Change {
  return onUsage(says, 'usage of streams', (usage, { eventUsages }) => {
    if (eventUsages.length < 2) return null
    const summed = parts.map((part) => {
      const counts = eventUsages.map(({ parts: of }) => of[part] ?? 0)
      const sum = counts.reduce((a, b) => a + b, 0)
      return [part, adds(part) && usage.parts[part] !== null ? sum : usage.parts[part]]
    })
    return { ...usage, parts: Object.fromEntries(summed) as Parts }
  })
}

/** Changes to the steps of the price. */
function priceChanges(models: readonly ModelPrice[]): readonly Change[] {
  const factorNames = new Set(models.flatMap(({ factors }) => Object.keys(factors)))
  const tierParts = new Set(
    models.flatMap(({ tiers }) => (tiers?.steps ?? []).flatMap(({ price }) => Object.keys(price))),
  )
  return [
    onModel('the tier ignored', 'tiers', (model) =>
      model.tiers === null ? null : { ...model, tiers: null },
    ),
    onModel('only the tokens above the threshold at the price of the tier', 'tiers', (model) =>
      model.tiers === null || model.tiers.apply === 'marginal'
        ? null
        : { ...model, tiers: { ...model.tiers, apply: 'marginal' } },
    ),
    marginalByPrompt,
    onModel('the whole request at the price of the tier', 'tiers', (model) =>
      model.tiers?.apply === 'marginal'
        ? { ...model, tiers: { ...model.tiers, apply: 'whole' } }
        : null,
    ),
    ...[...tierParts].map((name) =>
      onModel(`${name} at its price below the tier`, 'tiers', (model) =>
        model.tiers === null
          ? null
          : {
              ...model,
              tiers: {
                ...model.tiers,
                steps: model.tiers.steps.map((step) => ({
                  ...step,
                  price: stepWithout(model, step.price, name),
                })),
              },
            },
      ),
    ),
    onModel('the tier counts input without cached tokens', 'tiers', (model) =>
      model.tiers?.count === 'prompt'
        ? { ...model, tiers: { ...model.tiers, count: 'input' } }
        : null,
    ),
    {
      says: 'the service tier ignored',
      about: 'service',
      costOf: (_, model, usage, context) =>
        context.serviceTier === null || model.service[context.serviceTier] === undefined
          ? null
          : calculate(model, usage, { ...context, serviceTier: null }).cost,
    },
    ...[...new Set(models.flatMap(({ service }) => Object.keys(service)))].map(
      (tier): Change => ({
        says: `charged as service tier ${tier}`,
        about: 'service',
        costOf: (_, model, usage, context) =>
          context.serviceTier === tier || model.service[tier] === undefined
            ? null
            : calculate(model, usage, { ...context, serviceTier: tier }).cost,
      }),
    ),
    onModel('the hours ignored', 'hours', (model) =>
      model.hours.length === 0 ? null : { ...model, hours: [] },
    ),
    onModel('the hours applied all day', 'hours', (model) => {
      const [first] = model.hours
      if (first === undefined) return null
      return {
        ...model,
        hours: [
          {
            ...first,
            days: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
            except: [],
            windows: [{ from: 0, to: 1440 }],
          },
        ],
      }
    }),
    onModel('the hours applied on excepted days', 'hours', (model) =>
      model.hours.some(({ except }) => except.length > 0)
        ? { ...model, hours: model.hours.map((entry) => ({ ...entry, except: [] })) }
        : null,
    ),
    onModel('the price before its last change', 'changes', (model) =>
      model.changes.length === 0 ? null : { ...model, changes: model.changes.slice(0, -1) },
    ),
    onModel('the price before all changes', 'changes', (model) =>
      model.changes.length < 2 ? null : { ...model, changes: [] },
    ),
    onModel('a change applied before its time', 'changes', (model) => {
      const next = model.changes.at(-1)
      return next === undefined
        ? null
        : {
            ...model,
            changes: [...model.changes.slice(0, -1), { ...next, fromMs: 0 }].toSorted(
              (a, b) => a.fromMs - b.fromMs,
            ),
          }
    }),
    ...[...factorNames].flatMap((name) => [
      onModel(`the factor ${name} left out`, 'times', (model) => {
        const { [name]: left, ...factors } = model.factors
        return left === undefined ? null : { ...model, factors }
      }),
      onModel(`the factor ${name} applied twice`, 'times', (model) => {
        const factor = model.factors[name]
        return factor === undefined
          ? null
          : { ...model, factors: { ...model.factors, [`${name} again`]: factor } }
      }),
      ...choicesOf(models, name).map(
        (choice): Change => ({
          says: `the factor of ${name} ${choice}`,
          about: 'times',
          costOf: (_, model, usage, context) =>
            calculate(model, usage, {
              ...context,
              choices: { ...context.choices, [name]: choice },
            }).cost,
        }),
      ),
    ]),
    onModel('all factors left out', 'times', (model) =>
      Object.keys(model.factors).length < 2 ? null : { ...model, factors: {} },
    ),
    onModel('the rounding left out', 'round', (model) =>
      model.round === null ? null : { ...model, round: null },
    ),
    onModel('the smallest charge left out', 'minimum', (model) =>
      model.minimum === null ? null : { ...model, minimum: null },
    ),
  ]
}

function choicesOf(models: readonly ModelPrice[], name: string): readonly string[] {
  return [
    ...new Set(
      models.flatMap(({ factors }) => {
        const factor = factors[name]
        return factor === undefined || 'value' in factor ? [] : Object.keys(factor.choices)
      }),
    ),
  ]
}

/** A step of a tier where one price stays as it is below. */
function stepWithout(
  model: ModelPrice,
  price: ModelPrice['price'],
  name: string,
): ModelPrice['price'] {
  const { [name]: _, ...rest } = price
  const base =
    name in tokenPrices
      ? entryFor(model.price, name as keyof typeof tokenPrices)?.entry
      : model.price[name]
  return base === undefined ? rest : { ...rest, [name]: base }
}

/** Tokens above the threshold of the prompt at the price of the tier, output as below: the usual mistake. */
const marginalByPrompt: Change = {
  says: 'only the prompt above the threshold at the price of the tier',
  about: 'tiers',
  costOf(_, model, usage, context) {
    const { tiers } = model
    if (tiers === null || tiers.apply === 'marginal') return null
    return calculate(
      {
        ...model,
        tiers: {
          ...tiers,
          apply: 'marginal',
          steps: tiers.steps.map((step) => ({ ...step, price: withoutOutput(step.price) })),
        },
      },
      usage,
      context,
    ).cost
  },
}

function withoutOutput(price: ModelPrice['price']): ModelPrice['price'] {
  return Object.fromEntries(
    Object.entries(price).filter(([name]) => !name.startsWith('output') && name !== 'reasoning'),
  )
}

/** Changes to prices of requests and calls. */
function feeChanges(models: readonly ModelPrice[]): readonly Change[] {
  const fees = new Set(
    models.flatMap(({ price }) => Object.keys(price).filter((name) => !(name in tokenPrices))),
  )
  return [...fees].flatMap((fee) => [
    onModel(`${fee} free`, fee, (model) => without(model, fee)),
    onModel(`${fee} charged twice`, fee, (model) => {
      const entry = model.price[fee]
      return entry === undefined || entry.price === 'open'
        ? null
        : { ...model, price: { ...model.price, [fee]: doubled(entry) } }
    }),
    ...(fee === 'request'
      ? [
          {
            says: 'the price of a request charged per second',
            about: fee,
            costOf(request: PricedRequest, model: ModelPrice, usage: Usage, context: PriceContext) {
              const seconds = Math.ceil((request.endMs - request.startMs) / 1000)
              return seconds < 2
                ? null
                : calculate(model, usage, {
                    ...context,
                    counts: { ...context.counts, request: rational(BigInt(seconds)) },
                  }).cost
            },
          } satisfies Change,
        ]
      : []),
  ])
}

function doubled(entry: PriceEntry): PriceEntry {
  return scaled({ entry }, rational(2n)).entry!
}

function without(model: ModelPrice, fee: string): ModelPrice | null {
  const { [fee]: left, ...price } = model.price
  return left === undefined ? null : { ...model, price }
}

/** Another charge for how the request ended. */
const outcomeChanges: readonly Change[] = (['full', 'input', 'none'] as const).map(
  (charge): Change => ({
    says: { full: 'charged in full', input: 'its input charged', none: 'not charged' }[charge],
    about: 'charged',
    costOf(_, model, usage, context) {
      if (context.outcome === 'success' || model.charged[context.outcome] === charge) return null
      const charged = { ...model.charged, [context.outcome]: charge }
      return calculate({ ...model, charged }, usage, context).cost
    },
  }),
)

/** The price of another name. */
function nameChanges(models: readonly ModelPrice[], priceOf: PriceOf): readonly Change[] {
  return [
    {
      says: 'the price of the name in the answer',
      about: 'priced',
      costOf(request, model, usage, context) {
        const returned = request.returnedModel === null ? null : priceOf(request.returnedModel)
        return returned === null || returned.id === model.id
          ? null
          : calculate(returned, usage, context).cost
      },
    },
    {
      says: 'the price of the requested name',
      about: 'priced',
      costOf(request, model, usage, context) {
        const requested = priceOf(request.requestedModel)
        return requested === null || requested.id === model.id
          ? null
          : calculate(requested, usage, context).cost
      },
    },
    ...models.slice(0, mostNames).map(
      (other): Change => ({
        says: `the price of ${other.id}`,
        about: 'priced',
        costOf: (_, model, usage, context) =>
          other.id === model.id ? null : calculate(other, usage, context).cost,
      }),
    ),
  ]
}

/** Prices of other models are tried up to this number of models. */
const mostNames = 20

/** The whole cost times a number. */
const wholeChanges: readonly Change[] = [
  ...(
    [
      ['free', zero],
      ['charged twice', rational(2n)],
      ['charged three times', rational(3n)],
      ['in hundredths of the unit', rational(100n)],
      ['a hundredth of it', rational(1n, 100n)],
      ['a thousand times of it', rational(1000n)],
      ['a thousandth of it', rational(1n, 1000n)],
    ] as const
  ).map(
    ([says, times]): Change => ({
      says,
      about: 'the whole cost',
      costOf(_, model, usage, context) {
        const { cost } = calculate(model, usage, context)
        return cost === null || subtract(cost, multiply(cost, times)).numerator === 0n
          ? null
          : multiply(cost, times)
      },
    }),
  ),
]

/** Roundings that nobody promised. */
const roundingChanges: readonly Change[] = (['request', 'component'] as const).flatMap((at) =>
  (['down', 'up', 'half_up', 'half_even'] as const).flatMap((mode) =>
    [0, 2, 4, 6].map((digits) =>
      onModel(
        `${at === 'component' ? 'each part' : 'the request'} rounded to ${digits} decimals, ${mode}`,
        'round',
        (model) => ({ ...model, round: { at, digits, mode } }),
      ),
    ),
  ),
)
