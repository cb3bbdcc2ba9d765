import { cachedShareSql } from '../../measure/shares.ts'
import { claimedPhase } from '../../schedule/safe-rate/outcome.ts'
import { literal } from '../../store/literal.ts'
import type { Session } from '../../store/session/session.ts'
import type { Coordinator } from '../crew/coordinator.ts'
import type { SweepResult } from './sweep-run.ts'

/**
 * Leaves in the steady part, of each search, only the trial that its answer is about: figures, thresholds and
 * self-tests then describe the rate that is claimed, not the overloads that found it. The others become the part
 * `trial`.
 */
export async function settleTrials(
  session: Session,
  runId: string,
  coordinator: Coordinator,
  sweeps: readonly SweepResult[],
): Promise<void> {
  const others = sweeps.flatMap(({ phase, trials, safeRate }) => {
    const claimed = claimedPhase(trials, safeRate)
    return coordinator.phases
      .filter(({ name, part, trialRequests }) => {
        const isTrial = trialRequests !== undefined && name.startsWith(`${phase} `)
        return isTrial && part === 'steady' && claimed !== null && name !== claimed
      })
      .map(({ name }) => name)
  })
  if (others.length === 0) return
  for (const [at, phase] of coordinator.phases.entries()) {
    if (others.includes(phase.name)) coordinator.phases[at] = { ...phase, part: 'trial' }
  }
  for (const table of ['request_kinds', 'histograms', 'tasks']) {
    await session.execute(
      `UPDATE ${table} SET part = 'trial' WHERE run_id = $1 AND phase IN (${others.map(literal).join(', ')})`,
      [runId],
    )
  }
}

/** The searches with the share of prompt tokens that a cache had in the trial that each claims. */
export async function withCachedShares(
  session: Session,
  runId: string,
  sweeps: readonly SweepResult[],
): Promise<readonly SweepResult[]> {
  return Promise.all(
    sweeps.map(async (sweep) => {
      const phase = claimedPhase(sweep.trials, sweep.safeRate)
      const [row] = await session.rows<{ share: number | null }>(
        `SELECT ${cachedShareSql}::DOUBLE AS share FROM attempts
         WHERE run_id = $1 AND phase = $2`,
        [runId, phase ?? ''],
      )
      return { ...sweep, cachedShare: row!.share }
    }),
  )
}
