import { renderAnswer, renderCards } from '../../report/banner.ts'
import { formatDuration, formatNumber, formatShare } from '../../report/format.ts'
import type { Front } from '../../report/front.ts'
import { type Row, renderTable } from '../../report/table.ts'
import type { Counted, Percentiles, Progress } from '../../run/tally.ts'
import { type Html, html } from '../../user/html.ts'
import { spentText } from '../spent-text.ts'
import { drawLines, Points } from './lines.ts'
import { runMetrics } from './run-metrics.ts'
import type { LiveSource } from './server.ts'

interface Moment {
  readonly atS: number
  readonly sentPerS: number
  readonly plannedPerS: number | null
  readonly failedPerS: number
}

/** Shortest distance between points of a rate. */
const everyUs = 1e6

/** The progress of a run, from counters only: the store is not read while it is written. */
export class RunPage implements LiveSource {
  readonly title = 'Launch report'
  private now: { readonly progress: Progress; readonly counted: Counted } | null = null
  private readonly about: Html
  private readonly moments = new Points<Moment>()
  private before = { atUs: 0, sent: 0, failed: 0 }

  constructor(scenario: string, baseUrl: string) {
    this.about = html`Scenario <b>${scenario}</b> against <span class="mono">${baseUrl}</span>`
  }

  add(progress: Progress, counted: Counted): void {
    this.now = { progress, counted }
    const { atUs, steps } = progress
    const seconds = (atUs - this.before.atUs) / 1e6
    if (atUs - this.before.atUs < everyUs) return
    const [sent, failed] = [sumOf(progress, 'sent'), sumOf(progress, 'failures')]
    const planned = steps.filter((step) => step.plannedPerS !== null)
    this.moments.add({
      atS: atUs / 1e6,
      sentPerS: (sent - this.before.sent) / seconds,
      failedPerS: (failed - this.before.failed) / seconds,
      plannedPerS:
        planned.length === 0 ? null : planned.reduce((sum, step) => sum + step.plannedPerS!, 0),
    })
    this.before = { atUs, sent, failed }
  }

  metrics(): string {
    return this.now === null ? '' : runMetrics(this.now.progress, this.now.counted)
  }

  body(): Html {
    const progress = this.now?.progress ?? null
    return html`<header class="masthead"><h1>${this.title}</h1><span class="brand"><b>assay</b> live</span></header>
<p class="about" data-part="about">${this.about}${progress !== null && html`. Run <span class="mono">${progress.runId}</span>`}.</p>
<p class="about" data-gone hidden>The command has ended or is not reachable: these are its last figures.</p>
${shown(progress, this.moments.kept)}
<footer>Counted by the sending threads while the run lasts. The launch report follows when it has ended. <a href="/metrics">Metrics for Prometheus</a></footer>`
  }
}

const sumOf = ({ steps }: Progress, name: 'sent' | 'failures') =>
  steps.reduce((sum, step) => sum + step[name], 0)

/** Every part exists from the start, because updates only replace parts. */
function shown(progress: Progress | null, moments: readonly Moment[]): Html {
  const { steps = [], errors = [], keys = [], health = [] } = progress ?? {}
  return html`<div data-part="now">${
    progress === null
      ? renderAnswer({
          tone: 'none',
          says: 'The run begins',
          because: 'No thread has reported yet.',
          checks: [],
        })
      : html`${answer(progress)}${cards(progress, moments.at(-1))}`
  }</div>
<div class="grid live"><div class="whole" data-part="rates">${rates(moments)}</div>
<div class="whole" data-part="steps">${card(
    'Steps',
    steps.map((step) => ({
      step: step.step,
      n: step.ok,
      sent: step.sent,
      failed: step.failures,
      ...spread('response', step.responseUs),
      ...spread('service', step.serviceUs),
      ...spread('ttft', step.ttftUs),
    })),
  )}</div>
<div class="whole" data-part="errors">${card(
    'Failures and expected errors',
    errors.map(([code, count]) => ({ code, count })),
  )}</div>
<div data-part="keys">${card(
    'Keys',
    keys.map((key) => ({
      key: key.name,
      left_credits: key.creditsRemaining,
      requests_left: key.rateRemaining,
    })),
  )}</div>
<div data-part="threads">${card(
    'This client',
    health.map((thread) => ({
      thread: String(thread.shard),
      lag_p99_ms: thread.lagP99Us === null ? null : thread.lagP99Us / 1000,
      busy_ratio: thread.utilisation,
      waiting_batches: thread.queuedBatches,
    })),
  )}</div></div>`
}

