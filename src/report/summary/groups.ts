import * as hdr from 'hdr-histogram-js'
import type { Cell, Store } from '../../store/open.ts'
import { samplesNeeded } from './samples.ts'
import { type Distribution, type MetricName, percentiles, type SummaryGroup } from './shape.ts'

/**
 * SQL of each metric over one attempt, with the rows that it is defined for. A timeout has no
 * end, so it enters as the time it was given: `censored` marks it.
 */
const metricSql: Readonly<
  Record<Exclude<MetricName, 'itl'>, { value: string; of: string; censored: string }>
> = {
  service: {
    value: `coalesce(done_us, closed_us) - sent_us`,
    of: `outcome IN ('ok', 'timeout')`,
    censored: `outcome = 'timeout'`,
  },
  response: {
    value: `coalesce(done_us, closed_us) - intended_us`,
    of: `outcome IN ('ok', 'timeout')`,
    censored: `outcome = 'timeout'`,
  },
  ttft: {
    value: `coalesce(first_content_us, closed_us) - sent_us`,
    of: `streamed = 1 AND (outcome = 'ok' AND first_content_us IS NOT NULL OR outcome = 'timeout')`,
    censored: `outcome = 'timeout' AND first_content_us IS NULL`,
  },
  responseTtft: {
    value: `coalesce(first_content_us, closed_us) - intended_us`,
    of: `streamed = 1 AND (outcome = 'ok' AND first_content_us IS NOT NULL OR outcome = 'timeout')`,
    censored: `outcome = 'timeout' AND first_content_us IS NULL`,
  },
  tpot: {
    value: `CASE WHEN completion_tokens >= 2 THEN (last_content_us - first_content_us) / (completion_tokens - 1) END`,
    of: `outcome = 'ok' AND streamed = 1`,
    censored: 'false',
  },
  itlMax: { value: 'itl_max_us', of: `outcome = 'ok' AND streamed = 1`, censored: 'false' },
  lag: { value: 'dispatched_us - intended_us', of: 'true', censored: 'false' },
  poolWait: { value: 'sent_us - dispatched_us', of: 'true', censored: 'false' },
  failure: {
    value: 'closed_us - intended_us',
    of: `outcome IN ('http_error', 'broken')`,
    censored: 'false',
  },
}

/** One metric of one group as SQL hands it over; all of it null without samples. */
interface Figures {
  readonly n: number
  readonly censored: number
  readonly lowest_censored: number | null
  readonly mean: number | null
  readonly low: number | null
  readonly high: number | null
  readonly q: readonly number[] | null
}

type GroupRow = Readonly<Record<string, Cell>> & { readonly step: string | null }

/** The figures of a run as a whole (step null), then of each step, as `summarise` tells them. */
export async function readGroups(
  store: Store,
  runId: string,
  part: 'steady' | 'all',
): Promise<readonly SummaryGroup[]> {
  const itl = await readItl(store, runId, part)
  return (await readRows(store, runId, part)).map((row) => groupFrom(row, itl))
}

function readRows(store: Store, runId: string, part: 'steady' | 'all') {
  const metrics = Object.entries(metricSql).map(([name, { value, of, censored }]) => {
    const when = (extra = '') => `FILTER (WHERE (${of}) AND (${value}) IS NOT NULL${extra})`
    const isCensored = when(` AND (${censored})`)
    return `{
      n: count(*) ${when()}, censored: count(*) ${isCensored},
      lowest_censored: min((${value})::DOUBLE) ${isCensored},
      mean: avg((${value})::DOUBLE) ${when()},
      low: min((${value})::DOUBLE) ${when()}, high: max((${value})::DOUBLE) ${when()},
      q: quantile_cont((${value})::DOUBLE, [${percentiles.map(([, p]) => p).join(', ')}]) ${when()}
    } AS "${name}"`
  })
  const ended = (outcome: string) => `count(*) FILTER (WHERE outcome = '${outcome}')`
  return store.rows<GroupRow>(
    `SELECT step,
       count(*) AS attempts, ${ended('not_sent')} AS "notSent",
       count(*) FILTER (WHERE outcome <> 'not_sent') AS sent,
       ${ended('ok')} AS ok, ${ended('http_error')} AS "httpError", ${ended('broken')} AS broken,
       ${ended('timeout')} AS timeout, ${ended('aborted')} AS aborted,
       count(*) FILTER (WHERE retry > 0) AS retries,
       (max(coalesce(closed_us, intended_us)) - min(intended_us)) / 1e6 AS "spanS",
       sum(prompt_tokens) FILTER (WHERE outcome = 'ok')::DOUBLE AS "promptTokens",
       sum(completion_tokens) FILTER (WHERE outcome = 'ok')::DOUBLE AS "completionTokens",
       ${metrics.join(',\n')}
     FROM attempts
     WHERE run_id = $1 ${part === 'steady' ? `AND part = 'steady'` : ''}
     GROUP BY GROUPING SETS ((), (step))
     ORDER BY step NULLS FIRST`,
    [runId],
  )
}

