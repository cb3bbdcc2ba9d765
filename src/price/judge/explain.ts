import { priceOfPart } from '../../contract/prices.ts'
import { isZero } from '../../money/rational.ts'
import type { Part } from '../../tokens/usage.ts'
import { smallest } from '../../user/extremes.ts'
import type { Calculation } from '../calculate.ts'
import type { Change } from './changes/change.ts'
import { changesFor } from './changes/changes.ts'
import { freeOfCharge } from './changes/whole.ts'
import { wideChanges } from './changes/wide.ts'
import { fixedAmount } from './fixed-amount.ts'
import type { Judged } from './judge.ts'
import { chargedBeyondLeft } from './left-count.ts'
import { type CountedPart, countedParts, otherCount } from './other-count.ts'
import { otherPrices } from './other-price.ts'
import type { KnownCauses } from './price-judge.ts'
import { isWithin } from './tolerance.ts'

/** A single change that gives wrong costs exactly. */
export interface Explanation {
  readonly summary: string
  readonly about: string
  /** Wrong costs that it gives exactly. */
  readonly fits: number
  /** Right costs that it would have changed. */
  readonly spares: number
  /** What the wrong ones have in common that the spared ones have not: `of streams`. */
  readonly scope: string
}

/** Most costs that are compared with every change. */
const mostCompared = 300

/**
 * The changes that give all wrong costs exactly, those first that spare the fewest right costs. If none gives all, and
 * the wrong ones are streams, whose tokens some services count themselves, other counts that do; else those changes that
 * give the most.
 */
export function explain(
  judged: readonly Judged[],
  causes: KnownCauses,
): { readonly explanations: readonly Explanation[]; readonly isWhole: boolean } {
  const wrong = sample(judged.filter(({ is }) => is === 'wrong'))
  const right = sample(judged.filter(({ is }) => is === 'right'))
  const models = new Map(
    [...wrong, ...right].flatMap(({ expected }) =>
      expected.readings.map(({ model }) => [model.id, model] as const),
    ),
  )
  const fitting = (change: Change, fits: readonly Judged[]): readonly Explanation[] => {
    if (fits.length === 0) return []
    const spared = right.filter((each) => isGivenBy(change, each) === false)
    return [
      {
        summary: change.summary,
        about: change.about,
        fits: fits.length,
        spares: spared.length,
        scope: scopeOf(fits, spared),
      },
    ]
  }
  const isFit = (change: Change) => (each: Judged) => isGivenBy(change, each) === true
  const found = changesFor([...models.values()], causes).flatMap((change) =>
    fitting(change, wrong.filter(isFit(change))),
  )
  const likely = found.filter(({ fits }) => fits === wrong.length)
  const whole =
    likely.length > 0
      ? likely
      : wideChanges([...models.values()], causes).flatMap((change) =>
          wrong.every(isFit(change)) ? fitting(change, wrong) : [],
        )
  if (whole.length === 0) {
    const priced = pricedOtherwise(wrong, right)
    if (priced.length > 0) return { explanations: priced, isWhole: true }
    const fixed = fixedAmount(wrong, right)
    if (fixed !== null)
      return {
        explanations: [
          {
            ...fixed,
            fits: wrong.length,
            spares: 0,
            scope: scopeOf(wrong, fixed.about === 'fee' ? right : []),
          },
        ],
        isWhole: true,
      }
    const counted = countedOtherwise(wrong, right)
    if (counted.length > 0) return { explanations: counted, isWhole: true }
    const cause = chargedEnding(wrong) ?? chargedLeft(wrong)
    if (cause !== null) return { explanations: [cause], isWhole: true }
  }
  const isWhole = whole.length > 0
  const kept = isWhole ? whole : coverOf(found)
  const fewest = smallest(kept.map(({ spares }) => spares))
  // What costs nothing was free, whatever else would have spared more: a rounding that a smallest charge hides.
  const isNothing = isWhole && wrong.every(({ statement }) => isZero(statement.value))
  const best = isWhole
    ? kept.filter(
        ({ spares, summary }) => spares === fewest || (isNothing && summary === freeOfCharge),
      )
    : kept
  const unique = best.filter(
    ({ summary, about }, at) =>
      best.findIndex((each) => each.summary === summary) === at &&
      // Of roundings that give the same, one is enough.
      (about !== 'round' || best.findIndex((each) => each.about === 'round') === at),
  )
  return { explanations: unique.toSorted(byFit).slice(0, mostNamed), isWhole }
}

export const endingCharged = (ending: string) =>
  `${ending} answers were charged, which cost nothing`