function answer(progress: Progress): Html {
  const { counts, atUs, endsUs, phase } = progress
  const failed = sumOf(progress, 'failures')
  const ends = endsUs === null ? '' : ` of ${formatDuration(endsUs / 1e6)}`
  return renderAnswer({
    tone: failed > 0 ? 'warn' : 'none',
    says: `Running for ${formatDuration(atUs / 1e6)}${ends}${phase === null ? '' : `, phase ${phase}`}`,
    because: `${formatNumber(counts.planned - counts.notSent)} of ${formatNumber(counts.planned)} requests that were due have been sent, ${formatNumber(counts.ok)} succeeded, ${formatNumber(failed)} failed unexpectedly${mostly(progress)}.`,
    checks: [],
  })
}

/** The most frequent error, if any. */
function mostly({ errors }: Progress): string {
  const [first] = errors
  return first === undefined ? '' : `; most often seen: ${first[0]}`
}

function cards(progress: Progress, last: Moment | undefined): Html {
  const sent = sumOf(progress, 'sent')
  const failed = sumOf(progress, 'failures')
  const spent = spentText(progress)
  return renderCards([
    {
      label: 'Sent',
      value: formatNumber(sent),
      aside: last === undefined ? '' : `${perS(last.sentPerS)} now`,
    },
    {
      label: 'Unexpected failures',
      value: sent === 0 ? '–' : `${formatShare(failed / sent)} %`,
      aside: formatNumber(failed),
    },
    { label: 'In flight', value: formatNumber(progress.inFlight), aside: 'sent and not ended' },
    ...(spent === null
      ? []
      : [
          {
            label: spent.label === 'cost' ? 'Cost' : 'Credits spent',
            value: spent.value,
            aside: spent.aside,
          },
        ]),
  ])
}

const perS = (value: number) => `${value.toFixed(1)}/s`

function rates(moments: readonly Moment[]): Html | null {
  if (moments.length < 2) return null
  const open = moments.some(({ plannedPerS }) => plannedPerS !== null)
  const line = (name: string, color: string, of: (moment: Moment) => number | null) => ({
    name,
    color,
    values: moments.map(of),
  })
  return html`<figure class="card"><figcaption><h2>Requests per second</h2></figcaption>${drawLines(
    'Requests per second',
    moments.map(({ atS }) => atS),
    [
      ...(open ? [line('planned', 'c8', ({ plannedPerS }) => plannedPerS)] : []),
      line('sent', 'c1', ({ sentPerS }) => sentPerS),
      line('failed', 'c4', ({ failedPerS }) => failedPerS),
    ],
  )}</figure>`
}

const spread = (name: string, times: Percentiles | null) => ({
  [`${name}_p50_ms`]: times === null ? null : times.p50 / 1000,
  [`${name}_p95_ms`]: times === null ? null : times.p95 / 1000,
  [`${name}_p99_ms`]: times === null ? null : times.p99 / 1000,
})

const groups = { response: 'Response time', service: 'Service time', ttft: 'TTFT' }
const columns: Front['columns'] = {
  n: { hidden: true },
  ...Object.fromEntries(
    Object.entries(groups).flatMap(([name, group]) =>
      ([50, 95, 99] as const).map((p) => [
        `${name}_p${p}_ms`,
        { label: `p${p}`, group, needs: [`p${p}`, 'n'] as const },
      ]),
    ),
  ),
}

function card(title: string, rows: readonly Row[]): Html | null {
  if (rows.length === 0) return null
  return html`<section class="card"><h2>${title}</h2>${renderTable(rows, { title, columns })}</section>`
}
