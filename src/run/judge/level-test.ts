import { type Unsteady, unsteadyText } from '../../store/read/steadiness.ts'
import type { RunTest } from './run-test.ts'

/** Where the times of a run changed their level: the moment on the run's clock, and all of it in words. */
export interface LevelChange {
  readonly atUs: number
  readonly text: string
}

/** @param startedAtMs Unix milliseconds of the run's start */
export const levelChange = (found: Unsteady | null, startedAtMs: number): LevelChange | null =>
  found === null ? null : { atUs: found.atUs, text: unsteadyText(found, startedAtMs) }

/** Shown only if the times are of more than one level. */
export function levelTests(unsteady: string | null): readonly RunTest[] {
  if (unsteady === null) return []
  return [
    {
      name: 'level',
      result: 'degraded',
      figure: unsteady,
      bound: 'one level of times',
      remedy:
        'No figure is that of one service, so thresholds are open unless both sides of the change miss them: look for what changed then, give a cold start a phase with part: warmup, and run again.',
    },
  ]
}
