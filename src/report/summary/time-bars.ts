import { columnOf, cutOf } from '../../measure/measures.ts'
import { samplesNeeded } from '../../measure/percentile.ts'
import { countedOfRun } from '../../measure/standings.ts'
import type { Reader } from '../../store/session/session.ts'
import { largest, smallest } from '../../user/extremes.ts'
import { grouped } from '../../user/grouped.ts'
import { ms, whole } from './figures.ts'

const barCount = 10
const barColumns = 40
/** Most intervals of the line over time; each has at least twice the samples that a median needs, on average. */
const mostIntervals = 40
const blocks = '▁▂▃▄▅▆▇█'

/** How response times are spread, and how they went over the time of a run. */
export interface TimeShape {
  readonly n: number
  /** Times that were cut off by a deadline: they are at least so long. */
  readonly censored: number
  /** Equal widths up to p99, and one bar for what is above; the last bound is the maximum. */
  readonly bars: readonly { readonly toUs: number; readonly n: number }[]
  /** Medians of equal intervals of time; null with too few samples. */
  readonly medians: readonly (number | null)[]
  readonly intervalUs: number
}

type ShapeColumn = 'n' | 'censored' | 'least' | 'most' | 'p99' | 'begins' | 'ends'

/** Null if there are too few samples for a median. */
export async function readTimeShape(store: Reader, runId: string): Promise<TimeShape | null> {
  const us = columnOf('response')
  const from = `(FROM attempt_values WHERE run_id = $1 AND ${countedOfRun} AND ${us} IS NOT NULL)`
  const [all] = await store.rows<Record<ShapeColumn, number>>(
    `SELECT count(*) AS n, count(*) FILTER (${cutOf('response') ?? 'false'}) AS censored,
       min(${us})::DOUBLE AS least, max(${us})::DOUBLE AS most, quantile_cont(${us}, 0.99)::DOUBLE AS p99,
       min(intended_us)::DOUBLE AS begins, max(intended_us)::DOUBLE AS ends FROM ${from}`,
    [runId],
  )
  const { n, censored, least, most, p99, begins, ends } = all!
  const few = samplesNeeded(0.5)
  if (n < few) return null
  const widthUs = Math.max(1, (p99 - least) / barCount)
  const counts = await store.rows<{ bar: number; n: number }>(
    `SELECT least(${barCount}, floor((${us} - ${least}) / ${widthUs}))::INTEGER AS bar, count(*) AS n
     FROM ${from} GROUP BY bar`,
    [runId],
  )
  const intervals = Math.min(mostIntervals, Math.floor(n / (2 * few)))
  const intervalUs = Math.max(1, (ends - begins) / Math.max(1, intervals))
  const medians = await store.rows<{ nth: number; us: number | null }>(
    `SELECT least(${Math.max(0, intervals - 1)}, floor((intended_us - ${begins}) / ${intervalUs}))::INTEGER AS nth,
       CASE WHEN count(*) >= ${few} THEN median(${us}) END::DOUBLE AS us FROM ${from} GROUP BY nth`,
    [runId],
  )
  const countOf = new Map(counts.map(({ bar, n }) => [bar, n]))
  const medianOf = new Map(medians.map(({ nth, us: median }) => [nth, median]))
  return {
    n,
    censored,
    intervalUs,
    bars: Array.from({ length: barCount + 1 }, (_, at) => ({
      toUs: at === barCount ? most : least + (at + 1) * widthUs,
      n: countOf.get(at) ?? 0,
    })),
    medians: Array.from({ length: intervals }, (_, at) => medianOf.get(at) ?? null),
  }
}

/** A histogram and a line over time, at most 80 columns; empty without a shape. */
export function timeShapeText(shape: TimeShape | null): string {
  if (shape === null) return ''
  const shown = shape.bars.filter(({ n }, at) => n > 0 || at < shape.bars.length - 1)
  const most = largest(shown.map(({ n }) => n))
  const bounds = boundsOf(shown.map(({ toUs }) => toUs))
  const lines = shown.map(({ n }, at) => {
    const bar = '█'.repeat(Math.round((n / most) * barColumns)) || (n > 0 ? '▏' : '')
    return `${`to ${bounds[at]}`.padStart(14)}  ${whole(n).padStart(9)}  ${bar}`.trimEnd()
  })
  const cut = shape.censored === 0 ? '' : `; ${whole(shape.censored)} of them at least so long`
  return [
    '',
    `response time in milliseconds, n = ${whole(shape.n)}${cut}`,
    ...lines,
    ...overTime(shape),
    '',
  ].join('\n')
}

/** Bounds in milliseconds: as figures are printed, or to the microsecond if two would read the same. */
function boundsOf(us: readonly number[]): readonly string[] {
  const texts = us.map(ms)
  if (new Set(texts).size === texts.length) return texts
  return us.map((bound) => grouped(bound / 1000, 3, 3))
}

const lengthText = (us: number) => (us < 1e6 ? `${ms(us)} ms` : `${(us / 1e6).toFixed(1)} s`)

/** `p50 over time  ▁▁▂▃█`, and its range; nothing with fewer than two intervals. */
function overTime({ medians, intervalUs }: TimeShape): readonly string[] {
  const known = medians.filter((us) => us !== null)
  if (known.length < 2) return []
  const most = largest(known)
  const line = medians.map((us) =>
    us === null
      ? ' '
      : blocks[Math.min(blocks.length - 1, Math.floor((us / most) * blocks.length))],
  )
  return [
    `  p50 over time  ${line.join('')}`,
    `                 ${ms(smallest(known))} to ${ms(most)} ms, by ${lengthText(intervalUs)}`,
  ]
}
