import { bandsAt, type Contract } from '../../../contract/contract.ts'
import { billingRule, credits, witnessOf } from '../../evidence/balances.ts'
import { fail, inconclusive, notObserved, pass, type Verdict } from '../../verdict.ts'
import { misreadVerdict } from './misread.ts'
import { calledUs, isRight, isWrong, type Single, singlesOf } from './singles.ts'

export const bill04 = billingRule({
  id: 'BILL-04',
  title: 'The price does not depend on the balance',
  section: '§8.4.1',
  needs: ['active', 'quiescence'],
  explain: `Compares isolated charges over the bands of the balance. Some real gateways trust accounts
with large balances and do not charge them.`,
  decideBy(readings, { contract }) {
    const { alone, beside } = singlesOf(readings, contract)
    const singles = alone.filter((single) => !Number.isNaN(balanceOf(single)))
    const bandOf = (single: Single) =>
      bandsAt(contract, balanceOf(single)).at(-1)?.name ?? 'no band'
    const bands = Map.groupBy(singles, bandOf)
    if (bands.size < 2) return notObserved('requests one at a time on balances in two bands')
    const verdict = splitsByBalance(singles, contract)
    if (verdict === null && beside > 0) return misreadVerdict(singles.length + beside, beside)
    return (
      verdict ??
      (singles.every(isRight)
        ? pass(singles.length, { note: `seen in ${[...bands.keys()].join(', ')}` })
        : inconclusive(
            singles.length,
            'some requests cost other than their price, and the band does not explain which',
          ))
    )
  },
})

/** The balance before the charge. */
const balanceOf = ({ reading, row, price }: Single) => reading.history.value[row]! + price

/**
 * A failure if one balance separates requests that cost their price from those that mostly did not. Held credits may make the
 * first of the latter look right. A price that changed in time looks the same: then only at a band's edge.
 */
function splitsByBalance(singles: readonly Single[], contract: Contract): Verdict | null {
  const rising = singles.toSorted((a, b) => balanceOf(a) - balanceOf(b))
  for (const sorted of [rising, rising.toReversed()]) {
    const first = sorted.findIndex(isWrong)
    const far = sorted.slice(first)
    const wrong = far.filter(isWrong)
    if (first < 2 || wrong.length < 2 || wrong.length * 2 < far.length) continue
    const [shown, near] = [wrong[0]!, sorted[first - 1]!]
    const bandOf = (single: Single) => bandsAt(contract, balanceOf(single)).at(-1)?.name
    if (bandOf(shown) === bandOf(near) && splitsByTime(singles))
      return inconclusive(
        singles.length,
        `${wrong.length} requests cost other than their price, all of them on one side of a balance of ${balanceOf(near)}, which is no edge of a band, and all of them on one side of a time: a price that changed then looks the same`,
      )
    return fail(singles.length, {
      expected: `the same price at a balance of ${balanceOf(shown)} as at ${balanceOf(near)}`,
      observed: `${wrong.length} of ${far.length} requests on that side cost other than their price`,
      witnesses: [
        witnessOf(
          shown.reading,
          shown.row,
          `cost ${credits(shown.took)} instead of ${shown.price}`,
        ),
        witnessOf(near.reading, near.row, `cost ${credits(near.took)}`),
      ],
    })
  }
  return null
}

/** Whether, in each run with wrong prices, one time separates them from the right ones. */
function splitsByTime(singles: readonly Single[]): boolean {
  const runs = Map.groupBy(singles, ({ reading }) => reading.history.runId)
  return [...runs.values()].every((all) => {
    const inTime = all.toSorted((a, b) => calledUs(a) - calledUs(b))
    const changes = inTime.filter(
      (each, at) => at > 0 && isRight(each) !== isRight(inTime[at - 1]!),
    )
    return changes.length <= 1
  })
}
