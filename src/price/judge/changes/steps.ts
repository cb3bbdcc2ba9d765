import { entryFor } from '../../../contract/price-entry.ts'
import { type ModelPrice, tokenPrices, weekdays } from '../../../contract/prices.ts'
import { compare, isZero, one, type Rational, subtract } from '../../../money/rational.ts'
import { largest } from '../../../user/extremes.ts'
import { entryOf } from '../../../user/lookup.ts'
import { calculate, type PriceContext } from '../../calculate.ts'
import { type Change, onModel } from './change.ts'

/** Changes to the steps of the price. */
export function priceChanges(models: readonly ModelPrice[]): readonly Change[] {
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
      summary: 'the service tier ignored',
      about: 'service',
      costOf: (_, model, usage, context) =>
        context.serviceTier === null || model.service[context.serviceTier] === undefined
          ? null
          : calculate(model, usage, { ...context, serviceTier: null }).cost,
    },
    ...[...new Set(models.flatMap(({ service }) => Object.keys(service)))].map(
      (tier): Change => ({
        summary: `charged as service tier ${tier}`,
        about: 'service',
        costOf: (_, model, usage, context) =>
          context.serviceTier === tier || model.service[tier] === undefined
            ? null
            : calculate(model, usage, { ...context, serviceTier: tier }).cost,
      }),
    ),
    ...[...new Set(models.flatMap(({ by }) => Object.keys(by)))].flatMap((field) =>
      nameChanges(models, field),
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
            days: weekdays,
            except: [],
            windows: [{ from: 0, to: 1440 }],
          },
        ],
      }
    }),
    ...otherHours(models),
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
    onModel('a change applied before its time', 'changes', (model) =>
      model.changes.length === 0 ? null : withChanges(model, model.changes.length),
    ),
    ...otherMonths(models),
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
      {
        summary: `the factor ${name} taken for a discount`,
        about: 'times',
        costOf(_, model, usage, context) {
          const factor = factorOf(model, name, context)
          if (factor === null) return null
          const value = subtract(one, factor)
          return calculate(
            { ...model, factors: { ...model.factors, [name]: { value } } },
            usage,
            context,
          ).cost
        },
      } satisfies Change,
      ...choicesOf(models, name).map(
        (choice): Change => ({
          summary: `the factor of ${name} ${choice}`,
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

/** A model whose first changes, so many of them, are all in force. */
const withChanges = (model: ModelPrice, count: number): ModelPrice => ({
  ...model,
  changes: model.changes.slice(0, count).map((change) => ({ ...change, fromMs: 0 })),
})

/** The price of a change that is not in force, and that is neither the last one nor the one before it. */
function otherMonths(models: readonly ModelPrice[]): readonly Change[] {
  const moments = new Set(models.flatMap(({ changes }) => changes.map(({ fromMs }) => fromMs)))
  return [...moments].map((fromMs) => ({
    summary: `the price from ${new Date(fromMs).toISOString().slice(0, 10)} on`,
    about: 'changes',
    costOf(_, model, usage, context) {
      const { changes } = model
      const at = changes.findIndex((change) => change.fromMs === fromMs)
      const inForce = changes.findLastIndex((change) => change.fromMs <= context.atMs)
      const last = changes.length - 1
      const isNamed = inForce === last ? at === last - 1 : at === last
      return at < 0 || at === inForce || isNamed
        ? null
        : calculate(withChanges(model, at + 1), usage, context).cost
    },
  }))
}

/** The second of several hours, or a later one, at any time. */
function otherHours(models: readonly ModelPrice[]): readonly Change[] {
  const most = largest(
    models.map(({ hours }) => hours.length),
    0,
  )
  return Array.from({ length: Math.max(0, most - 1) }, (_, nth) => {
    const at = nth + 1
    const from = models.flatMap(({ hours }) => hours[at]?.windows[0]?.from ?? [])[0] ?? 0
    return onModel(`the hours from ${clockText(from)} on applied all day`, 'hours', (model) => {
      const entry = model.hours[at]
      return entry === undefined
        ? null
        : {
            ...model,
            hours: [{ ...entry, days: weekdays, except: [], windows: [{ from: 0, to: 1440 }] }],
          }
    })
  })
}

/** Minutes of a day as a clock shows them: `06:30`. */
const clockText = (minutes: number) =>
  [Math.floor(minutes / 60), minutes % 60].map((each) => String(each).padStart(2, '0')).join(':')

/** The price of another value of what the usage names, or that without the name. */
function nameChanges(models: readonly ModelPrice[], field: string): readonly Change[] {
  const as = (summary: string, value: string | null): Change => ({
    summary,
    about: field,
    costOf(_, model, usage, context) {
      const { [field]: own, ...others } = usage.named ?? {}
      if (own === undefined || own === value) return null
      const named = value === null ? others : { ...others, [field]: value }
      return calculate(model, { ...usage, named }, context).cost
    },
  })
  const values = new Set(models.flatMap(({ by }) => Object.keys(by[field] ?? {})))
  return [
    as(`usage.${field} ignored`, null),
    ...[...values].map((value) => as(`charged as usage.${field} ${value}`, value)),
  ]
}

/** A factor below 1 of a request, which may be taken for a discount. */
function factorOf(
  { factors }: ModelPrice,
  name: string,
  { choices }: PriceContext,
): Rational | null {
  const factor = entryOf(factors, name)
  if (factor === undefined) return null
  const value =
    'value' in factor
      ? factor.value
      : entryOf(factor.choices, entryOf(choices ?? {}, name) ?? 'default')
  return value === undefined || isZero(value) || compare(value, one) >= 0 ? null : value
}

function choicesOf(models: readonly ModelPrice[], name: string): readonly string[] {
  return [
    ...new Set(
      models.flatMap(({ factors }) => {
        const factor = entryOf(factors, name)
        if (factor === undefined || 'value' in factor) return []
        // A factor of 0 is `free`, whatever its name.
        return Object.keys(factor.choices).filter((choice) => !isZero(factor.choices[choice]!))
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
  const base = Object.hasOwn(tokenPrices, name)
    ? entryFor(model.price, name as keyof typeof tokenPrices)?.entry
    : model.price[name]
  return base === undefined ? rest : { ...rest, [name]: base }
}

/** Tokens above the threshold of the prompt at the price of the tier, output as below: the usual mistake. */
const marginalByPrompt: Change = {
  summary: 'only the prompt above the threshold at the price of the tier',
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
