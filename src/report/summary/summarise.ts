import * as hdr from 'hdr-histogram-js'
import { type Contract, costOf } from '../../contract/contract.ts'
import type { Cell, Store } from '../../store/open.ts'
import { ReportError } from '../error.ts'
import { samplesNeeded } from './samples.ts'
import {
  type Distribution,
  type MetricName,
  percentiles,
  type RunSummary,
  type SummaryGroup,
} from './shape.ts'

/**
 * Everything that is said about a run, from its rows: percentiles exact by linear interpolation
 * (R-7), latencies of successes with timeouts entered as "at least the deadline", failures apart.
 * Figures cover the steady part where there is one.
 *
 * @param contract prices of the successes
 * @throws ReportError when the store holds no such run
 */
export async function summarise(
  store: Store,
  runId: string,
  contract: Contract,
): Promise<RunSummary> {
  const run = await readRun(store, runId)
  const [steady] = await store.rows<{ n: number }>(
    `SELECT count(*)::INTEGER AS n FROM attempts WHERE run_id = $1 AND part = 'steady'`,
    [runId],
  )
  const part = steady!.n > 0 ? 'steady' : 'all'
  const groups = await readGroups(store, runId, part)
  const itl = await readItl(store, runId, part)
  const groupOf = (row: GroupRow) => groupFrom(row, itl)
  const all = groups.find((row) => row.step === null)
  if (all === undefined) throw new ReportError(`run ${runId} has no attempts`)
  const whole = groupOf(all)
  const counts = whole.counts
  return {
    format: 'assay-run-summary/1',
    run: {
      runId,
      kind: run.kind,
      scenario: run.scenario,
      seed: Number(run.seed),
      baseUrl: run.base_url,
      contract: run.contract,
      startedAt: run.started_at.toISOString(),
      endedS: run.ended_us === null ? null : Number(run.ended_us) / 1e6,
      timeScale: run.time_scale,
      assayVersion: run.assay_version,
      machine: jsonObject(run.machine_json),
    },
    verdict: run.verdict,
    verdictTests: testsOf(run.verdict_json),
    ledgerAddsUp:
      counts.attempts === counts.sent + counts.notSent &&
      counts.sent ===
        counts.ok + counts.httpError + counts.broken + counts.timeout + counts.aborted,
    part,
    all: whole,
    steps: groups.filter((row) => row.step !== null).map(groupOf),
    errors: await readErrors(store, runId),
    credits: await readCredits(store, runId, contract),
  }
}

/** Runs of the store, newest first. */
export function listRuns(store: Store): Promise<readonly { runId: string; scenario: string }[]> {
  return store.rows(`SELECT run_id AS "runId", scenario FROM runs ORDER BY started_at DESC, run_id`)
}

/**
 * The run that a person means: its id, the beginning of one, or `latest`.
 *
 * @throws ReportError when none or several fit
 */
export async function resolveRun(store: Store, meant: string): Promise<string> {
  const runs = await listRuns(store)
  if (meant === 'latest' && runs[0] !== undefined) return runs[0].runId
  const exact = runs.find((run) => run.runId === meant)
  if (exact !== undefined) return exact.runId
  const fitting = runs.filter((run) => meant !== '' && run.runId.startsWith(meant))
  if (fitting.length === 1) return fitting[0]!.runId
  const known = runs.slice(0, 5).map((run) => `${run.runId} (${run.scenario})`)
  throw new ReportError(
    `${store.path}: ${fitting.length === 0 ? 'no run' : `${fitting.length} runs`} "${meant}". ${
      known.length === 0
        ? 'The store holds no runs: make one with assay run, or import one.'
        : `It holds ${known.join(', ')}${runs.length > 5 ? ', …' : ''}; see assay runs.`
    }`,
  )
}

interface RunRow {
  readonly kind: string
  readonly scenario: string
  readonly seed: number | bigint
  readonly base_url: string
  readonly contract: string
  readonly started_at: Date
  readonly ended_us: number | bigint | null
  readonly time_scale: number
  readonly assay_version: string
  readonly machine_json: string
  readonly verdict: 'valid' | 'degraded' | 'invalid' | null
  readonly verdict_json: string | null
}

async function readRun(store: Store, runId: string): Promise<RunRow> {
  const [run] = await store.rows<RunRow>('SELECT * FROM runs WHERE run_id = $1', [runId])
  if (run === undefined) {
    await resolveRun(store, runId)
    throw new ReportError(`${store.path}: no run "${runId}"`)
  }
  return run
}

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

function readGroups(store: Store, runId: string, part: 'steady' | 'all') {
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

async function readErrors(store: Store, runId: string): Promise<RunSummary['errors']> {
  const rows = await store.rows<RunSummary['errors'][number]>(
    `SELECT outcome, status, coalesce(error_code, error_type) AS code, reason,
            count(*)::INTEGER AS count
     FROM attempts WHERE run_id = $1 AND outcome <> 'ok'
     GROUP BY ALL ORDER BY count DESC, outcome, status, code, reason LIMIT 100`,
    [runId],
  )
  return [...rows]
}

async function readCredits(
  store: Store,
  runId: string,
  contract: Contract,
): Promise<RunSummary['credits']> {
  const models = await store.rows<{ model: string | null; ok: number; ambiguous: number }>(
    `SELECT coalesce(model, response_model) AS model,
            count(*) FILTER (WHERE outcome = 'ok')::INTEGER AS ok,
            count(*) FILTER (WHERE outcome IN ('broken', 'timeout', 'aborted')
                               AND sent_us IS NOT NULL)::INTEGER AS ambiguous
     FROM attempts WHERE run_id = $1 AND endpoint IN ('chat', 'messages') GROUP BY 1`,
    [runId],
  )
  const balances = await store.rows<{ account: string; first: number; last: number }>(
    `SELECT coalesce(account, key_fp, '(unknown)') AS account,
            arg_min(credits_remaining, headers_us) AS first,
            arg_max(credits_remaining, headers_us) AS last
     FROM attempts WHERE run_id = $1 AND credits_remaining IS NOT NULL GROUP BY 1 ORDER BY 1`,
    [runId],
  )
  const total = (of: (row: { ok: number; ambiguous: number }) => number) =>
    models.reduce<number | null>((sum, row) => {
      const n = of(row)
      if (n === 0 || sum === null) return sum
      const price = row.model === null ? null : costOf(contract, row.model)
      return price === null ? null : sum + n * price
    }, 0)
  return {
    spent: total((row) => row.ok),
    spentAtMost: total((row) => row.ok + row.ambiguous),
    balances: [...balances],
  }
}

function jsonObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {}
  } catch {
    return {}
  }
}

/** The verdict as the run kept it: a list of tests, or an object that holds one. */
function testsOf(text: string | null): unknown[] {
  if (text === null) return []
  try {
    const value: unknown = JSON.parse(text)
    if (Array.isArray(value)) return value
    if (typeof value === 'object' && value !== null) {
      const list = Object.values(value).find(Array.isArray)
      return list ?? [value]
    }
  } catch {
    // A verdict that cannot be read says nothing.
  }
  return []
}
