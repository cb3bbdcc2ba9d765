import { entryFor } from '../../../contract/price-entry.ts'
import { type ModelPrice, type Price, tokenPrices, weekdays } from '../../../contract/prices.ts'
import { compare, isEqual, isZero, one, type Rational, subtract } from '../../../money/rational.ts'
import type { Usage } from '../../../tokens/usage.ts'
import { largest } from '../../../user/extremes.ts'
import { entryOf } from '../../../user/lookup.ts'
import type { PriceContext } from '../../calculate.ts'
import { type Change, type OtherTerms, onModel, onTerms } from './change.ts'

export function priceChanges(models: readonly ModelPrice[]): readonly Change[] {
  const factorNames = new Set(models.flatMap(({ factors }) => Object.keys(factors)))
  const tierParts = new Set(
    models.flatMap(({ tiers }) => (tiers?.steps ?? []).flatMap(({ price }) => Object.keys(price))),
  )
  return [
    onTiers('the tier ignored', () => null),
    onTiers('only the tokens above the threshold at the price of the tier', (tiers) =>
      tiers.apply === 'marginal' ? tiers : { ...tiers, apply: 'marginal' },
    ),
    // The usual mistake: output as below the threshold.
    onTiers('only the prompt above the threshold at the price of the tier', (tiers) =>
      tiers.apply === 'marginal'
        ? tiers
        : { ...tiers, apply: 'marginal', steps: repriced(tiers, withoutOutput) },
    ),
    onTiers('the whole request at the price of the tier', (tiers) =>
      tiers.apply === 'marginal' ? { ...tiers, apply: 'whole' } : tiers,
    ),
    ...[...tierParts].map((name) =>
      onTiers(`${name} at its price below the tier`, (tiers, model) => ({
        ...tiers,
        steps: repriced(tiers, (price) => stepWithout(model, price, name)),
      })),
    ),
    onTiers('the tier counts input without cached tokens', (tiers) =>
      tiers.count === 'prompt' ? { ...tiers, count: 'input' } : tiers,
    ),
    onTerms('the service tier ignored', 'service', ({ model, context }) =>
      context.serviceTier === null || model.service[context.serviceTier] === undefined
        ? null
        : { context: { ...context, serviceTier: null } },
    ),
    ...[...new Set(models.flatMap(({ service }) => Object.keys(service)))].map((tier) =>
      onTerms(`charged as service tier ${tier}`, 'service', inTier(tier)),
    ),
    ...[...new Set(models.flatMap(({ by }) => Object.keys(by)))].flatMap((field) =>
      nameChanges(models, field),
    ),
    onModel('the hours ignored', 'hours', (model) =>
      model.hours.length === 0 ? null : { ...model, hours: [] },
    ),
    onModel('the hours applied all day', 'hours', (model) => {
      const [first] = model.hours
      return first === undefined ? null : allDay(model, first)
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
      onTerms(`the factor ${name} taken for a discount`, 'times', ({ model, context }) => {
        const factor = factorOf(model, name, context)
        if (factor === null) return null
        const value = subtract(one, factor)
        return { model: { ...model, factors: { ...model.factors, [name]: { value } } } }
      }),
      ...choicesOf(models, name).map((choice) =>
        onTerms(`the factor of ${name} ${choice}`, 'times', ({ context }) => ({
          context: { ...context, choices: { ...context.choices, [name]: choice } },
        })),
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

type Tiers = NonNullable<ModelPrice['tiers']>

/** A change to the tiers of models that have any, and where it makes a difference. */
const onTiers = (summary: string, change: (tiers: Tiers, model: ModelPrice) => Tiers | null) =>
  onModel(summary, 'tiers', (model) => {
    const tiers = model.tiers && change(model.tiers, model)
    return tiers === model.tiers ? null : { ...model, tiers }
  })

const repriced = ({ steps }: Tiers, change: (price: Price) => Price): Tiers['steps'] =>
  steps.map((step) => ({ ...step, price: change(step.price) }))

/** As if a request had this service tier, of which its model has a price. */
export const inTier =
  (tier: string): OtherTerms =>
  ({ model, context }) =>
    context.serviceTier === tier || model.service[tier] === undefined
      ? null
      : { context: { ...context, serviceTier: tier } }

/** A model with only these hours, at any time. */
export const allDay = (model: ModelPrice, hours: ModelPrice['hours'][number]): ModelPrice => ({
  ...model,
  hours: [{ ...hours, days: weekdays, except: [], windows: [{ from: 0, to: 1440 }] }],
})

/** A model whose first changes, so many of them, are all in force. */
export const withChanges = (model: ModelPrice, count: number): ModelPrice => ({
  ...model,
  changes: model.changes.slice(0, count).map((change) => ({ ...change, fromMs: 0 })),
})

/** The price of a change that is not in force, and that is neither the last one nor the one before it. */
function otherMonths(models: readonly ModelPrice[]): readonly Change[] {
  const moments = new Set(models.flatMap(({ changes }) => changes.map(({ fromMs }) => fromMs)))
  return [...moments].map((fromMs) => {
    const day = new Date(fromMs).toISOString().slice(0, 10)
    return onTerms(`the price from ${day} on`, 'changes', ({ model, context }) => {
      const { changes } = model
      const at = changes.findIndex((change) => change.fromMs === fromMs)
      const inForce = changes.findLastIndex((change) => change.fromMs <= context.atMs)
      const last = changes.length - 1
      const isNamed = inForce === last ? at === last - 1 : at === last
      return at < 0 || at === inForce || isNamed ? null : { model: withChanges(model, at + 1) }
    })
  })
}

/** The second of several hours, or a later one, at any time. */
function otherHours(models: readonly ModelPrice[]): readonly Change[] {
  const most = largest([0, ...models.map(({ hours }) => hours.length)])
  return Array.from({ length: Math.max(0, most - 1) }, (_, nth) => {
    const at = nth + 1
    const from = models.flatMap(({ hours }) => hours[at]?.windows[0]?.from ?? [])[0] ?? 0
    return onModel(`the hours from ${clockText(from)} on applied all day`, 'hours', (model) => {
      const entry = model.hours[at]
      return entry === undefined ? null : allDay(model, entry)
    })
  })
}

/** Minutes of a day as a clock shows them: `06:30`. */
const clockText = (minutes: number) =>
  [Math.floor(minutes / 60), minutes % 60].map((each) => String(each).padStart(2, '0')).join(':')

/** The price of another value of what the usage names, or that without the name. */
function nameChanges(models: readonly ModelPrice[], field: string): readonly Change[] {
  const as = (summary: string, value: string | null) =>
    onTerms(summary, field, ({ usage }) =>
      usage.named?.[field] === undefined ? null : namedAs(usage, field, value),
    )
  return [
    as(`usage.${field} ignored`, null),
    ...valuesOf(models, field).map((value) => as(`charged as usage.${field} ${value}`, value)),
  ]
}

/** Another value, or none, of what the usage names in a field; null if it is the same. */
export function namedAs(usage: Usage, field: string, value: string | null) {
  const { [field]: own, ...others } = usage.named ?? {}
  const named = value === null ? others : { ...others, [field]: value }
  return (own ?? null) === value ? null : { usage: { ...usage, named } }
}

/** The values of a field of the usage that have prices. */
export const valuesOf = (models: readonly ModelPrice[], field: string): readonly string[] => [
  ...new Set(models.flatMap(({ by }) => Object.keys(by[field] ?? {}))),
]

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
        // A factor of 0 is `free`, whatever its name, and one of 1 is the factor left out.
        return Object.entries(factor.choices).flatMap(([choice, value]) =>
          isZero(value) || isEqual(value, one) ? [] : [choice],
        )
      }),
    ),
  ]
}

/** A step of a tier where one price stays as it is below. */
function stepWithout(model: ModelPrice, price: Price, name: string): Price {
  const { [name]: _, ...rest } = price
  const base = Object.hasOwn(tokenPrices, name)
    ? entryFor(model.price, name as keyof typeof tokenPrices)?.entry
    : model.price[name]
  return base === undefined ? rest : { ...rest, [name]: base }
}

function withoutOutput(price: Price): Price {
  return Object.fromEntries(
    Object.entries(price).filter(([name]) => !name.startsWith('output') && name !== 'reasoning'),
  )
}