/** Whether all wrong costs are charges for one way to end that is free, however much they are. */
function chargedEnding(wrong: readonly Judged[]): Explanation | null {
  const endings = new Set(wrong.map(({ request }) => request.outcomes.join()))
  const [ending] = endings
  const isFree = ({ statement, expected: { readings, calculation } }: Judged) =>
    statement.value.numerator > 0n &&
    calculation?.cost?.numerator === 0n &&
    readings.every(({ model, context }) => model.charged[context.outcome] === 'none')
  if (endings.size !== 1 || ending === 'success' || !wrong.every(isFree)) return null
  return {
    summary: endingCharged(ending!),
    about: 'charged',
    fits: wrong.length,
    spares: 0,
    scope: '',
  }
}

/** Whether all wrong costs are more than what arrived of an answer that the client left, by a whole number of tokens. */
function chargedLeft(wrong: readonly Judged[]): Explanation | null {
  const summary = chargedBeyondLeft(wrong)
  return summary === null
    ? null
    : { summary, about: 'charged', fits: wrong.length, spares: 0, scope: '' }
}

/** Prices that are another number than the contract has, if all wrong costs follow from one. */
function pricedOtherwise(
  wrong: readonly Judged[],
  right: readonly Judged[],
): readonly Explanation[] {
  const found = otherPrices(
    wrong.map(({ statement, unit, expected: { readings } }) => ({
      amount: statement.value,
      unit,
      readings: readings.slice(0, 1),
    })),
  )
  return found.slice(0, mostTied).map(({ summary, about }) => {
    const spared = right.filter(({ expected: { calculation } }) => hasPrice(calculation, about))
    return {
      summary,
      about,
      fits: wrong.length,
      spares: spared.length,
      scope: scopeOf(wrong, spared),
    }
  })
}

/** Of prices that explain the same, so many are named. */
const mostTied = 2

const hasPrice = (calculation: Calculation | null, about: string) =>
  about === 'the whole cost' ||
  (calculation?.lines ?? []).some(({ name }) => (priceOfPart[name as Part] ?? name) === about)

function countedOtherwise(
  wrong: readonly Judged[],
  right: readonly Judged[],
): readonly Explanation[] {
  if (wrong.length === 0 || !wrong.every(({ request }) => request.isStream)) return []
  return (Object.keys(countedParts) as CountedPart[]).flatMap((part) => {
    const counts = wrong.map(({ statement, expected: { readings }, unit }) =>
      otherCount(statement.value, readings, unit, part),
    )
    if (counts.includes(null)) return []
    const stated = wrong[0]!.expected.readings[0]!.usage.parts[part]
    const name = countedParts[part]
    return [
      {
        summary: `another count of ${name} tokens: ${counts[0]}, where the answer states ${stated}`,
        about: name,
        fits: wrong.length,
        spares: 0,
        scope: scopeOf(wrong, right),
      },
    ]
  })
}

/** A finding that names more names none. */
const mostNamed = 2

const byFit = (a: Explanation, b: Explanation) => b.fits - a.fits || a.spares - b.spares

/** Changes that together give the most, each with something of its own. */
function coverOf(found: readonly Explanation[]): readonly Explanation[] {
  return found.toSorted(byFit).slice(0, mostNamed)
}

/** Whether a change gives an amount exactly; null if it leaves the cost as it is, or does not apply. */
function isGivenBy(change: Change, { request, statement, expected, unit }: Judged): boolean | null {
  let applies = false
  for (const { model, context, usage } of expected.readings) {
    const cost = change.costOf(request, model, usage, context)
    if (cost === null || expected.costs.some((right) => isWithin(right, cost, unit, model)))
      continue
    applies = true
    // Nothing is not a small share of something.
    if (isZero(statement.value) && !isZero(cost)) continue
    if (isWithin(statement.value, cost, unit, { ...model, round: model.round ?? exact }))
      return true
  }
  return applies ? false : null
}

/** An explanation must be exact, to half of the unit. */
const exact = { at: 'request', digits: 0, mode: 'half_even' } as const

function scopeOf(fits: readonly Judged[], spared: readonly Judged[]): string {
  if (spared.length === 0) return ''
  const traits: readonly (readonly [string, (each: Judged) => unknown])[] = [
    ['of streams', ({ request }) => request.isStream],
    ['of plain answers', ({ request }) => !request.isStream],
    [
      'of requests by an alias',
      ({ request, expected }) => expected.readings[0]?.model.id !== request.requestedModel,
    ],
  ]
  for (const [trait, has] of traits) {
    if (fits.every(has) && !spared.some(has)) return trait
  }
  for (const [word, of] of [
    ['model', ({ request }: Judged) => request.requestedModel],
    ['account', ({ request }: Judged) => request.account],
  ] as const) {
    const [first] = fits.map(of)
    if (fits.every((each) => of(each) === first) && !spared.some((each) => of(each) === first))
      return `of ${word} ${first}`
  }
  return 'only these requests'
}

function sample(judged: readonly Judged[]): readonly Judged[] {
  if (judged.length <= mostCompared) return judged
  const step = judged.length / mostCompared
  return Array.from({ length: mostCompared }, (_, at) => judged[Math.floor(at * step)]!)
}
