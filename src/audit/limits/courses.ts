import type { Contract, Window } from '../../contract/contract.ts'
import { ofUnknownFate } from '../../limits/arrival.ts'
import { type BandCourse, coursesOf } from '../../limits/courses.ts'
import { fitModels } from '../../limits/models/fit.ts'
import type { Contradiction, Model } from '../../limits/models/model.ts'
import type { History } from './history.ts'

const known = new WeakMap<History, Map<Window, readonly BandCourse[]>>()

/** The records of all keys, cut where their limit may have changed; cut once for all rules. */
export function coursesIn(
  history: History,
  contract: Contract,
  window: Window,
): readonly BandCourse[] {
  const byWindow = known.get(history) ?? new Map<Window, readonly BandCourse[]>()
  known.set(history, byWindow)
  const cut = byWindow.get(window)
  if (cut !== undefined) return cut
  // Edges of windows are free: a limiter may align them to a clock other than the one it shows.
  const courses = [...history.byKey.values()].flatMap((arrivals) =>
    coursesOf(arrivals, contract, window, null),
  )
  byWindow.set(window, courses)
  return courses
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
      arrival.decision === 'rejected' ? ofUnknownFate(arrival) : arrival,
    ),
  }
}
