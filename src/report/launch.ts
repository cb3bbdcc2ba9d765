import type { Store } from '../store/open.ts'
import { type Answer, type Card, renderAnswer, renderCards, type Tone } from './banner.ts'
import { closedPhases } from './closed-phases.ts'
import { formatCell, formatDuration, formatNumber, formatShare } from './format.ts'
import { type Html, html } from './html.ts'
import { type RunVerdict, readRunVerdict, stoppedText } from './run-verdict.ts'

interface RunRow {
  readonly run_id: string
  readonly scenario: string
  readonly scenario_json: string
  readonly base_url: string
  readonly started_at: Date
  readonly ended_us: number | null
  readonly seed: number
  readonly verdict: 'valid' | 'degraded' | 'invalid' | null
  readonly verdict_json: string | null
  readonly assay_version: string
}

interface Totals {
  readonly planned: number
  readonly sent: number
  readonly ok: number
  readonly unexpected: number
  readonly provoked: number
  readonly answered: number
  readonly span_s: number | null
  readonly tokens: number | null
  readonly samples: number
  readonly service_p95_ms: number | null
  readonly response_p95_ms: number | null
  readonly streams: number
  readonly ttft_p50_ms: number | null
  readonly ttft_p95_ms: number | null
}

/** The line under the title of a page: what was run, against what, when. */
export async function aboutRuns(store: Store): Promise<Html> {
  const runs = await shownRuns(store)
  const first = runs[0]
  if (first === undefined) return html`The store holds no run yet.`
  const named = (values: readonly string[]) => [...new Set(values)].join(', ')
  return html`Scenario <b>${named(runs.map((run) => run.scenario))}</b> against <span class="mono">${named(
    runs.map((run) => run.base_url),
  )}</span>, ${runs.length === 1 ? `seed ${first.seed}` : `${runs.length} runs`}, begun ${formatCell(
    'started_at',
    first.started_at,
  )}. Run <span class="mono">${runs.map((run) => run.run_id).join(', ')}</span>, Assay ${first.assay_version}.`
}

/** The answer of the launch page: may the numbers be believed, and did the deployment hold? */
export async function launchTop(store: Store): Promise<Html> {
  const runs = await shownRuns(store)
  const totals = await readTotals(store)
  const verdicts = runs.map((run) => readRunVerdict(run.verdict_json))
  const closed = [...new Set(runs.flatMap((run) => closedPhases(run.scenario_json)))]
  return html`${renderAnswer(answerOf(runs, verdicts, totals, closed))}${renderCards(
    cardsOf(totals, closed.length > 0),
  )}`
}

function shownRuns(store: Store): Promise<readonly RunRow[]> {
  return store.rows<RunRow>('SELECT * FROM shown_runs ORDER BY offset_us, run_id')
}

async function readTotals(store: Store): Promise<Totals> {
  const [totals] = await store.rows<Totals>(`
    WITH
      counts AS (
        SELECT
          count(*) FILTER (retry = 0) AS planned,
          count(sent_us) AS sent,
          count(*) FILTER (outcome = 'ok') AS ok,
          count(*) FILTER (status IS NOT NULL) AS answered,
          count(*) FILTER (outcome NOT IN ('ok', 'not_sent') AND expects = 'ok') AS unexpected,
          count(*) FILTER (outcome NOT IN ('ok', 'not_sent') AND expects <> 'ok') AS provoked,
          max(ended_s) - min(at_s) AS span_s,
          sum(completion_tokens) AS tokens
        FROM shown_attempts
      ),
      latencies AS (
        SELECT
          count(*) AS samples,
          quantile_cont(service_us, 0.95) / 1000 AS service_p95_ms,
          quantile_cont(response_us, 0.95) / 1000 AS response_p95_ms,
          count(ttft_us) FILTER (streamed = 1) AS streams,
          quantile_cont(ttft_us, 0.5) FILTER (streamed = 1) / 1000 AS ttft_p50_ms,
          quantile_cont(ttft_us, 0.95) FILTER (streamed = 1) / 1000 AS ttft_p95_ms
        FROM shown_latency
      )
    SELECT * FROM counts, latencies`)
  return totals!
}

