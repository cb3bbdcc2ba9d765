import type { Evidence } from '../rule.ts'
import type { Witness } from '../verdict.ts'
import { credits, readingsOf, witnessOf } from './balances.ts'
import type { BalanceReading } from './billing/balance-reading.ts'
import { concurrentRuns } from './concurrent-runs.ts'
import { countedElsewhere } from './counted-elsewhere.ts'
import { listedByOthers } from './listed-requests.ts'
import { loneFallsOf } from './lone-falls.ts'
import { oncePerEvidence } from './once.ts'

/** Use of an account by others during a run. */
export interface ForeignUse {
  readonly runId: string
  /** Who sent the requests, and the evidence. */
  readonly shown: string
  readonly witnesses: readonly Witness[]
}

/**
 * Runs whose account others used meanwhile, if it has unexplained credits: another run of the store at that time, listed
 * requests that the store lacks, counted requests while the balance fell, or falls while nothing was sent.
 */
export const foreignUseOf = oncePerEvidence(usesIn)

async function usesIn(evidence: Evidence): Promise<readonly ForeignUse[]> {
  const uses: ForeignUse[] = []
  for (const readings of Map.groupBy(await readingsOf(evidence), runOf).values()) {
    for (const reading of readings.filter(isUnexplained)) {
      const use = await signOf(evidence, reading, readings)
      if (use !== null) uses.push(use)
    }
  }
  return uses
}

const runOf = ({ history }: BalanceReading) => history.runId

const isUnexplained = ({ fits, doubt, conservation }: BalanceReading): boolean =>
  fits === 'none' || doubt !== null || conservation.stretches.some((each) => each.excess > 0)

async function signOf(
  evidence: Evidence,
  reading: BalanceReading,
  readings: readonly BalanceReading[],
): Promise<ForeignUse | null> {
  const { runId, account } = reading.history
  const others = await concurrentRuns(evidence, runId, account)
  if (others.length > 0) {
    const runs = `${others.length === 1 ? 'run' : 'runs'} ${others.join(', ')}`
    return { runId, shown: `${runs} used account ${account} at the same time`, witnesses: [] }
  }
  const listed = await listedByOthers(evidence, runId, account)
  if (listed.length > 0) {
    const some = listed.slice(0, 3).join(', ')
    const more = listed.length - 3
    return {
      runId,
      shown: `the credits endpoint lists requests of account ${account} that no run in this store sent: ${some}${more > 0 ? ` and ${more} more` : ''}`,
      witnesses: [],
    }
  }
  const counted = await countedElsewhere(evidence, reading)
  if (counted !== null) {
    const { requests } = counted
    const own = `X-RateLimit-Remaining counts ${requests} ${requests === 1 ? 'request' : 'requests'} on account ${account} that this run did not send`
    return {
      runId,
      shown: counted.besideOwn
        ? `${own}, each while one of its own failed at a gateway or took long, and the balance falls by more than its own cost: something between here and the service may have sent them again, and the charge may be that of the repeat`
        : `${own}, where the balance falls by more than its own cost`,
      witnesses: counted.rows
        .slice(0, 3)
        .map((row) => witnessOf(reading, row, 'counted others, too')),
    }
  }
  const falls = loneFallsOf(reading, readings, evidence.contract)
  if (falls === null) return null
  return {
    runId,
    shown: `account ${account} lost ${credits(falls.credits)} in ${falls.stretches.length} stretches in which this run sent nothing but reads`,
    witnesses: falls.stretches
      .slice(0, 3)
      .map(({ to }) => witnessOf(reading, to, 'lower, and nothing was sent')),
  }
}
