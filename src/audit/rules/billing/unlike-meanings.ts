import type { BalanceReading } from '../../evidence/billing/balance-reading.ts'
import { everyMeaning, type HeaderMeaning } from '../../evidence/billing/header-meaning.ts'
import { inconclusive, type Verdict } from '../../verdict.ts'

/** Null if one meaning of the header makes the values of all accounts exact: where each needs another, some lag. */
export function unlikeMeanings(
  readings: readonly BalanceReading[],
  observations: number,
): Verdict | null {
  const exact = readings.filter(({ fits, charges }) => fits === 'exact' && charges > 0)
  const [first, ...others] = exact
  const unlike = others.find(({ meaning }) => !isSame(meaning, first!.meaning))
  if (first === undefined || unlike === undefined) return null
  const explainsAll = (meaning: HeaderMeaning) =>
    exact.every((reading) => reading.isExactAs(meaning))
  if (everyMeaning.some(explainsAll)) return null
  const shown = ({ history, meaning }: BalanceReading) =>
    `account ${history.account} shows the balance ${meaning.plain} its own charge on plain answers, ${meaning.stream} it on streams`
  return inconclusive(
    observations,
    `no meaning of the header explains all accounts: ${shown(first)}; ${shown(unlike)}. Either the header of one lags, or it means something else for each.`,
  )
}

const isSame = (a: HeaderMeaning, b: HeaderMeaning) => a.plain === b.plain && a.stream === b.stream
