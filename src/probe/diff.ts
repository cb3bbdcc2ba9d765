import {
  type DeploymentProfile,
  type Facets,
  type GapAnswer,
  type GapId,
  gapIds,
} from '../contract/profile.ts'

/** A facet of a gap whose answer changed. */
export interface Change {
  readonly gap: GapId
  readonly facet: string
  readonly before: string
  readonly now: string
  /** Whether one of the probes did not decide it, so that it may flip although the service is the same. */
  readonly mayFlip: boolean
  /** What the question gave when it was asked once more; null if it was not. */
  readonly again: string | null
}

/** Changes from one profile to another in the `asked` gaps, without evidence and prose. Becoming known or unknown is one. */
export function profileChanges(
  before: DeploymentProfile,
  now: DeploymentProfile,
  asked: readonly GapId[] = gapIds,
): readonly Change[] {
  return asked.flatMap((gap) => {
    const [old, fresh] = [facetsOf(before.answers[gap]), facetsOf(now.answers[gap])]
    return [...new Set([...old.keys(), ...fresh.keys()])].flatMap((facet) => {
      const isDecided = [before, now].every((each) => decides(each.answers[gap], facet))
      const change = {
        gap,
        facet,
        before: old.get(facet) ?? 'not known',
        now: fresh.get(facet) ?? 'not known',
        mayFlip: !isDecided,
        again: null,
      }
      return change.before === change.now ? [] : [change]
    })
  })
}

/** Gaps of changes that both probes decided: to ask them again shows whether the answer flips on an unchanged service. */
export const gapsToAskAgain = (changes: readonly Change[]): readonly GapId[] => [
  ...new Set(changes.filter(({ mayFlip }) => !mayFlip).map(({ gap }) => gap)),
]

/** The changes with what a further probe says of them: one whose answer is not given a second time may flip. */
export function askedAgain(
  changes: readonly Change[],
  further: DeploymentProfile,
): readonly Change[] {
  return changes.map((change) => {
    if (change.mayFlip || !decides(further.answers[change.gap], change.facet)) return change
    const again = facetsOf(further.answers[change.gap]).get(change.facet)!
    return { ...change, again, mayFlip: again !== change.now }
  })
}

/** Whether an answer has one value for a facet, not several that fit. */
const decides = (answer: GapAnswer | undefined, facet: string) =>
  answer !== undefined && !('why' in answer) && Object.hasOwn(answer.is, facet)

function facetsOf(answer: GapAnswer | undefined): ReadonlyMap<string, string> {
  if (answer === undefined || 'why' in answer) return new Map()
  const known = Object.entries(answer.is).map(([facet, value]) => [facet, wordsOf(value)] as const)
  const open =
    answer.status === 'ambiguous'
      ? Object.entries(answer.between).map(
          ([facet, values]) => [facet, `one of ${values.join(', ')}`] as const,
        )
      : []
  return new Map([...known, ...open])
}

/** The value of a facet as text; an empty list is `none`. */
export function wordsOf(value: Facets[string]): string {
  if (typeof value !== 'object') return `${value}`
  return value.length === 0 ? 'none' : value.join(', ')
}
