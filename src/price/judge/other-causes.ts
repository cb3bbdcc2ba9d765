import { priceOfPart } from '../../contract/prices.ts'
import type { Part } from '../../tokens/usage.ts'
import type { Calculation } from '../calculate.ts'
import { fixedAmount } from './fixed-amount.ts'
import type { Judged } from './judge.ts'
import { chargedBeyondLeft } from './left-count.ts'
import { type CountedPart, countedParts, otherCount } from './other-count.ts'
import { otherPrices } from './other-price.ts'

/** What gives all wrong costs, with the right ones that it would have changed. */
export interface OtherCause {
  readonly summary: string
  readonly about: string
  readonly spared: readonly Judged[]
}

type FindCauses = (wrong: readonly Judged[], right: readonly Judged[]) => readonly OtherCause[]

/**
 * Causes of wrong costs that are no change to the calculation with a value that the contract has: a number is solved for instead.
 * The likelier ones come first.
 */
export const otherCauses: readonly FindCauses[] = [
  pricedOtherwise,
  (wrong, right) => {
    const fixed = fixedAmount(wrong, right)
    return fixed === null ? [] : [{ ...fixed, spared: fixed.about === 'fee' ? right : [] }]
  },
  countedOtherwise,
  chargedEnding,
  (wrong, right) => {
    const summary = chargedBeyondLeft(wrong)
    const isLeft = ({ request }: Judged) => request.outcomes[0] === 'abort'
    return summary === null ? [] : [{ summary, about: 'charged', spared: right.filter(isLeft) }]
  },
]

/** Prices that are another number than the contract has. */
function pricedOtherwise(
  wrong: readonly Judged[],
  right: readonly Judged[],
): readonly OtherCause[] {
  const found = otherPrices(
    wrong.map(({ statement, unit, expected: { readings } }) => ({
      amount: statement.value,
      unit,
      readings: readings.slice(0, 1),
    })),
  )
  return found.map(({ summary, about }) => ({
    ...{ summary, about },
    spared: right.filter(({ expected: { calculation } }) => hasPrice(calculation, about)),
  }))
}

const hasPrice = (calculation: Calculation | null, about: string) =>
  about === 'the whole cost' ||
  (calculation?.lines ?? []).some(({ name }) => (priceOfPart[name as Part] ?? name) === about)

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
    if (counts.includes(null)) return []
    const stated = wrong[0]!.expected.readings[0]!.usage.parts[part]
    const name = countedParts[part]
    return [
      {
        summary: `another count of ${name} tokens: ${counts[0]}, where the answer states ${stated}`,
        about: name,
        spared: right,
      },
    ]
  })
}

export const endingCharged = (ending: string) =>
  `${ending} answers were charged, which cost nothing`

/** Charges for one way to end that is free, however much they are. */
function chargedEnding(wrong: readonly Judged[], right: readonly Judged[]): readonly OtherCause[] {
  const endingOf = ({ request }: Judged) => request.outcomes.join()
  const [first] = wrong
  if (first === undefined || endingOf(first) === 'success') return []
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
        },
      ]
    : []
}
