import { moveToWarmUp } from '../../store/attempts/warm-up.ts'
import { type RunStart, readWarmUp, startText } from '../../store/read/steadiness.ts'
import type { Session } from '../../store/session/session.ts'
import { notJudged, type RunTest } from './run-test.ts'

/** What became of the start of a run: cut off, as its scenario asks with `warmup: auto`, or only looked at. */
export type WarmUp =
  | { readonly kind: 'cut'; readonly start: RunStart }
  | { readonly kind: 'not cut'; readonly why: string | null }
  | { readonly kind: 'kept'; readonly coldStart: RunStart | null }

/** Cuts the warm-up off the steady part of a run whose scenario says `warmup: auto` (decision 0817). */
export async function cutWarmUp(session: Session, runId: string): Promise<WarmUp> {
  const found = await readWarmUp(session, runId)
  if (found === null) return { kind: 'not cut', why: null }
  if (found === 'too few')
    return { kind: 'not cut', why: 'fewer than 300 requests of each step in the first phase' }
  if (found === 'not steady')
    return { kind: 'not cut', why: 'not steady: the best cut would be in the last half' }
  await moveToWarmUp(session, runId, found.untilUs)
  return { kind: 'cut', start: found }
}

const cold = 'cold start'

/** Shown only if the run begins cold, or its scenario asks for a cut. A cold start is told, and changes no verdict. */
export function warmUpTests(warmUp: WarmUp | null): readonly RunTest[] {
  switch (warmUp?.kind) {
    case 'cut':
      return [{ ...held('warm-up', `cut off: ${startText(warmUp.start)}`), isTold: true }]
    case 'not cut':
      return warmUp.why === null
        ? [held('warm-up', 'nothing to cut off')]
        : [
            {
              ...notJudged('warm-up', 'warmup: auto', `nothing is cut off, ${warmUp.why}`),
              isTold: true,
            },
          ]
    case 'kept':
      if (warmUp.coldStart === null) return []
      return [
        {
          ...notJudged(cold, 'none', startText(warmUp.coldStart)),
          remedy:
            'Its requests count in every figure: give them a phase with part: warmup, or set warmup: auto to cut them off.',
          isTold: true,
        },
      ]
    default:
      return []
  }
}

const held = (name: string, figure: string): RunTest => ({
  name,
  result: 'held',
  figure,
  bound: 'warmup: auto',
  remedy: '',
})
