import { areEnough } from '../../measure/percentile.ts'
import { TimeHistogram } from '../../run/count/time-histogram.ts'
import { type Line, type Point, Points } from './lines.ts'

/** Each percentile, with the look of its line: as on the launch page. */
const looks = [
  { p: 50, name: 'p50', color: 'c1', dash: '' },
  { p: 95, name: 'p95', color: 'c4', dash: '7 3' },
  { p: 99, name: 'p99', color: 'c7', dash: '2 3' },
] as const

/** A percentile over time. An interval is as long as the percentile needs samples. */
class PercentileOverTime {
  readonly points = new Points<Point>()
  private readonly p: number
  private readonly since = new TimeHistogram()

  constructor(p: number) {
    this.p = p
  }

  add(atS: number, fresh: TimeHistogram): void {
    this.since.add(fresh.slice())
    if (!areEnough(this.since.samples, this.p)) return
    this.points.add([atS, this.since.percentile(this.p)! / 1000])
    this.since.take()
  }
}

/** The p50, p95 and p99 of a time while a run lasts, in milliseconds. */
export class LatencyOverTime {
  private readonly percentiles = looks.map(({ p }) => new PercentileOverTime(p))
  private before = new TimeHistogram()

  /** @param whole all samples since the run began */
  add(atS: number, whole: TimeHistogram): void {
    const fresh = whole.since(this.before)
    this.before = whole
    if (fresh.samples === 0) return
    for (const percentile of this.percentiles) percentile.add(atS, fresh)
  }

  lines(): readonly Line[] {
    return this.percentiles.map(({ points }, at) => ({ ...looks[at]!, points: points.kept }))
  }
}

/**
 * The percentiles of each load, one point for each. A percentile with too few samples is not drawn.
 *
 * @param loads in ascending order of their rates
 */
export function linesByLoad(
  loads: readonly { readonly perS: number; readonly times: TimeHistogram }[],
): readonly Line[] {
  return looks.map(({ p, ...look }) => ({
    ...look,
    points: loads.flatMap(({ perS, times }): readonly Point[] =>
      areEnough(times.samples, p) ? [[perS, times.percentile(p)! / 1000]] : [],
    ),
  }))
}
