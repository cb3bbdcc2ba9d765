import { type DeploymentProfile, type GapId, gapIds } from '../contract/profile.ts'

/**
 * Merges today's answers into an older profile: gaps asked again with a result take the new answer, others keep theirs, with the
 * probe that gave it.
 */
export function joined(
  before: DeploymentProfile,
  now: DeploymentProfile,
  asked: readonly GapId[],
): DeploymentProfile {
  const fresh = new Set(asked.filter((gap) => 'is' in now.answers[gap]))
  const told = (gap: GapId) => 'is' in before.answers[gap]
  const kept = gapIds.filter((gap) => !fresh.has(gap) && told(gap))
  const answers = Object.fromEntries(
    gapIds.map((gap) => {
      const isOfToday = fresh.has(gap) || (asked.includes(gap) && !told(gap))
      return [gap, (isOfToday ? now : before).answers[gap]]
    }),
  ) as DeploymentProfile['answers']
  const older = (before.earlier ?? []).map((probe) => ({
    ...probe,
    gaps: probe.gaps.filter((gap) => kept.includes(gap)),
  }))
  const ofOlder = new Set(older.flatMap(({ gaps }) => gaps))
  const earlier = [
    ...older,
    {
      asked_at: before.asked_at,
      run_id: before.run_id,
      gaps: kept.filter((gap) => !ofOlder.has(gap)),
    },
  ].filter(({ gaps }) => gaps.length > 0)
  return {
    ...now,
    credits_spent: before.credits_spent + now.credits_spent,
    ...(earlier.length === 0 ? {} : { earlier }),
    answers,
  }
}
