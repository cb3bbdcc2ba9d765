import type { Histogram, HistogramMetricData, ResourceMetrics } from '@opentelemetry/sdk-metrics'
import type { Reader } from '../store/session/session.ts'
import { errorSql, histograms, names, type OtelHistogram, operationSql } from './conventions.ts'
import { type DescribedRun, hrTime } from './described.ts'

/** Of the library's enumerations, which are numbers, so that it is loaded only to send. */
const ofHistograms = 0
const cumulative = 1

/** Attributes that tell the data points of a metric apart. */
const labels = {
  [names.operation]: operationSql,
  [names.model]: 'model',
  [names.responseModel]: 'response_model',
  [names.error]: errorSql,
  'assay.step': 'step',
  'assay.part': 'part',
} as const

interface Point extends Readonly<Record<string, unknown>> {
  readonly n: number
  readonly sum: number
  readonly min: number
  readonly max: number
  /** Values up to each bound. */
  readonly below: readonly number[]
}

/** Everything of a run but its resource, whose type the library decides. */
export type RunMetrics = ResourceMetrics['scopeMetrics']

/** The metrics of a run: of all attempts that were sent and meant to succeed, counted from the rows. */
export async function metricsOf(store: Reader, run: DescribedRun): Promise<RunMetrics> {
  const metrics: HistogramMetricData[] = []
  for (const histogram of histograms) {
    const dataPoints: HistogramMetricData['dataPoints'] = []
    for (const { sql, tokenType } of histogram.values) {
      for (const point of await pointsOf(store, run.runId, histogram, sql)) {
        dataPoints.push({
          startTime: hrTime(run.zeroUs),
          endTime: hrTime(run.endUs),
          attributes: {
            ...run.target,
            ...labelsOf(point, run),
            ...(tokenType === undefined ? {} : { [names.tokenType]: tokenType }),
          },
          value: bucketsOf(point, histogram.bounds),
        })
      }
    }
    const { name, description, unit } = histogram
    metrics.push({
      descriptor: { name, description, unit, valueType: unit === 's' ? 1 : 0 },
      aggregationTemporality: cumulative,
      dataPointType: ofHistograms,
      dataPoints,
    })
  }
  return [{ scope: run.scope, metrics: metrics.filter(({ dataPoints }) => dataPoints.length > 0) }]
}

async function pointsOf(
  store: Reader,
  runId: string,
  { bounds }: OtelHistogram,
  value: string,
): Promise<readonly Point[]> {
  const columns = Object.entries(labels).map(([name, sql]) => `${sql} AS "${name}"`)
  const below = bounds.map((bound) => `count(*) FILTER (v <= ${bound})::DOUBLE`)
  return store.rows<Point>(
    `WITH calls AS (
       SELECT ${columns.join(', ')}, (${value})::DOUBLE AS v FROM attempts
       WHERE run_id = $1 AND expects = 'ok' AND outcome <> 'not_sent' AND (${operationSql}) IS NOT NULL)
     SELECT ${Object.keys(labels)
       .map((name) => `"${name}"`)
       .join(', ')}, count(*)::DOUBLE AS n, sum(v) AS sum, min(v) AS min, max(v) AS max,
       [${below.join(', ')}] AS below
     FROM calls WHERE v IS NOT NULL GROUP BY ALL ORDER BY ALL`,
    [runId],
  )
}

function labelsOf(point: Point, { wordOf }: DescribedRun): Record<string, string> {
  const known = Object.keys(labels).map((name) => [name, point[name]] as const)
  return Object.fromEntries(
    known.flatMap(([name, value]) => (typeof value === 'string' ? [[name, wordOf(value)]] : [])),
  )
}

function bucketsOf(
  { n: count, sum, min, max, below }: Point,
  bounds: readonly number[],
): Histogram {
  const upTo = [...below, count]
  const counts = upTo.map((all, at) => all - (upTo[at - 1] ?? 0))
  return { buckets: { boundaries: [...bounds], counts }, count, sum, min, max }
}
