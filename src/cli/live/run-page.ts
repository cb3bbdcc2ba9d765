import type { Limit } from '../../measure/limit.ts'
import { renderCards, renderHeadline } from '../../report/banner.ts'
import type { Front } from '../../report/front.ts'
import { type Row, renderTable } from '../../report/table.ts'
import type { Percentiles, Progress } from '../../run/count/progress.ts'
import type { Counted } from '../../run/count/tally.ts'
import type { TimeHistogram } from '../../run/count/time-histogram.ts'
import type { PhaseRun } from '../../run/crew/messages.ts'
import { thresholdsSoFar } from '../../run/judge/thresholds/so-far.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import { type Html, html } from '../../user/html.ts'
import { LagWatch } from './lag-watch.ts'
import { LatencyOverTime, linesByLoad } from './latency-over-time.ts'
import { type Chart, drawChart, type Point, Points } from './lines.ts'
import { answerSoFar, cardsSoFar } from './run-answer.ts'
import { runMetrics } from './run-metrics.ts'
import type { LiveSource } from './server.ts'

interface Moment {
  readonly atS: number
  readonly sentPerS: number
  readonly plannedPerS: number | null
  readonly failedPerS: number
}

interface Now {
  readonly progress: Progress
  readonly counted: Counted
}

/** Shortest distance between points of a rate. */
const everyUs = 1e6

/** The progress of a run, from counters only: the store is not read while it is written. */
export class RunPage implements LiveSource {
  readonly title = 'Live run'
  private readonly scenario: Scenario
  private readonly about: Html
  private now: Now | null = null
  private readonly moments = new Points<Moment>()
  private readonly latency = { response: new LatencyOverTime(), ttft: new LatencyOverTime() }
  private readonly lag = new LagWatch()
  private before = { atUs: 0, sent: 0, failed: 0 }

  constructor(scenario: Scenario, baseUrl: string) {
    this.scenario = scenario
    this.about = html`Scenario <b>${scenario.name}</b> against <span class="mono">${baseUrl}</span>`
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
    for (const metric of ['response', 'ttft'] as const) {
      this.latency[metric].add(
        atUs / 1e6,
        counted.histogram(metric, () => true),
      )
    }
    this.lag.add(progress)
    this.before = { atUs, sent, failed }
  }

  metrics(): string {
    return this.now === null ? '' : runMetrics(this.now.progress, this.now.counted)
  }

  /** Every part exists from the start, because updates only replace parts. */
  body(): Html {
    const { progress = null } = this.now ?? {}
    const part = (name: string, content: Html | null, whole = true) =>
      html`<div class="${whole && 'whole'}" data-part="${name}">${content}</div>`
    return html`<header class="masthead"><h1>${this.title}</h1><span class="brand"><b>assay</b> live</span></header>
<p class="about" data-part="about">${this.about}${progress !== null && html`. Run <span class="mono">${progress.runId}</span>`}.</p>
<p class="about" data-gone hidden>The command has ended or is not reachable: these are its last figures.</p>
<div data-part="now">${this.now === null ? beginning : this.answer(this.now)}</div>
<div class="grid live">${this.charts().map(({ name, drawn, whole }) => part(name, drawn, whole))}
${part('errors', errorCard(progress))}</div>
<div data-part="figures">${this.now !== null && this.cards(this.now)}</div>
<details class="fold"><summary><h2>By step, key and thread</h2></summary><div class="grid live">${part('steps', stepCard(progress))}${part('keys', keyCard(progress), false)}${part('threads', threadCard(progress), false)}</div></details>
<footer>Counted by the sending threads while the run lasts. The launch report follows when it has ended. <a href="/metrics">Metrics for Prometheus</a></footer>`
  }

  private answer({ progress, counted }: Now): Html {
    return renderHeadline(
      answerSoFar({
        question: this.scenario.question,
        progress,
        thresholds: thresholdsSoFar(this.scenario, counted),
        alarms: this.lag.checks(),
        isAlarm: this.lag.isAlarm(progress.atUs),
      }),
    )
  }

  private cards({ progress, counted }: Now): Html {
    const all = (metric: 'response' | 'ttft') => counted.histogram(metric, () => true)
    const times = { response: all('response'), ttft: all('ttft') }
    return renderCards(cardsSoFar(progress, times, this.moments.kept.at(-1)?.sentPerS ?? null))
  }

