import type { ModelPrice } from '../../contract/prices.ts'
import { compare, isEqual, isZero, type Rational } from '../../money/rational.ts'
import {
  inputParts,
  outputParts,
  type Part,
  type Parts,
  parts,
  type Usage,
  unknownUsage,
} from '../../tokens/usage.ts'
import { entryOf } from '../../user/lookup.ts'
import { onceForObject } from '../../user/once.ts'
import { type Calculation, calculate, type PriceContext } from '../calculate.ts'
import { usageField } from '../price-at.ts'
import { clockShiftMs } from './clock-shift.ts'
import { type Bounds, boundsOfLeft } from './left-answer.ts'
import { countedPrompt } from './left-prompt.ts'
import type { PriceJudge, PriceOf } from './price-judge.ts'
import { isCacheUnread, type PricedRequest } from './request.ts'

/** What a request may cost by the contract. */
export interface Expected {
  /** Every cost that is right; more than one near the edge of hours, or if the outcome is in doubt. */
  readonly costs: readonly Rational[]
  /** Costs that are right if a cache of the gateway answered, and nothing that was read says whether it did. */
  readonly ifCached: readonly Rational[]
  /** The calculation of the first cost. */
  readonly calculation: Calculation | null
  /** Bounds where a part is not reported, or an answer was left; every cost between them is right. */
  readonly between: Bounds | null
  /** Why there may be other right costs. */
  readonly open: readonly string[]
  /** What the costs were computed from, for explanations of a wrong one. */
  readonly readings: readonly UsageReading[]
  /** Of an answer that the client left: its prompt, if the answer or the log counts it; else null. */
  readonly left: UsageReading | null
}

/** One way to read a request. */
export interface UsageReading {
  readonly model: ModelPrice
  readonly context: PriceContext
  readonly usage: Usage
}

/** Several rules ask for the same request. */
const costsBy = onceForObject((judge: PriceJudge) =>
  onceForObject((request: PricedRequest) => computedCosts(request, judge)),
)

export const expectedCosts = (request: PricedRequest, judge: PriceJudge): Expected =>
  costsBy(judge)(request)

function computedCosts(request: PricedRequest, judge: PriceJudge): Expected {
  const { priceOf } = judge
  const twin = judge.twinOf(request)
  const models = modelsFor(request, priceOf)
  if (models.length === 0) return { ...nothing, open: [`a price of ${request.requestedModel}`] }
  const costs: Rational[] = []
  const ifCached: Rational[] = []
  const isUnread = isCacheUnread(request)
  const readings: UsageReading[] = []
  const open = new Set<string>()
  let calculation: Calculation | null = null
  let between: Bounds | null = null
  let left: UsageReading | null = null
  if (isServerHidden(request, priceOf)) open.add('the model that answered')
  for (const model of models) {
    for (const context of contextsOf(request, model, judge)) {
      const usage = usageFor(request, model, context)
      if (usage === null) {
        const bounds = boundsOfLeft(request, asReceived(model, context), context, judge)
        if (typeof bounds === 'string') open.add(bounds)
        else between = wider(between, bounds)
        if (twin !== null) readings.push({ model, context, usage: twin })
        const prompt = countedPrompt(request, judge)
        if (prompt !== null) left ??= { model, context, usage: prompt }
        continue
      }
      readings.push({ model, context, usage })
      const found = calculate(model, usage, context)
      const reasons = [
        ...[...found.open, ...found.unknown, ...uncounted(request, found)],
        ...shownUncounted(request, usage, model, context),
        ...hiddenNames(usage, model, context, judge),
      ]
      for (const each of reasons) open.add(each)
      if (found.cost === null) continue
      if (isUnread && context.outcome === 'gateway_cache') {
        ifCached.push(found.cost)
        continue
      }
      calculation ??= found
      if (!costs.some((cost) => isEqual(cost, found.cost!))) costs.push(found.cost)
      const bounds = boundsOfSplit(model, usage, context, found)
      if (bounds !== null) between = wider(between, bounds)
    }
  }
  return { costs, ifCached, calculation, between, open: [...open], readings, left }
}

const nothing: Expected = {
  costs: [],
  ifCached: [],
  calculation: null,
  between: null,
  open: [],
  readings: [],
  left: null,
}

/** The models whose price may hold: the requested, or the returned name. */
function modelsFor(request: PricedRequest, priceOf: PriceOf): readonly ModelPrice[] {
  const requested = priceOf(request.requestedModel)
  const returned = request.returnedModel === null ? null : priceOf(request.returnedModel)
  if (requested === null) return []
  const isOther = returned !== null && returned.id !== requested.id
  if (!isOther) return [requested]
  if (requested.served === 'any') return [returned, requested]
  return requested.priced === 'returned' ? [returned] : [requested]
}

/** Whether another model may have answered, and the answer ended before it named one. */
function isServerHidden(
  { requestedModel, returnedModel, outcomes }: PricedRequest,
  priceOf: PriceOf,
): boolean {
  const requested = priceOf(requestedModel)
  const [outcome] = outcomes
  if (requested === null || returnedModel !== null) return false
  return (
    (outcome === 'abort' || outcome === 'broken') &&
    requested.charged[outcome] !== 'none' &&
    (requested.served === 'any' || requested.priced === 'returned')
  )
}

/** Names that other answers of the model choose a price with, where the usage of this one was not read. */
function hiddenNames(
  { named }: Usage,
  model: ModelPrice,
  { outcome }: PriceContext,
  { namesOf }: PriceJudge,
): readonly string[] {
  if (named !== null || namesOf === undefined || model.charged[outcome] === 'none') return []
  return namesOf(model).fields.map(usageField)
}

