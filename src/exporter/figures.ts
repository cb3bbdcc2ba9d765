import { literal } from '../store/literal.ts'
import type { Session } from '../store/session/session.ts'
import { largest, smallest } from '../user/extremes.ts'
import { words } from '../user/words.ts'
import {
  type HistogramBucket,
  type Point,
  type QuantileBounds,
  quantileBounds,
  riseOf,
} from './counter.ts'
import { kinds, knownFamilies, type MetricQuestion, type Place, rankLabels } from './kinds.ts'

/** What one source of a run was asked. */
export interface SourceFigures {
  readonly url: string
  readonly kind: string | null
  readonly everyUs: number
  readonly looks: number
  /** Looks without an answer. */
  readonly gaps: number
  /** Whether the last look, after all requests, was answered: without it, counts cannot be compared. */
  readonly sawEnd: boolean
  /** When the service restarted, in microseconds of the run. */
  readonly restartsUs: readonly number[]
  /** Whether several replicas answered in turns, so that no difference can be taken. */
  readonly answersInTurns: boolean
}

export interface TimeFigures {
  /** Exact: sum by count. */
  readonly meanUs: number
  readonly count: number
  /** Microseconds: edges of the bucket that holds the 95th percentile; null without buckets in the stretch. */
  readonly p95: QuantileBounds | null
}

export interface GaugeFigures {
  readonly least: number
  readonly most: number
}

/** What the service said of itself during a run. */
export interface ServiceFigures {
  readonly sources: readonly SourceFigures[]
  /** Rises from the first to the last look, over all sources. Absent where no source has it. */
  readonly counts: Partial<Readonly<Record<MetricQuestion, number>>>
  /** Of the stretch. */
  readonly times: Partial<Readonly<Record<MetricQuestion, TimeFigures>>>
  /** Of the stretch. */
  readonly gauges: Partial<Readonly<Record<MetricQuestion, GaugeFigures>>>
  /** Gauges of the whole run, where they changed. */
  readonly lines: Partial<Readonly<Record<MetricQuestion, readonly Point[]>>>
}

const countQuestions: readonly MetricQuestion[] = words(
  'ended aborted preempted failed promptTokens cachedTokens outputTokens gpuEnergy',
)
const timeQuestions: readonly MetricQuestion[] = words('queueTime prefillTime ttft itl requestTime')
const gaugeQuestions: readonly MetricQuestion[] = words('running waiting cacheUse gpuUse gpuPower')
/** Gauges that do not add up over replicas or devices: the fullest counts. */
const shares: readonly MetricQuestion[] = ['cacheUse', 'gpuUse']

interface SeriesRow {
  readonly source: number
  readonly name: string
  readonly family: string
  readonly type: string
  readonly labels: string
  readonly at: readonly (number | bigint)[]
  readonly values: readonly number[]
}

interface KnownSeries extends Pick<SeriesRow, 'source' | 'name' | 'family' | 'type'> {
  readonly labels: Readonly<Record<string, string>>
  readonly points: readonly Point[]
}

/**
 * @param stretch of times and gauges, in microseconds of the run; null for the whole run. It is read from the look at the
 *   border before it to the one after it, since buckets are kept at borders.
 * @returns null for a run that read no metrics
 */
