import { type Amount, amount, ofOne, rounded, sumOf, times } from './amounts.ts'
import { type Ask, type Counts, modelOf, promptTokens } from './asks.ts'
import {
  type Charged,
  type Model,
  type Part,
  type Prices,
  parents,
  parts,
  type Sound,
  type Terms,
} from './terms.ts'

/** One part of a cost: so many tokens or calls at so much each. */
export interface Line {
  readonly name: string
  readonly count: number
  readonly each: Amount
}

/** One change to the right calculation. */
export interface Twist {
  readonly model?: (model: Model, ask: Ask, terms: Terms) => Model
  readonly ask?: (ask: Ask) => Ask
  /** What an ending is charged for instead. */
  readonly charge?: Charged
  readonly lines?: (
    lines: readonly Line[],
    rateOf: (part: Part) => Amount,
    ask: Ask,
  ) => readonly Line[]
  readonly whole?: (cost: Amount, ask: Ask) => Amount
}

const openCharge: Charged = 'full'

/** What an honest service takes for a request, or a service with one change to its calculation. */
export function costOf(
  terms: Terms,
  asked: Ask,
  { model: ofModel, ask: ofAsk, charge: other, lines: ofLines, whole }: Twist = {},
): Amount {
  const ask = ofAsk?.(asked) ?? asked
  const usual = modelOf(terms, ask.model)
  const model = ofModel?.(usual, ask, terms) ?? usual
  const charged = ask.ended === 'ok' ? 'full' : (other ?? terms.charged[ask.ended])
  const charge = charged === 'open' ? openCharge : charged
  if (charge === 'none' || (ask.ended === 'refused' && other === undefined))
    return whole?.(0n, ask) ?? 0n
  const counts = chargedCounts(ask, charge)
  if (ask.passes !== undefined) {
    const sum = costOfPasses(terms, model, ask, ofModel, ofLines)
    return whole?.(sum, ask) ?? sum
  }
  const right = linesFor(terms, model, ask, counts, charge)
  const rateOf = (part: Part) => rateAt(terms, model, ask, counts, part)
  const cost = finished(terms, model, ofLines?.(right, rateOf, ask) ?? right)
  return whole?.(cost, ask) ?? cost
}

/** What a request costs, part by part and call by call. */
function linesFor(
  terms: Terms,
  model: Model,
  ask: Ask,
  counts: Counts,
  charge: Charged,
): readonly Line[] {
  const searches = charge === 'input' ? 0 : ask.searches
  return [
    ...parts.flatMap((part) => linesOf(terms, model, ask, counts, part)),
    ...(model.request === null
      ? []
      : [{ name: 'request', count: 1, each: scaled(terms, model, ask, amount(model.request)) }]),
    ...(model.search === null || searches === 0
      ? []
      : [
          {
            name: 'search',
            count: searches,
            each: scaled(terms, model, ask, amount(model.search)),
          },
        ]),
    ...(model.second === undefined || ask.soundTenths === undefined
      ? []
      : [soundLine(model.second, ask.soundTenths)]),
  ]
}

/** Seconds are billed in whole steps, and no less than the least; tenths of a second, so that they stay whole. */
function soundLine({ price, least, step }: Sound, tenths: number): Line {
  const stepped = step === 0 ? tenths : Math.ceil(tenths / (10 * step)) * 10 * step
  return { name: 'second', count: Math.max(stepped, 10 * least), each: amount(price) / 10n }
}

/**
 * The sum of the passes, each by its own counts and its own model. The request and its calls are charged with the first. An attempt
 * that gave way to another model costs what the terms say; rounding and smallest charge are those of the request.
 */
function costOfPasses(
  terms: Terms,
  model: Model,
  ask: Ask,
  ofModel: Twist['model'],
  ofLines: Twist['lines'],
): Amount {
  const passes = ask.passes!
  const last = passes.findLastIndex(({ kind }) => kind === 'fallback_message')
  const costs = passes.map(({ kind, model: name, counts }, at) => {
    const isFree = kind === 'message' && at < last && terms.inner !== 'full'
    if (isFree) return 0n
    const named = name === null ? model : modelOf(terms, name)
    const own = name === null ? model : (ofModel?.(named, ask, terms) ?? named)
    const asked = { ...ask, counts, searches: at === 0 ? ask.searches : 0 }
    const lines = linesFor(terms, own, asked, counts, 'full').filter(
      (line) => line.name !== 'request' || at === 0,
    )
    const rateOf = (part: Part) => rateAt(terms, own, asked, counts, part)
    const round = own.round?.at === 'component' ? own.round : null
    const changed = ofLines?.(lines, rateOf, asked) ?? lines
    return finished(terms, { ...own, round, minimum: null }, changed)
  })
  const { round, minimum } = model
  const sum = sumOf(costs)
  const cost = round?.at === 'request' ? rounded(sum, round.digits, round.mode) : sum
  const least = minimum === null ? 0n : amount(minimum)
  return sum > 0n && cost < least ? least : cost
}

