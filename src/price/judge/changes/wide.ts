import {
  type ModelPrice,
  type Price,
  type PriceEntry,
  priceOfPart,
} from '../../../contract/prices.ts'
import { multiply, rational, zero } from '../../../money/rational.ts'
import { outputOf, outputParts, parts } from '../../../tokens/usage.ts'
import { largest } from '../../../user/extremes.ts'
import { calculate } from '../../calculate.ts'
import type { KnownCauses } from '../price-judge.ts'
import { type Change, calculateWith, type OtherTerms, onModel, onTerms, onUsage } from './change.ts'
import { loggedChanges } from './logged.ts'
import { ancestorsOf, finishedLike, parentPrice, shownOf } from './parts.ts'
import { allDay, inTier, namedAs, valuesOf, withChanges } from './steps.ts'
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
    ...besideChanges(models),
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
  /** The request by this list. */
  readonly of: OtherTerms
  /** Whether the whole request by this list is a change of its own, and not one of `changesFor`. */
  readonly isWhole?: boolean
}
const sheet = (name: string, about: string, of: OtherTerms): OtherSheet => ({ name, about, of })

function tierSheets(models: readonly ModelPrice[]): readonly OtherSheet[] {
  const tiers = new Set(models.flatMap(({ service }) => Object.keys(service)))
  const most = largest([0, ...models.map((model) => model.tiers?.steps.length ?? 0)])
  return [
    sheet('its price without the service tier', 'service', ({ context }) =>
      context.serviceTier === null ? null : { context: { ...context, serviceTier: null } },
    ),
    ...[...tiers].map((tier) =>
      sheet(`the price of service tier ${tier}`, 'service', inTier(tier)),
    ),
    ...Array.from({ length: most }, (_, at) => ({
      isWhole: true,
      ...sheet(
        most === 1 ? 'the price of the tier' : `the price of tier ${at + 1}`,
        'tiers',
        ({ model }) => {
          const { tiers } = model
          if (tiers === null || tiers.apply === 'marginal' || tiers.steps.length <= at) return null
          const steps = tiers.steps
            .slice(0, at + 1)
            .map(({ above: _, ...step }) => ({ ...step, from: zero }))
          return { model: { ...model, tiers: { ...tiers, steps } } }
        },
      ),
    })),
  ]
}

function rareSheets(models: readonly ModelPrice[]): readonly OtherSheet[] {
  const changes = largest([0, ...models.map((model) => model.changes.length)])
  const fields = [...new Set(models.flatMap((model) => Object.keys(model.by)))]
  return [
    ...Array.from({ length: changes === 0 ? 0 : changes + 1 }, (_, until) => ({
      isWhole: true,
      ...sheet(
        until === 0 ? 'the price before all changes' : `the price from ${dateOf(models, until)} on`,
        'changes',
        ({ model }) => (model.changes.length < until ? null : { model: withChanges(model, until) }),
      ),
    })),
    sheet('its price outside the hours', 'hours', ({ model }) =>
      model.hours.length === 0 ? null : { model: { ...model, hours: [] } },
    ),
    sheet('its price within the hours', 'hours', ({ model }) =>
      model.hours[0] === undefined ? null : { model: allDay(model, model.hours[0]) },
    ),
    ...fields.flatMap((field) => {
      const as = (name: string, value: string | null) =>
        sheet(name, field, ({ usage }) =>
          usage.named === null ? null : namedAs(usage, field, value),
        )
      return [
        as(`its price without usage.${field}`, null),
        ...valuesOf(models, field).map((value) =>
          as(`the price of usage.${field} ${value}`, value),
        ),
      ]
    }),
    ...models
      .slice(0, mostModels)
      .map((other) =>
        sheet(`the price of ${other.id}`, 'priced', ({ model }) =>
          other.id === model.id ? null : { model: other },
        ),
      ),
  ]
}

/** Parts at prices of other models are tried up to this number of models. */
const mostModels = 8

function dateOf(models: readonly ModelPrice[], until: number): string {
  const moment = models.flatMap(({ changes }) => changes[until - 1] ?? [])[0]!.fromMs
  return new Date(moment).toISOString().replace(/T00:00:00\.000Z$/, '')
}

const wholeChangeOf = ({ name, about, isWhole, of }: OtherSheet): readonly Change[] =>
  isWhole === true ? [onTerms(name, about, of)] : []

/** One part, or one kind of call, by the other list. */
function partChangesOf({ name, about, of }: OtherSheet): readonly Change[] {
  return parts.map((part) => ({
    summary: `${shownOf(part)} at ${name}`,
    about,
    costOf(request, model, usage, context) {
      if ((usage.parts[part] ?? 0) === 0 || usage.passes.length > 0) return null
      const right = calculate(model, usage, context)
      const terms = { model, usage, context }
      const other = right.cost === null ? null : calculateWith(terms, of(terms, request))
      const lines = other?.lines.filter((line) => line.name === part) ?? []
      if (lines.length === 0 || right.lines.length < 2) return null
      const kept = right.lines.filter((line) => line.name !== part)
      const costs = [...kept, ...lines].map(({ cost }) => cost)
      return finishedLike(model, usage, context, costs)
    },
  }))
}

/** A part also charged as its parent, for all models at the price of one of them. */
function besideChanges(models: readonly ModelPrice[]): readonly Change[] {
  if (models.length < 2) return []
  return parts.flatMap((part) =>
    ancestorsOf(priceOfPart[part]).flatMap((parent) =>
      models.slice(0, mostModels).map(
        (other): Change => ({
          summary: `${shownOf(part)} also charged as ${parent} of ${other.id}`,
          about: priceOfPart[part],
          costOf(_, model, usage, context) {
            const count = usage.parts[part] ?? 0
            if (count === 0 || usage.passes.length > 0) return null
            const right = calculate(model, usage, context)
            const price = parentPrice(other, usage, context, part, parent)
            if (right.cost === null || price === null) return null
            const more = multiply(rational(BigInt(count)), price)
            return finishedLike(model, usage, context, [
              ...right.lines.map(({ cost }) => cost),
              more,
            ])
          },
        }),
      ),
    ),
  )
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
  onTerms(
    'the counts of the first event alone',
    'usage of streams',
    ({ usage }, { eventUsages }) =>
      eventUsages.length < 2 || usage.passes.length > 0
        ? null
        : { usage: { ...usage, parts: eventUsages[0]!.parts } },
  ),
]

const noOutput = Object.fromEntries(outputParts.map((part) => [part, 0]))
