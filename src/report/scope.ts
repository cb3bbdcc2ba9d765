import type { Store } from '../store/open.ts'
import { ReportError } from './error.ts'
import { literal } from './temp-table.ts'

/** What a report is about: runs, and how their time is told. */
export interface Scope {
  readonly runIds: readonly string[]
  /** IANA name; hours and days are told in it. */
  readonly timeZone: string
}

/**
 * Makes ready what the queries of `reports/` read, in this connection only:
 *
 * - variables: `getvariable('run_ids')`, `'timezone'`, `'bucket_s'` (width of a bucket of time),
 *   `'coarse_s'` (the same, wide enough that a bucket has samples for a percentile), `'curve_quantiles'` (as many quantiles as the samples carry, evenly on a log axis)
 * - `shown_runs`: the runs, with `offset_us` since the first of them began
 * - `shown_attempts`: `attempt_times` of those runs, with `at_s` and `ended_s` since then
 * - `shown_latency`: what latency is told of: successes, and timeouts as at least their deadline,
 *   outside the warm-up; a fast failure never flatters a percentile
 * - `buckets`: the start of each bucket of time, `at_s`, without gaps
 *
 * @throws ReportError for a run that is not in the store or a zone that nobody knows
 */
export async function prepareScope(store: Store, scope: Scope): Promise<void> {
  await checkRuns(store, scope.runIds)
  checkTimeZone(scope.timeZone)
  await store.execute(`
    SET VARIABLE run_ids = [${scope.runIds.map(literal).join(', ')}]::VARCHAR[];
    SET VARIABLE timezone = ${literal(scope.timeZone)};
    CREATE OR REPLACE TEMP TABLE shown_runs AS
      SELECT *, epoch_us(started_at) - min(epoch_us(started_at)) OVER () AS offset_us
      FROM runs WHERE list_contains(getvariable('run_ids'), run_id);
    CREATE OR REPLACE TEMP VIEW shown_attempts AS
      SELECT times.*,
        (offset_us + intended_us) / 1e6 AS at_s,
        (offset_us + sent_us) / 1e6 AS sent_s,
        (offset_us + coalesce(closed_us, intended_us)) / 1e6 AS ended_s
      FROM attempt_times AS times JOIN (SELECT run_id, offset_us FROM shown_runs) USING (run_id);
    CREATE OR REPLACE TEMP VIEW shown_latency AS
      SELECT run_id, phase, step, outcome, streamed, model, endpoint, at_s, ended_s,
        coalesce(done_us, closed_us) - sent_us AS service_us,
        coalesce(done_us, closed_us) - intended_us AS response_us,
        ttft_us, response_ttft_us, tpot_us, first_event_us - sent_us AS first_event_us,
        completion_tokens
      FROM shown_attempts
      WHERE outcome IN ('ok', 'timeout') AND sent_us IS NOT NULL AND part <> 'warmup';
  `)
  await prepareBuckets(store)
  await store.execute(`
    SET VARIABLE curve_quantiles = (
      SELECT coalesce(list(1 - 1 / pow(10, i / 20.0) ORDER BY i), [])::DOUBLE[] FROM range(0, 121) AS t(i)
      WHERE pow(10, i / 20.0) <= (SELECT count(*) FROM shown_latency)
    )`)
}

async function checkRuns(store: Store, runIds: readonly string[]): Promise<void> {
  const found = await store.rows<{ run_id: string }>('SELECT run_id FROM runs')
  const known = new Set(found.map((row) => row.run_id))
  const missing = runIds.filter((id) => !known.has(id))
  if (missing.length > 0) {
    throw new ReportError(
      `no run ${missing.join(', ')} in ${store.path}: it has ${[...known].join(', ') || 'none'}`,
    )
  }
}

function checkTimeZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone })
  } catch {
    throw new ReportError(`${timeZone} is no time zone: expected an IANA name like Europe/Rome`)
  }
}

/** A chart over time shows at most this many points for each line. */
const mostBuckets = 120
const widthsS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600]

/** The narrowest round width that cuts a span into at most so many buckets. */
export function bucketWidthS(spanS: number, most: number): number {
  return widthsS.find((width) => spanS / width <= most) ?? 3600 * Math.ceil(spanS / 3600 / most)
}

/** Samples that a bucket should have on average before percentiles are told of it. */
const samplesPerBucket = 40

async function prepareBuckets(store: Store): Promise<void> {
  const [span] = await store.rows<{ seconds: number | null; streams: number }>(`
    SELECT max(ended_s) AS seconds,
      (SELECT count(ttft_us) FROM shown_latency WHERE streamed = 1) AS streams
    FROM shown_attempts`)
  const seconds = span?.seconds ?? 0
  const width = bucketWidthS(seconds, mostBuckets)
  const coarse = bucketWidthS(
    seconds,
    Math.min(mostBuckets, Math.max(1, (span?.streams ?? 0) / samplesPerBucket)),
  )
  const count = Math.max(1, Math.floor(seconds / width) + 1)
  await store.execute(`
    SET VARIABLE bucket_s = ${width}::DOUBLE;
    SET VARIABLE coarse_s = ${coarse}::DOUBLE;
    CREATE OR REPLACE TEMP VIEW buckets AS
      SELECT i AS bucket, i * getvariable('bucket_s') AS at_s FROM range(${count}) AS t(i);
  `)
}