function groupFrom(row: GroupRow, itl: ReadonlyMap<string | null, Distribution>): SummaryGroup {
  const number = (name: string) => (row[name] === null ? null : Number(row[name]))
  const count = (name: string) => Number(row[name])
  const spanS = number('spanS')
  const perS = (value: number | null) =>
    spanS === null || spanS <= 0 || value === null ? null : value / spanS
  const metrics = Object.fromEntries(
    Object.keys(metricSql).map((name) => [name, distributionOf(row[name] as unknown as Figures)]),
  ) as Record<Exclude<MetricName, 'itl'>, Distribution>
  const completionTokens = number('completionTokens')
  return {
    step: row.step,
    counts: {
      attempts: count('attempts'),
      notSent: count('notSent'),
      sent: count('sent'),
      ok: count('ok'),
      httpError: count('httpError'),
      broken: count('broken'),
      timeout: count('timeout'),
      aborted: count('aborted'),
      retries: count('retries'),
    },
    spanS,
    okPerS: perS(count('ok')),
    sentPerS: perS(count('sent')),
    promptTokens: number('promptTokens'),
    completionTokens,
    completionTokensPerS: perS(completionTokens),
    metrics: { ...metrics, itl: itl.get(row.step) ?? emptyDistribution },
  }
}

function distributionOf(figures: Figures): Distribution {
  const n = Number(figures.n)
  const censored = Number(figures.censored)
  const marked = percentiles.map(([name, p], at) => {
    const us = figures.q?.[at] ?? null
    const needs = samplesNeeded(p)
    const mark =
      us === null
        ? 'none'
        : n < needs
          ? 'too-few'
          : figures.lowest_censored !== null && figures.lowest_censored <= us
            ? 'at-least'
            : 'exact'
    return [name, { us, mark, needs }] as const
  })
  return {
    n,
    censored,
    meanUs: figures.mean,
    minUs: figures.low,
    maxUs: figures.high,
    ...(Object.fromEntries(marked) as Pick<Distribution, (typeof percentiles)[number][0]>),
  }
}

const emptyDistribution = distributionOf({
  n: 0,
  censored: 0,
  lowest_censored: null,
  mean: null,
  low: null,
  high: null,
  q: null,
})

/**
 * Gaps between content events are not in the rows; their histograms are, and merge exactly.
 * So these alone are within 0.1 % and not exact to the microsecond.
 */
async function readItl(
  store: Store,
  runId: string,
  part: 'steady' | 'all',
): Promise<ReadonlyMap<string | null, Distribution>> {
  const rows = await store.rows<{ step: string; hdr: Uint8Array }>(
    `SELECT step, hdr FROM histograms WHERE run_id = $1 AND metric = 'itl' AND samples > 0
       ${part === 'steady' ? `AND part = 'steady'` : ''}`,
    [runId],
  )
  const merged = new Map<string | null, hdr.Histogram>()
  for (const { step, hdr: bytes } of rows) {
    const one = hdr.decodeFromCompressedBase64(Buffer.from(bytes).toString('base64'))
    for (const key of [step, null]) {
      const sum = merged.get(key)
      if (sum === undefined) {
        merged.set(key, hdr.decodeFromCompressedBase64(Buffer.from(bytes).toString('base64')))
      } else sum.add(one)
    }
  }
  return new Map(
    [...merged].map(([step, histogram]) => [
      step,
      distributionOf({
        n: histogram.totalCount,
        censored: 0,
        lowest_censored: null,
        mean: histogram.mean,
        low: histogram.minNonZeroValue,
        high: histogram.maxValue,
        q: percentiles.map(([, p]) => histogram.getValueAtPercentile(p * 100)),
      }),
    ]),
  )
}
