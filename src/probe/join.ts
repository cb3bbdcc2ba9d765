import { type DeploymentProfile, type GapId, gapIds } from '../contract/profile.ts'

/**
 * A profile whose answers of today join those that were there: what was asked again and told
 * something takes the older answer's place, everything else stays, with the probe that it is from.
 *
 * @param asked gaps that `now` asked; its other answers say only that nobody did
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
