import { shownAmount } from '../../money/money.ts'
import { readNumber } from '../../money/rational.ts'
import type { Progress } from '../../run/count/progress.ts'
import { counted } from '../../user/grouped.ts'

/** What a run has spent so far, in words; null if no contract states what its requests cost. */
export interface SpentText {
  readonly label: string
  readonly value: string
  /** The bound, and the requests whose cost is not known. */
  readonly aside: string
}

export function spentText({ money, creditsSpent, maxCredits }: Progress): SpentText | null {
  if (money !== null) {
    const { spent, unit, most, unknown } = money
    return {
      label: 'cost',
      value: exactAmount(spent, unit),
      aside: [
        most === null ? 'by the contract' : `of ${exactAmount(most, unit)}`,
        ...(unknown === 0 ? [] : [`and ${counted(unknown, 'request')} of unknown cost`]),
      ].join(', '),
    }
  }
  if (creditsSpent === null) return null
  const number = (value: number) => value.toLocaleString('en-US')
  return {
    label: 'credits',
    value: number(creditsSpent),
    aside: maxCredits === null ? 'by the contract' : `of ${number(maxCredits)}`,
  }
}

/** An exact decimal with its currency, with as many digits as it takes. */
export const exactAmount = (decimal: string, unit: string) =>
  shownAmount(readNumber(decimal)!, unit)