function answerOf(
  runs: readonly RunRow[],
  verdicts: readonly RunVerdict[],
  totals: Totals,
  closed: readonly string[],
): Answer {
  const of = (name: 'tests' | 'thresholds' | 'sweeps') => verdicts.flatMap((each) => each[name])
  const [tests, thresholds, sweeps] = [of('tests'), of('thresholds'), of('sweeps')]
  const stopped = verdicts.flatMap(({ stopped }) =>
    stopped === null ? [] : [stoppedText(stopped)],
  )
  const because = [
    ...stopped,
    `${formatNumber(totals.sent)} of ${formatNumber(totals.planned)} planned requests were sent, ${formatNumber(totals.ok)} succeeded.`,
    ...(closed.length === 0
      ? []
      : [
          `Closed load (${closed.join(', ')}): its users wait for answers, so response time leaves out the waiting that an open load would show, and no rate is claimed.`,
        ]),
  ].join(' ')
  const told = (tone: Tone, says: string, more = ''): Answer => ({
    tone,
    says,
    because: `${more} ${because}`.trim(),
    checks: [...sweeps, ...thresholds, ...tests],
  })
  if (totals.answered === 0) {
    return told('fail', 'The target was never reached', 'No request was answered.')
  }
  if (runs.some((run) => run.verdict === 'invalid')) {
    return told(
      'fail',
      'This run is invalid: its latencies may not be believed',
      verdicts.map((each) => each.says).join(' '),
    )
  }
  const missed = thresholds.filter((check) => check.tone === 'fail')
  if (missed.length > 0) {
    return told('fail', `It does not hold: ${count(missed.length, 'threshold')} missed`)
  }
  if (runs.some((run) => run.verdict === null)) {
    return told('warn', 'The run has no verdict', 'It did not end: it runs still, or was killed.')
  }
  const open = thresholds.filter((check) => check.tone !== 'good')
  if (open.length > 0)
    return told('warn', `${count(open.length, 'threshold')} could not be decided`)
  const safe = sweeps.filter((check) => check.tone === 'good').map((check) => check.figure)
  const rate = safe.length > 0 ? `, up to ${safe.join(' and ')}` : ''
  if (runs.some((run) => run.verdict === 'degraded')) {
    return told('warn', `The run is degraded${rate}: believe its figures with care`)
  }
  return thresholds.length > 0
    ? told('good', `It holds${rate}: the run is valid and every threshold was met`)
    : told('good', `The run is valid${rate}`, 'The scenario set no threshold.')
}

const count = (n: number, noun: string) => `${n} ${noun}${n === 1 ? '' : 's'}`

/** @param closed whether some of it is of a closed load, which claims no rate and leaves waiting out */
function cardsOf(totals: Totals, closed: boolean): readonly Card[] {
  const span = totals.span_s ?? 0
  const perS = closed ? 'closed load: no rate claimed' : `${formatNumber(totals.sent / span)}/s`
  const enough = totals.samples >= 130
  return [
    {
      label: 'Sent',
      value: formatNumber(totals.sent),
      aside: span > 0 ? `in ${formatDuration(span)}, ${perS}` : '',
    },
    {
      label: 'Unexpected failures',
      value: totals.sent > 0 ? `${formatShare(totals.unexpected / totals.sent)} %` : '–',
      aside: `${formatNumber(totals.unexpected)}, and ${formatNumber(totals.provoked)} on purpose`,
    },
    {
      label: 'Response time p95',
      value: enough ? `${formatCell('ms', totals.response_p95_ms)} ms` : 'n too small',
      aside: enough
        ? `service time ${formatCell('ms', totals.service_p95_ms)} ms${closed ? '; closed load: waiting left out' : ''}`
        : `${totals.samples} of 130 samples`,
    },
    {
      label: 'Time to first token, median',
      value: totals.streams >= 11 ? `${formatCell('ms', totals.ttft_p50_ms)} ms` : 'n too small',
      aside:
        totals.streams >= 130
          ? `p95 ${formatCell('ms', totals.ttft_p95_ms)} ms`
          : `${formatNumber(totals.streams)} streams`,
    },
    {
      label: 'Output tokens',
      value: totals.tokens === null ? 'not measured' : formatNumber(totals.tokens),
      aside: totals.tokens !== null && span > 0 ? `${formatNumber(totals.tokens / span)}/s` : '',
    },
  ]
}
