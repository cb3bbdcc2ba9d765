import type { Contract, Window } from '../../contract/contract.ts'
import { type BandCourse, coursesOf } from '../../limits/courses.ts'
import { fitModels } from '../../limits/models/fit.ts'
import type { Contradiction, Model } from '../../limits/models/model.ts'
import type { History } from './history.ts'

/** The records of all keys, cut where their limit may have changed. */
export function coursesIn(
  { byKey }: History,
  contract: Contract,
  window: Window,
): readonly BandCourse[] {
  // Edges of windows are free: a limiter may align them to a clock other than the one it shows.
  return [...byKey.values()].flatMap((arrivals) => coursesOf(arrivals, contract, window, null))
}

/** Whether the limiter was put to the test: more attempts than its limit in one window. */
export function isPressed({ arrivals, limit, windowUs }: BandCourse): boolean {
  return arrivals.some(
    (arrival, index) =>
      index >= limit && arrival.fromUs - arrivals[index - limit]!.fromUs <= windowUs,
  )
}

/** What the models say of one course. */
export interface Explanation {
  readonly models: readonly Model[]
  /** Where the model that came furthest gave up; null when one explains everything. */
  readonly contradiction: Contradiction | null
}

export function explain(course: BandCourse): Explanation {
  const fits = fitModels(course)
  const models = fits.flatMap(({ model, contradiction }) => (contradiction === null ? [model] : []))
  const furthest = fits
    .flatMap(({ contradiction }) => contradiction ?? [])
    .sort((a, b) => b.arrival.fromUs - a.arrival.fromUs)[0]
  return { models, contradiction: models.length > 0 ? null : (furthest ?? null) }
}

/** The same course, asked only whether too many were let in. */
export function withoutRejections(course: BandCourse): BandCourse {
  return {
    ...course,
    arrivals: course.arrivals.map((arrival) =>
      arrival.decision === 'rejected' ? { ...arrival, decision: 'unknown' } : arrival,
    ),
  }
}
