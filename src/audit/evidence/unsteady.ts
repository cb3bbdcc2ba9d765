import { largest } from '../../user/extremes.ts'
import type { Witness } from '../verdict.ts'
import { credits, readingsOf, witnessOf } from './balances.ts'
import type { BalanceReading } from './billing/balance-reading.ts'
import type { PricedEvidence } from './billing/price-table.ts'
import { shownBy } from './exchange.ts'
import { oncePerEvidence } from './once.ts'
import { usageReports } from './usage/reports.ts'

/** Values of an account that are not those of one balance, so no difference between two of them is a charge. */
export interface Unsteady {
  readonly runId: string
  readonly why: string
  readonly witnesses: readonly Witness[]
}

/** Rules that take a value for the balance, or a difference between two for the charge of what came between them. */
export const readsDifferences = /^(?:AUTH-06|BILL-0[1-6]|BILL-1[347]|RATE-0[12]|RATE-18)$/

/** This many rises without a package or grant are no purchases. */
const fewestRises = 2

/** Accounts whose values show by themselves that they are not those of one balance (BILL-11, BILL-12). */
export const unsteadyOf = oncePerEvidence(lookedFor)

async function lookedFor(evidence: PricedEvidence): Promise<readonly Unsteady[]> {
  const readings = await readingsOf(evidence)
  const lagging = readings.flatMap(lags)
  const broken = readings.filter(({ fits }) => fits === 'none')
  if (broken.length === 0) return lagging
  const risen = [...broken.flatMap(rises), ...lagging]
  const disagreed = await disagreements(evidence, broken)
  return [...risen, ...disagreed]
}

/** What of a reading shows this: its sums between idle values, and what came in. */
type Shown = Pick<BalanceReading, 'history' | 'conservation' | 'gifts'>

/** Values that rise though nothing came in: those of several balances. */
export function rises(reading: Shown): readonly Unsteady[] {
  const { history, conservation, gifts } = reading
  const risen = conservation.stretches.filter(
    (stretch) => stretch.taken < 0 && stretch.ambiguous === 0 && stretch.excess < 0,
  )
  if (gifts.length > 0 || risen.length < fewestRises) return []
  return [
    {
      runId: history.runId,
      why: `account ${history.account} shows values that are not those of one balance: it rose ${risen.length} times, and nothing came in (BILL-11)`,
      witnesses: risen
        .slice(0, 3)
        .map(({ to, taken }) => witnessOf(reading, to, `rose by ${credits(-taken)}`)),
    },
  ]
}

/** This many values that miss a charge, and that a later one makes up for, are those of a cache or of a replica that is behind. */
const fewestLate = 2

/** Values that come late: what some of them miss, later ones have, and the whole is right. */
export function lags(reading: Shown): readonly Unsteady[] {
  const { history, conservation, gifts } = reading
  const { stretches, whole } = conservation
  const behind = stretches.filter(({ excess }) => excess < 0)
  const caughtUp = stretches.filter(({ excess }) => excess > 0)
  // The last value may be behind, too, by as much as one was before; without one that caught up, nothing is right.
  const most = largest(caughtUp.map(({ excess }) => excess))
  const isRight =
    whole !== null && whole.excess <= 0 && -whole.excess <= most && !isAhead(stretches)
  if (gifts.length > 0 || !isRight || behind.length < fewestLate) return []
  return [
    {
      runId: history.runId,
      why: `account ${history.account} shows values that are behind its charges: ${behind.length} miss some that later values have (BILL-08, BILL-11)`,
      witnesses: caughtUp
        .slice(0, 3)
        .map(({ to, excess }) => witnessOf(reading, to, `has ${credits(excess)} of before`)),
    },
  ]
}

/** Whether more was taken at some time than was due by then: late values never show that, but for the first, which may miss what was before. */
function isAhead(stretches: readonly { readonly excess: number }[]): boolean {
  let ahead = 0
  return stretches.some(({ excess }, at) => {
    if (at > 0 || excess < 0) ahead += excess
    return ahead > 0
  })
}

/** Answers of the credits endpoint whose body and header differ, though nothing that may charge or hold was in flight. */
async function disagreements(
  evidence: PricedEvidence,
  broken: readonly BalanceReading[],
): Promise<readonly Unsteady[]> {
  const nameOf = (runId: string, slot: number, retry: number) => `${runId}/${slot}/${retry}`
  const idle = new Set(
    broken.flatMap(({ history, conservation }) =>
      Array.from(conservation.idle, (row) =>
        nameOf(history.runId, history.slot[row]!, history.retry[row]!),
      ),
    ),
  )
  const differing = (await usageReports(evidence)).flatMap(({ exchange, remaining, shown }) => {
    const { runId, slot, retry, path } = exchange.row
    if (!idle.has(nameOf(runId, slot, retry)) || path?.includes('?')) return []
    if (shown === null || remaining === null || shown === remaining) return []
    return [shownBy(exchange, `remaining ${remaining}, and ${shown} in its header`)]
  })
  return [...Map.groupBy(differing, ({ runId }) => runId)].map(([runId, witnesses]) => ({
    runId,
    why: `in ${witnesses.length} answers of the credits endpoint the body and the header differ, so one of them is no balance (BILL-12)`,
    witnesses: witnesses.slice(0, 3),
  }))
}