export async function readServiceFigures(
  session: Session,
  runId: string,
  stretch: Stretch | null,
): Promise<ServiceFigures | null> {
  const sources = await session.rows<{
    url: string
    kind: string | null
    every_us: number | bigint
    looks: number | bigint
    gaps: number | bigint
    saw_end: boolean
  }>(
    `SELECT url, kind, every_us, count(at_us) FILTER (reason IS NULL) AS looks, count(reason) AS gaps,
       coalesce(bool_or(border = 'end' AND reason IS NULL), false) AS saw_end
     FROM metric_sources LEFT JOIN metric_scrapes USING (run_id, source)
     WHERE run_id = $1 GROUP BY ALL ORDER BY any_value(source)`,
    [runId],
  )
  if (sources.length === 0) return null
  const cover = stretch === null ? null : await bordersOf(session, runId, stretch)
  const series = oneOfEachRank(await readSeries(session, runId))
  const rises = series.map((each) => ({ ...each, rise: riseOf(each.points) }))
  const everyUs = largest(sources.map(({ every_us }) => Number(every_us)))
  const isCounter = ({ type }: KnownSeries) => type !== 'gauge' && type !== 'untyped'
  const within = ({ points }: KnownSeries): readonly Point[] =>
    cover === null ? points : cut(points, cover.fromUs, cover.toUs)
  const of = (question: MetricQuestion): readonly { place: Place; series: KnownSeries }[] =>
    sources.flatMap(({ kind }, source) => {
      const own = series.filter((each) => each.source === source)
      const places = kinds.find(({ name }) => name === kind)?.places[question] ?? []
      const place = places.find((likely) => own.some((each) => answers(each, likely)))
      if (place === undefined) return []
      return own.filter((each) => answers(each, place)).map((each) => ({ place, series: each }))
    })
  return {
    sources: sources.map(({ url, kind, every_us, looks, gaps, saw_end }, source) => {
      const own = rises.filter((each) => each.source === source && isCounter(each))
      const restarts = new Set(own.flatMap(({ rise }) => rise.restartsUs))
      return {
        url,
        kind,
        everyUs: Number(every_us),
        looks: Number(looks),
        gaps: Number(gaps),
        sawEnd: saw_end,
        restartsUs: [...restarts].toSorted((a, b) => a - b),
        answersInTurns: own.some(({ rise }) => rise.by === null),
      }
    }),
    counts: answered(countQuestions, (question) => {
      const all = of(question).filter(({ series: { name, type } }) => isSum(name, type))
      if (all.length === 0) return null
      const rise = totalRise(all.map(({ series: { points } }) => points))
      return rise === null ? null : rise * (all[0]!.place.unit ?? 1)
    }),
    times: answered(timeQuestions, (question) => timeOf(of(question), within)),
    gauges: answered(gaugeQuestions, (question) =>
      gaugeOf(question, of(question), within, everyUs),
    ),
    lines: answered(gaugeQuestions, (question) => {
      const line = gaugeLine(
        question,
        of(question).map(({ place, series: { points } }) => inUnit(points, place)),
        everyUs,
      )
      return line.length === 0 ? null : line
    }),
  }
}

interface Stretch {
  readonly fromUs: number
  readonly toUs: number
}

async function bordersOf(
  session: Session,
  runId: string,
  { fromUs, toUs }: Stretch,
): Promise<Stretch> {
  const [border] = await session.rows<{ from_us: number | null; to_us: number | null }>(
    `SELECT max(at_us) FILTER (at_us <= $2)::DOUBLE AS from_us, min(at_us) FILTER (at_us >= $3)::DOUBLE AS to_us
     FROM metric_scrapes WHERE run_id = $1 AND border IS NOT NULL AND reason IS NULL`,
    [runId, fromUs, toUs],
  )
  return { fromUs: border?.from_us ?? fromUs, toUs: border?.to_us ?? toUs }
}

function answered<T>(
  all: readonly MetricQuestion[],
  figureOf: (question: MetricQuestion) => T | null,
): Partial<Record<MetricQuestion, T>> {
  const pairs = all.map((question) => [question, figureOf(question)] as const)
  return Object.fromEntries(pairs.filter(([, figure]) => figure !== null)) as Partial<
    Record<MetricQuestion, T>
  >
}

async function readSeries(session: Session, runId: string): Promise<readonly KnownSeries[]> {
  const rows = await session.rows<SeriesRow>(
    `SELECT source, name, family, type, labels,
       list(at_us ORDER BY at_us) AS at, list(value ORDER BY at_us) AS "values"
     FROM metric_series JOIN metric_points USING (run_id, series)
     WHERE run_id = $1 AND family IN (${[...knownFamilies].map(literal).join(', ')})
     GROUP BY ALL ORDER BY source, name, labels`,
    [runId],
  )
  return rows.map(({ labels, at, values, ...row }) => ({
    ...row,
    labels: JSON.parse(labels) as Record<string, string>,
    points: at.map((us, index) => ({ atUs: Number(us), value: values[index]! })),
  }))
}

/** Ranks of one replica count the same. */
function oneOfEachRank(series: readonly KnownSeries[]): readonly KnownSeries[] {
  const seen = new Set<string>()
  return series.filter(({ source, name, labels }) => {
    const own = Object.entries(labels).filter(([label]) => !rankLabels.includes(label))
    const id = JSON.stringify([source, name, own])
    return !seen.has(id) && seen.add(id)
  })
}