/** The tokens that an ending is charged for. */
function chargedCounts({ counts, ended, generated }: Ask, charge: Charged): Counts {
  if (charge === 'input') return { ...counts, output: 0, reasoning: 0 }
  if (ended === 'empty' || ended === 'filtered') return { ...counts, output: 0, reasoning: 0 }
  if (ended === 'abort' && charge === 'received')
    return { ...counts, output: generated, reasoning: 0 }
  if (ended === 'broken') return { ...counts, output: generated, reasoning: 0 }
  return counts
}

function linesOf(
  terms: Terms,
  model: Model,
  ask: Ask,
  counts: Counts,
  part: Part,
): readonly Line[] {
  const count = counts[part]
  const { tier } = model
  if (count === 0) return []
  if (tier?.apply !== 'marginal')
    return [{ name: part, count, each: rateAt(terms, model, ask, counts, part) }]
  const below = Math.min(count, tier.isAbove ? tier.from : tier.from - 1)
  return [
    { name: part, count: below, each: rateOf(terms, model, ask, part, {}) },
    { name: part, count: count - below, each: rateOf(terms, model, ask, part, tier.prices) },
  ].filter((line) => line.count > 0)
}

/** The price of one token in the tier of the whole request. */
function rateAt(terms: Terms, model: Model, ask: Ask, counts: Counts, part: Part): Amount {
  const { tier } = model
  const size = tier?.count === 'input' ? counts.input : promptTokens(counts)
  const isIn =
    tier !== null && tier.apply === 'whole' && (tier.isAbove ? size > tier.from : size >= tier.from)
  return rateOf(terms, model, ask, part, isIn ? tier.prices : {})
}

/** A price of the step of a tier goes before those of the model. A part without a price costs what its parent does. */
function rateOf(terms: Terms, model: Model, ask: Ask, part: Part, step: Prices): Amount {
  const { change, prices } = model
  const now = change !== null && ask.at >= change.at ? { ...prices, ...change.prices } : prices
  const all: Prices = { ...now, ...step }
  let at: Part = part
  while (all[at] === undefined) {
    const parent = parents[at]
    if (parent === null) return 0n
    at = parent
  }
  return scaled(terms, model, ask, ofOne(all[at]!))
}

/** A price with the factors of its service tier and its hour. */
function scaled({ startMs }: Terms, { flex, hours }: Model, ask: Ask, price: Amount): Amount {
  const inTier = flex !== null && ask.isFlex ? times(price, flex) : price
  const minute = ((startMs / 1000 + ask.at) % 86_400) / 60
  return hours !== null && minute >= hours.from && minute < hours.to
    ? times(inTier, hours.times)
    : inTier
}

/** Factors, rounding and the smallest charge. */
function finished(
  { isVip }: Terms,
  { margin, group, round, minimum }: Model,
  lines: readonly Line[],
): Amount {
  const factored = lines.map(({ count, each }) => {
    const cost = BigInt(count) * each
    const withMargin = margin === null ? cost : times(cost, margin)
    return group === null ? withMargin : times(withMargin, isVip ? group.vip : group.usual)
  })
  const isByPart = round?.at === 'component'
  const sum = sumOf(
    isByPart ? factored.map((cost) => rounded(cost, round!.digits, round!.mode)) : factored,
  )
  const cost = round === null || isByPart ? sum : rounded(sum, round.digits, round.mode)
  const least = minimum === null ? 0n : amount(minimum)
  return lines.length > 0 && cost < least ? least : cost
}

/** How far the clocks of client and service may be apart, with a margin. */
const clockS = 3

/** Whether only one cost is right. */
export function isSure(terms: Terms, ask: Ask): boolean {
  if (ask.ended !== 'ok') {
    const charge = terms.charged[ask.ended]
    if (charge === 'none') return true
    if (charge === 'open' || ask.ended === 'abort' || ask.ended === 'broken') return false
    // Nothing tells a repeated answer from a new one if its id is new.
    if (ask.ended === 'gateway_cache') return true
  }
  const { hours, change } = modelOf(terms, ask.model)
  const [from, to] = [ask.at - clockS, ask.at + ask.seconds + clockS]
  const isNear = (edge: number) => edge >= from && edge <= to
  if (change !== null && isNear(change.at)) return false
  if (hours === null) return true
  const begins = (terms.startMs / 1000) % 86_400
  return ![hours.from * 60 - begins, hours.to * 60 - begins].some(isNear)
}