  /** The charts of the launch page's first screen: times against load, if it varies, and over time. */
  private charts(): readonly { name: string; drawn: Html | null; whole: boolean }[] {
    const { responseUs, ttftUs } = this.scenario.objectives
    // A limit that each request has of its own is no line.
    const bound = (limit: Limit | null) =>
      typeof limit === 'number' ? { name: 'objective', value: limit / 1000 } : null
    const loads = this.now === null ? [] : loadsOf(this.now.counted)
    const byLoad: Chart = {
      title: 'Response time against load, ms',
      along: '/s',
      lines: linesByLoad(loads),
      to: loads.at(-1)?.perS ?? 0,
      bound: bound(responseUs),
      dots: true,
      note: 'One dot for each load so far.',
    }
    const overTime = (metric: 'response' | 'ttft', title: string, limit: Limit | null): Chart => ({
      title,
      along: 's',
      lines: this.latency[metric].lines(),
      bound: bound(limit),
      to: (this.now?.progress.atUs ?? 0) / 1e6,
      note: 'An interval is as long as its percentile needs samples.',
    })
    return [
      { name: 'by-load', drawn: drawChart(byLoad), whole: false },
      {
        name: 'response',
        drawn: drawChart(overTime('response', 'Response time, ms', responseUs)),
        whole: false,
      },
      {
        name: 'ttft',
        drawn: drawChart(overTime('ttft', 'Time to first token, ms', ttftUs)),
        whole: false,
      },
      { name: 'rates', drawn: drawChart(ratesChart(this.moments.kept)), whole: false },
    ]
  }
}

const beginning = renderHeadline({
  tone: 'none',
  summary: 'The run begins',
  because: 'No thread has reported yet.',
  checks: [],
})

const sumOf = ({ steps }: Progress, name: 'sent' | 'failures') =>
  steps.reduce((sum, step) => sum + step[name], 0)

/** Response times at each constant rate so far, in ascending order. */
function loadsOf(counted: Counted): readonly { perS: number; times: TimeHistogram }[] {
  const rates = new Map<number, PhaseRun[]>()
  for (const phase of counted.phases) {
    const perS = phase.part === 'warmup' ? null : constantRate(phase)
    if (perS !== null) rates.set(perS, [...(rates.get(perS) ?? []), phase])
  }
  return [...rates]
    .toSorted(([a], [b]) => a - b)
    .map(([perS, phases]) => ({
      perS,
      times: counted.histogram('response', ({ ordinal }) =>
        phases.some((phase) => phase.ordinal === ordinal),
      ),
    }))
}

function constantRate({ load }: PhaseRun): number | null {
  const [first] = load.kind === 'arrivals' ? load.rate : []
  if (load.kind !== 'arrivals' || first === undefined) return null
  const isFlat = load.rate.every(
    ({ fromPerS, toPerS }) => fromPerS === first.fromPerS && toPerS === first.fromPerS,
  )
  return isFlat ? first.fromPerS : null
}

function ratesChart(moments: readonly Moment[]): Chart {
  const points = (of: (moment: Moment) => number | null) =>
    moments.flatMap((moment): readonly Point[] => {
      const value = of(moment)
      return value === null ? [] : [[moment.atS, value]]
    })
  return {
    title: 'Requests per second',
    along: 's',
    lines: [
      {
        name: 'planned',
        color: 'c8',
        dash: '7 3',
        points: points(({ plannedPerS }) => plannedPerS),
      },
      { name: 'sent', color: 'c1', points: points(({ sentPerS }) => sentPerS) },
      { name: 'failed', color: 'c4', dash: '2 3', points: points(({ failedPerS }) => failedPerS) },
    ],
  }
}

const stepCard = (progress: Progress | null) =>
  card(
    'Steps',
    (progress?.steps ?? []).map((step) => ({
      step: step.step,
      n: step.ok,
      sent: step.sent,
      failed: step.failures,
      ...spread('response', step.responseUs),
      ...spread('service', step.serviceUs),
      ...spread('ttft', step.ttftUs),
    })),
  )

const errorCard = (progress: Progress | null) =>
  card(
    'Failures and expected errors',
    (progress?.errors ?? []).map(([code, count]) => ({ code, count })),
  )

const keyCard = (progress: Progress | null) =>
  card(
    'Keys',
    (progress?.keys ?? []).map((key) => ({
      key: key.name,
      left_credits: key.creditsRemaining,
      requests_left: key.rateRemaining,
    })),
  )

const threadCard = (progress: Progress | null) =>
  card(
    'This client',
    (progress?.health ?? []).map((thread) => ({
      thread: String(thread.shard),
      lag_p99_ms: thread.lagP99Us === null ? null : thread.lagP99Us / 1000,
      busy_ratio: thread.utilisation,
      waiting_batches: thread.queuedBatches,
    })),
  )

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