function contextsOf(
  request: PricedRequest,
  model: ModelPrice,
  { choices, clockErrorMs, priceOf, namesOf }: PriceJudge,
): readonly PriceContext[] {
  const moments =
    model.hours.length === 0 && model.changes.length === 0
      ? [request.startMs]
      : momentsOf(request, model, clockErrorMs)
  const { serviceTier, isTierRead } = request
  const tiers = isTierRead
    ? []
    : [null, ...Object.keys(model.service), ...(namesOf?.(model).tiers ?? [])]
  return outcomesFor(request, model).flatMap((outcome) =>
    [...new Set([serviceTier, ...tiers])].flatMap((tier) =>
      moments.map((atMs) => ({ atMs, serviceTier: tier, choices, outcome, counts: {}, priceOf })),
    ),
  )
}

/** What a contract says of an answer that came again holds for one that surely did. */
function outcomesFor(
  { outcomes, isSurelyAgain }: PricedRequest,
  { charged }: ModelPrice,
): PricedRequest['outcomes'] {
  const [first] = outcomes
  return first === 'gateway_cache' && isSurelyAgain && charged[first] !== 'open'
    ? [first]
    : outcomes
}

function momentsOf(
  request: PricedRequest,
  { clock }: ModelPrice,
  error: number,
): readonly number[] {
  const { startMs, endMs } = request
  const moments = { start: [startMs], end: [endMs], either: [startMs, endMs] }[clock]
  // The service charges by its own clock, which may be apart from the client's.
  const shiftMs = clockShiftMs(request)
  const all = shiftMs === 0 ? moments : [...moments, ...moments.map((at) => at + shiftMs)]
  return all.flatMap((at) => [at, at - error, at + error])
}

/** The usage that a charge is for; null if only bounds of it are known. */
function usageFor(
  request: PricedRequest,
  model: ModelPrice,
  { outcome }: PriceContext,
): Usage | null {
  const charge = model.charged[outcome]
  if (charge === 'none' || charge === 'open') return request.usage ?? unknownUsage
  if (outcome === 'abort' || outcome === 'broken') {
    const isWhole = request.usage !== null && request.usage.parts.output_visible !== null
    return isWhole && charge !== 'received' ? request.usage : null
  }
  // It came to its end, without a usage.
  const isCounted = request.usage !== null && request.usage.parts.output_visible !== null
  if (outcome === 'success' && request.outcomes[0] === 'abort' && !isCounted) return null
  return request.usage ?? unknownUsage
}

/** What arrived of an answer that its client left at its end is all of it. */
function asReceived(model: ModelPrice, { outcome }: PriceContext): ModelPrice {
  return outcome === 'success'
    ? { ...model, charged: { ...model.charged, success: 'received' } }
    : model
}

/** Calls that a stored answer would count: without it, a request that may have made some has an open cost. */
function uncounted(
  { areCallsRead, mayCall }: PricedRequest,
  { assumed }: Calculation,
): readonly string[] {
  if (areCallsRead || !mayCall) return []
  return assumed
    .filter((name) => !parts.some((part) => part === name))
    .map((name) => `the count of ${name}`)
}

/** Calls and images that are shown, that the usage does not count, and that may cost something. */
function shownUncounted(
  { shownCalls }: PricedRequest,
  { calls }: Usage,
  { price, charged }: ModelPrice,
  { outcome }: PriceContext,
): readonly string[] {
  if (charged[outcome] === 'none') return []
  return shownCalls.flatMap((name) => {
    if (entryOf(calls, name) !== undefined) return []
    const entry = entryOf(price, name)
    if (entry !== undefined)
      return entry.price !== 'open' && isZero(entry.price) ? [] : [`the count of ${name}`]
    // A price of each request is one of all that it holds, and an image is tokens where it has no price of its own.
    return name === 'image' || Object.hasOwn(price, 'request') ? [] : [`a price of ${name}`]
  })
}

/** The part that holds the tokens of one that is not reported. */
function holderOf(part: Part, parts: Parts): Part {
  if (!inputParts.some((each) => each === part)) return 'output_visible'
  if (part === 'cache_write_1h' && parts.cache_write !== null) return 'cache_write'
  if (part === 'cache_read_audio' && parts.cache_read !== null) return 'cache_read'
  return 'input_uncached'
}

/** Bounds of the cost where parts are not reported: of what may hold each, none is of the part, or all of it. */
function boundsOfSplit(
  model: ModelPrice,
  usage: Usage,
  context: PriceContext,
  { assumed, cost }: Calculation,
): Bounds | null {
  const { parts } = usage
  const open = [...inputParts, ...outputParts].filter((part) => assumed.includes(part))
  if (open.length === 0 || cost === null) return null
  let moves: readonly Partial<Parts>[] = [{}]
  for (const [holder, held] of Map.groupBy(open, (part) => holderOf(part, parts)))
    moves = moves.flatMap((move) => [
      move,
      ...held.map((part) => ({ ...move, [holder]: 0, [part]: parts[holder] })),
    ])
  const costs = moves.flatMap((move) => {
    const found = calculate(model, { ...usage, parts: { ...parts, ...move } }, context).cost
    return found === null ? [] : [found]
  })
  const sorted = [cost, ...costs].toSorted(compare)
  return [sorted[0]!, sorted.at(-1)!]
}

function wider(a: Bounds | null, b: Bounds): Bounds {
  if (a === null) return b
  return [compare(a[0], b[0]) < 0 ? a[0] : b[0], compare(a[1], b[1]) > 0 ? a[1] : b[1]]
}