const answers = ({ family, labels }: KnownSeries, { family: wanted, where = {} }: Place) =>
  family === wanted && Object.entries(where).every(([label, value]) => labels[label] === value)

/** Whether a sample adds up: a counter, or the sum of a histogram. */
const isSum = (name: string, type: string) =>
  type === 'histogram' || type === 'summary' ? name.endsWith('_sum') : type !== 'gauge'

const inUnit = (points: readonly Point[], { unit = 1 }: Place): readonly Point[] =>
  unit === 1 ? points : points.map(({ atUs, value }) => ({ atUs, value: value * unit }))

/** The points of a stretch, and the value that held at its begin. */
function cut(points: readonly Point[], fromUs: number, toUs: number): readonly Point[] {
  const before = points.findLast(({ atUs }) => atUs <= fromUs)
  const inside = points.filter(({ atUs }) => atUs > fromUs && atUs <= toUs)
  return before === undefined ? inside : [before, ...inside]
}

/** Null if any was answered in turns. */
function totalRise(all: readonly (readonly Point[])[]): number | null {
  const rises = all.map((points) => riseOf(points).by)
  return rises.includes(null) ? null : rises.reduce<number>((sum, by) => sum + by!, 0)
}

function timeOf(
  all: readonly { readonly place: Place; readonly series: KnownSeries }[],
  within: (series: KnownSeries) => readonly Point[],
): TimeFigures | null {
  const us = (all[0]?.place.unit ?? 1) * 1e6
  const ending = (suffix: string) => all.filter(({ series }) => series.name.endsWith(suffix))
  const total = (suffix: string) => totalRise(ending(suffix).map(({ series }) => within(series)))
  const [sum, count] = [total('_sum'), total('_count')]
  if (sum === null || count === null || count === 0) return null
  const byEdge = new Map<number, number>()
  for (const { series } of ending('_bucket')) {
    const upTo = Number(series.labels.le?.replace(/^\+?inf$/i, 'Infinity'))
    byEdge.set(upTo, (byEdge.get(upTo) ?? 0) + (riseOf(within(series)).by ?? 0))
  }
  const buckets: readonly HistogramBucket[] = [...byEdge].map(([upTo, n]) => ({ upTo, count: n }))
  const bounds = quantileBounds(buckets, 0.95)
  return {
    meanUs: (sum / count) * us,
    count,
    p95:
      bounds === null
        ? null
        : {
            from: bounds.from * us,
            to: bounds.to === null ? null : bounds.to * us,
          },
  }
}

/** The value that holds at a time. Sources are looked at one after the other, so a first value holds for its whole look. */
function valueAt(points: readonly Point[], atUs: number, everyUs: number): number {
  const held = points.findLast((each) => each.atUs <= atUs)
  if (held !== undefined) return held.value
  const first = points[0]
  return first !== undefined && first.atUs - atUs < everyUs ? first.value : 0
}

/** A gauge over all its series: queues of replicas add up; of shares, the fullest counts. */
function gaugeLine(
  question: MetricQuestion,
  lines: readonly (readonly Point[])[],
  everyUs: number,
): readonly Point[] {
  const times = new Set(lines.flatMap((points) => points.map(({ atUs }) => atUs)))
  return [...times]
    .toSorted((a, b) => a - b)
    .map((atUs) => {
      const values = lines.map((points) => valueAt(points, atUs, everyUs))
      return {
        atUs,
        value: shares.includes(question)
          ? largest(values)
          : values.reduce((sum, each) => sum + each, 0),
      }
    })
}

function gaugeOf(
  question: MetricQuestion,
  all: readonly { readonly place: Place; readonly series: KnownSeries }[],
  within: (series: KnownSeries) => readonly Point[],
  everyUs: number,
): GaugeFigures | null {
  const lines = all
    .map(({ place, series }) => inUnit(within(series), place))
    .filter((points) => points.length > 0)
  if (lines.length === 0) return null
  const values = shares.includes(question)
    ? lines.flatMap((points) => points.map(({ value }) => value))
    : gaugeLine(question, lines, everyUs).map(({ value }) => value)
  return { least: smallest(values), most: largest(values) }
}
