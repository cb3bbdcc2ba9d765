import {
  type ModelPrice,
  type Price,
  type PriceEntry,
  priceOfPart,
  weekdays,
} from '../../../contract/prices.ts'
import { zero } from '../../../money/rational.ts'
import { outputOf, outputParts, type Part, parts, type Usage } from '../../../tokens/usage.ts'
import { largest } from '../../../user/extremes.ts'
import { type Calculation, calculate, type PriceContext } from '../../calculate.ts'
import type { KnownCauses } from '../price-judge.ts'
import type { PricedRequest } from '../request.ts'
import { type Change, onModel, onUsage } from './change.ts'
import { loggedChanges } from './logged.ts'
import { finishedLike } from './parts.ts'
import { roundingsTo, unconvertedIn } from './whole.ts'

/**
 * Single changes that are less likely than those of `changesFor`, and tried if none of these gives all wrong costs: one part at its
 * price in another tier, at another moment or of another model, an amount in another currency, other counts, other roundings.
 */
export function wideChanges(
  models: readonly ModelPrice[],
  { loggedOf, others = [] }: Pick<KnownCauses, 'loggedOf' | 'others'>,
): readonly Change[] {
  const sheets = rareSheets(models)
  const ofParts = sheets.flatMap(partChangesOf)
  return [
    ...sheets.flatMap(wholeChangeOf),
    ...ofParts,
    ...feePairs(models),
    // Those of a currency that the contract names are likely, and tried before.
    ...others.filter(({ isNamed }) => isNamed !== true).flatMap(unconvertedIn),
    ...countChanges,
    ...roundingsTo([3, 1, 5, 7, 8, 9]),
    ...(loggedOf === undefined ? [] : loggedChanges(loggedOf, ofParts)),
  ]
}

/** One part, or all, at the prices of another service tier or of a tier: often the double, so both are named. */
export function tierChanges(models: readonly ModelPrice[]): readonly Change[] {
  const sheets = tierSheets(models)
  return [...sheets.flatMap(wholeChangeOf), ...sheets.flatMap(partChangesOf)]
}

/** Another price list than the one that holds for a request. */
interface OtherSheet {
  /** `the price of service tier flex`. */
  readonly name: string
  readonly about: string
  /** Whether the whole request by this list is a change of its own, and not one of `changesFor`. */
  readonly isWhole: boolean
  /** The request by this list; null if it does not apply. */
  readonly of: (model: ModelPrice, usage: Usage, context: PriceContext) => Calculation | null
}

function tierSheets(models: readonly ModelPrice[]): readonly OtherSheet[] {
  const tiers = new Set(models.flatMap(({ service }) => Object.keys(service)))
  const steps = largest([0, ...models.map((model) => model.tiers?.steps.length ?? 0)])
  return [
    {
      name: 'its price without the service tier',
      about: 'service',
      isWhole: false,
      of: (model, usage, context) =>
        context.serviceTier === null
          ? null
          : calculate(model, usage, { ...context, serviceTier: null }),
    },
    ...[...tiers].map(
      (tier): OtherSheet => ({
        name: `the price of service tier ${tier}`,
        about: 'service',
        isWhole: false,
        of: (model, usage, context) =>
          context.serviceTier === tier || model.service[tier] === undefined
            ? null
            : calculate(model, usage, { ...context, serviceTier: tier }),
      }),
    ),
    ...Array.from(
      { length: steps },
      (_, at): OtherSheet => ({
        name: steps === 1 ? 'the price of the tier' : `the price of tier ${at + 1}`,
        about: 'tiers',
        isWhole: true,
        of(model, usage, context) {
          const { tiers } = model
          if (tiers === null || tiers.apply === 'marginal' || tiers.steps.length <= at) return null
          const steps = tiers.steps
            .slice(0, at + 1)
            .map(({ above: _, ...step }) => ({ ...step, from: zero }))
          return calculate({ ...model, tiers: { ...tiers, steps } }, usage, context)
        },
      }),
    ),
  ]
}

function rareSheets(models: readonly ModelPrice[]): readonly OtherSheet[] {
  const changes = largest([0, ...models.map((model) => model.changes.length)])
  const fields = [...new Set(models.flatMap((model) => Object.keys(model.by)))]
  return [
    ...Array.from(
      { length: changes === 0 ? 0 : changes + 1 },
      (_, until): OtherSheet => ({
        name:
          until === 0
            ? 'the price before all changes'
            : `the price from ${dateOf(models, until)} on`,
        about: 'changes',
        isWhole: true,
        of: (model, usage, context) =>
          model.changes.length < until
            ? null
            : calculate(
                {
                  ...model,
                  changes: model.changes.slice(0, until).map((each) => ({ ...each, fromMs: 0 })),
                },
                usage,
                context,
              ),
      }),
    ),
    {
      name: 'its price outside the hours',
      about: 'hours',
      isWhole: false,
      of: (model, usage, context) =>
        model.hours.length === 0 ? null : calculate({ ...model, hours: [] }, usage, context),
    },
    {
      name: 'its price within the hours',
      about: 'hours',
      isWhole: false,
      of(model, usage, context) {
        const [first] = model.hours
        if (first === undefined) return null
        const always = { ...first, days: weekdays, except: [], windows: [{ from: 0, to: 1440 }] }
        return calculate({ ...model, hours: [always] }, usage, context)
      },
    },
    ...fields.flatMap((field) => namedSheets(models, field)),
    ...models.slice(0, mostModels).map(
      (other): OtherSheet => ({
        name: `the price of ${other.id}`,
        about: 'priced',
        isWhole: false,
        of: (model, usage, context) =>
          other.id === model.id ? null : calculate(other, usage, context),
      }),
    ),
  ]
}

