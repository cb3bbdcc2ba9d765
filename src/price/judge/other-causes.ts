import type { ChargedOutcome } from '../../contract/prices.ts'
import { compare, divide, multiply, one } from '../../money/rational.ts'
import { leastChance, unlikeAmounts } from './by-chance.ts'
import { endedAs } from './ended-words.ts'
import { fixedAmount } from './fixed-amount.ts'
import type { Judged } from './judge.ts'
import { chargedBeyondLeft } from './left-count.ts'
import { type CountedPart, countedParts, otherCount, priceOfCount } from './other-count.ts'
import { isMovedBy, otherPrices } from './other-price.ts'
import type { KnownCauses } from './price-judge.ts'

/** What gives all wrong costs, with the right ones that it would have changed. */
export interface OtherCause {
  readonly summary: string
  readonly about: string
  readonly spared: readonly Judged[]
  /** Numbers that were fitted to the wrong costs. */
  readonly numbers: number
  /** As in `Explanation`; absent: it is none. */
  readonly isDiscount?: boolean
}

type FindCauses = (
  wrong: readonly Judged[],
  right: readonly Judged[],
  causes: KnownCauses,
) => readonly OtherCause[]

/**
 * Causes of wrong costs that are no change to the calculation with a value that the contract has: a number is solved for instead.
 * The likelier ones come first.
 */
export const otherCauses: readonly FindCauses[] = [
  pricedOtherwise,
  (wrong, right) => {
    const fixed = fixedAmount(wrong, right)
    return fixed === null
      ? []
      : [{ ...fixed, spared: fixed.about === 'fee' ? right : [], numbers: 1 }]
  },
  countedOtherwise,
  chargedEnding,
  (wrong, right) => {
    const summary = chargedBeyondLeft(wrong)
    const isLeft = ({ request }: Judged) => request.outcomes[0] === 'abort'
    return summary === null
      ? []
      : [{ summary, about: 'charged', spared: right.filter(isLeft), numbers: wrong.length }]
  },
]

/** Prices that are another number than the contract has. */
function pricedOtherwise(
  wrong: readonly Judged[],
  right: readonly Judged[],
  { others = [] }: KnownCauses,
): readonly OtherCause[] {
  const amountOf = ({ statement, unit, expected: { readings } }: Judged) => ({
    ...{ amount: statement.value, unit },
    readings: readings.slice(0, 1),
  })
  return otherPrices(wrong.map(amountOf), [], others).map((found) => ({
    ...{ summary: found.summary, about: found.about, isDiscount: found.isDiscount, numbers: 1 },
    spared: right.filter((each) => isMovedBy(found, amountOf(each))),
  }))
}

/** Other counts of streams, which some services count themselves. */
function countedOtherwise(
  wrong: readonly Judged[],
  right: readonly Judged[],
): readonly OtherCause[] {
  if (wrong.length === 0 || !wrong.every(({ request }) => request.isStream)) return []
  return (Object.keys(countedParts) as CountedPart[]).flatMap((part) => {
    const counts = wrong.map(({ statement, expected: { readings }, unit }) =>
      otherCount(statement.value, readings, unit, part),
    )
    if (counts.includes(null) || areByChance(wrong, part)) return []
    const stated = wrong[0]!.expected.readings[0]!.usage.parts[part]
    const name = countedParts[part]
    return [
      {
        summary: `another count of ${name} tokens: ${counts[0]}, where the answer states ${stated}`,
        about: name,
        spared: right,
        numbers: wrong.length,
      },
    ]
  })
}

/** Whether some count gives such amounts anyway: their place is not much finer than the price of a token. */
function areByChance(wrong: readonly Judged[], part: CountedPart): boolean {
  const chance = unlikeAmounts(wrong).reduce((product, { expected: { readings }, unit }) => {
    const price = priceOfCount(readings[0]!, part)
    return price === null ? product : multiply(product, divide(unit, price))
  }, one)
  return compare(chance, leastChance) > 0
}

export const endingCharged = (ending: ChargedOutcome) =>
  `${endedAs(ending)} were charged, which cost nothing`

/** Charges for one way to end that is free, however much they are. */
function chargedEnding(wrong: readonly Judged[], right: readonly Judged[]): readonly OtherCause[] {
  const endingOf = ({ request: { outcomes } }: Judged) => outcomes[0]!
  const [first] = wrong
  if (first === undefined || first.request.outcomes.includes('success')) return []
  const ending = endingOf(first)
  const isFree = ({ statement, expected: { readings, calculation } }: Judged) =>
    statement.value.numerator > 0n &&
    calculation?.cost?.numerator === 0n &&
    readings.every(({ model, context }) => model.charged[context.outcome] === 'none')
  return wrong.every((each) => endingOf(each) === ending && isFree(each))
    ? [
        {
          summary: endingCharged(ending),
          about: 'charged',
          spared: right.filter((each) => endingOf(each) === ending),
          numbers: wrong.length,
        },
      ]
    : []
}