/** The list without a name of the usage, and those of its other values. */
function namedSheets(models: readonly ModelPrice[], field: string): readonly OtherSheet[] {
  const as = (name: string, value: string | null): OtherSheet => ({
    name,
    about: field,
    isWhole: false,
    of(model, usage, context) {
      const { [field]: own, ...others } = usage.named ?? {}
      if (usage.named === null || (own ?? null) === value) return null
      const named = value === null ? others : { ...others, [field]: value }
      return calculate(model, { ...usage, named }, context)
    },
  })
  const values = new Set(models.flatMap(({ by }) => Object.keys(by[field] ?? {})))
  return [
    as(`its price without usage.${field}`, null),
    ...[...values].map((value) => as(`the price of usage.${field} ${value}`, value)),
  ]
}

/** Parts at prices of other models are tried up to this number of models. */
const mostModels = 8

function dateOf(models: readonly ModelPrice[], until: number): string {
  const moment = models.flatMap(({ changes }) => changes[until - 1] ?? [])[0]!.fromMs
  return new Date(moment).toISOString().replace(/T00:00:00\.000Z$/, '')
}

function wholeChangeOf({ name, about, isWhole, of }: OtherSheet): readonly Change[] {
  return isWhole
    ? [
        {
          summary: name,
          about,
          costOf: (_, model, usage, context) => of(model, usage, context)?.cost ?? null,
        },
      ]
    : []
}

/** One part, or one kind of call, by the other list. */
function partChangesOf({ name, about, of }: OtherSheet): readonly Change[] {
  return parts.map((part) => ({
    summary: `${shownOf(part)} at ${name}`,
    about,
    costOf(_, model, usage, context) {
      if ((usage.parts[part] ?? 0) === 0 || usage.passes.length > 0) return null
      const right = calculate(model, usage, context)
      const other = right.cost === null ? undefined : of(model, usage, context)?.lines
      const lines = other?.filter((line) => line.name === part) ?? []
      if (lines.length === 0 || right.lines.length < 2) return null
      const kept = right.lines.filter((line) => line.name !== part)
      const costs = [...kept, ...lines].map(({ cost }) => cost)
      return finishedLike(model, usage, context, costs)
    },
  }))
}

function shownOf(part: Part): string {
  const name = priceOfPart[part]
  return name === part || name === 'input' || name === 'output' ? name : `uncached ${name}`
}

/** A call at the price of another. */
function feePairs(models: readonly ModelPrice[]): readonly Change[] {
  const known = (name: string) => parts.some((part) => priceOfPart[part] === name)
  const fees = [
    ...new Set(models.flatMap(({ price }) => Object.keys(price).filter((name) => !known(name)))),
  ]
  return fees.flatMap((fee) =>
    fees
      .filter((other) => other !== fee && other !== 'request' && fee !== 'request')
      .map((other) =>
        onModel(`${fee} at the price of ${other}`, fee, (model) =>
          withEntry(model, fee, model.price[other]),
        ),
      ),
  )
}

function withEntry(
  model: ModelPrice,
  name: string,
  entry: PriceEntry | undefined,
): ModelPrice | null {
  if (entry === undefined || model.price[name] === undefined) return null
  const price: Price = { ...model.price, [name]: entry }
  return { ...model, price }
}

/** Other counts: all that the request allows, the first that a stream reports. */
const countChanges: readonly Change[] = [
  onUsage('charged for max_tokens', 'output', (usage, { maxOutputTokens }) =>
    maxOutputTokens === null || outputOf(usage.parts) === maxOutputTokens
      ? null
      : { ...usage, parts: { ...usage.parts, ...noOutput, output_visible: maxOutputTokens } },
  ),
  {
    summary: 'the counts of the first event alone',
    about: 'usage of streams',
    costOf: ({ eventUsages }: PricedRequest, model, usage, context) =>
      eventUsages.length < 2 || usage.passes.length > 0
        ? null
        : calculate(model, { ...usage, parts: eventUsages[0]!.parts }, context).cost,
  },
]

const noOutput = Object.fromEntries(outputParts.map((part) => [part, 0]))
