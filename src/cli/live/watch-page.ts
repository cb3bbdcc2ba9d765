import type { Poll } from '../../probe/watch.ts'
import { renderCards, renderHeadline } from '../../report/banner.ts'
import { formatDuration, formatNumber } from '../../report/format.ts'
import { renderTable } from '../../report/table.ts'
import { type Html, html } from '../../user/html.ts'
import { drawChart, type Point, Points } from './lines.ts'
import { family } from './prometheus.ts'
import { type LiveSource, openLive } from './server.ts'

const rowsShown = 20

/** Serves a page of the polls while they continue. */
export async function openLiveWatch(port: string | true, baseUrl: string) {
  const page = new WatchPage(baseUrl)
  const server = await openLive(port, page)
  return {
    show(poll: Poll, isKept: boolean) {
      page.add(poll, isKept)
      server.tell(Date.now())
    },
    end: () => server.end(),
    close: () => server.close(),
  }
}

/** Credits used between two polls: as the service counts them, else the fall of the balance, which a top-up hides. */
function usedBetween({ figures: before }: Poll, { figures: now }: Poll): number {
  return before.consumed !== null && now.consumed !== null
    ? Math.max(0, now.consumed - before.consumed)
    : Math.max(0, (before.remaining ?? 0) - (now.remaining ?? before.remaining ?? 0))
}

/** The balance of a key while it is polled. */
class WatchPage implements LiveSource {
  readonly title = 'Usage watch'
  private readonly baseUrl: string
  /** Seconds since the first balance, and credits used since then. */
  private readonly used = new Points<Point>()
  private readonly latest: { readonly poll: Poll; readonly kept: boolean }[] = []
  private readonly byStatus = new Map<string, number>()
  /** The last poll with status 200. */
  private known: Poll | null = null
  private firstUs: number | null = null
  private usedCredits = 0

  constructor(baseUrl: string) {
    this.baseUrl = baseUrl
  }

  add(poll: Poll, kept: boolean): void {
    this.latest.unshift({ poll, kept })
    this.latest.length = Math.min(this.latest.length, rowsShown)
    const status = String(poll.status ?? 'none')
    this.byStatus.set(status, (this.byStatus.get(status) ?? 0) + 1)
    if (poll.status !== 200) return
    if (poll.figures.remaining !== null || poll.figures.consumed !== null) {
      this.firstUs ??= poll.polledUs
      this.usedCredits += this.known === null ? 0 : usedBetween(this.known, poll)
      this.used.add([(poll.polledUs - this.firstUs) / 1e6, this.usedCredits])
    }
    this.known = poll
  }

  metrics(): string {
    const gauge = (name: string, help: string, value: number | null | undefined) =>
      family(name, help, typeof value === 'number' ? [[{}, value]] : [])
    return [
      family(
        'assay_polls_total',
        'Polls by their status.',
        [...this.byStatus].map(([status, count]) => [{ status }, count] as const),
      ),
      gauge('assay_credits_remaining', 'Balance.', this.known?.figures.remaining),
      gauge('assay_credits_consumed', 'Credits used.', this.known?.figures.consumed),
      gauge('assay_requests_counted', 'Requests by the service.', this.known?.figures.requests),
      gauge('assay_last_poll_seconds', 'Unix time.', this.known && this.known.polledUs / 1e6),
    ].join('')
  }

  body(): Html {
    const { consumed = null, remaining = null, requests = null } = this.known?.figures ?? {}
    const polls = [...this.byStatus.values()].reduce((sum, count) => sum + count, 0)
    const status = this.latest[0]?.poll.status
    const lastsS = this.firstUs === null ? 0 : (this.known!.polledUs - this.firstUs) / 1e6
    const paceCredits = Math.round((600 * this.usedCredits) / lastsS) / 10
    const perMinute = lastsS < 1 ? '' : `${formatNumber(paceCredits)} a minute`
    const said = (value: number | null) => (value === null ? '–' : formatNumber(value))
    return html`<header class="masthead"><h1>${this.title}</h1><span class="brand"><b>assay</b> live</span></header>
<p class="about">Balance of one key at <span class="mono">${this.baseUrl}</span>.</p>
<p class="about" data-gone hidden>The command has ended or is not reachable: these are its last figures.</p>
<div data-part="now">${renderHeadline({
      tone: status === 200 ? 'good' : status === undefined ? 'none' : 'warn',
      summary:
        status === undefined
          ? 'The first poll is under way'
          : remaining === null
            ? 'No balance yet'
            : `${formatNumber(remaining)} ${remaining === 1 ? 'credit' : 'credits'} left`,
      because:
        status === undefined
          ? ''
          : status === 200
            ? lastsS < 1
              ? ''
              : `${formatNumber(this.usedCredits)} used in ${formatDuration(lastsS)} of this watch, ${perMinute}.`
            : status === null
              ? 'Nothing answered the last poll.'
              : `The last poll was answered with status ${status}.`,
      checks: [],
    })}${renderCards([
      { label: 'Used in this watch', value: formatNumber(this.usedCredits), aside: perMinute },
      { label: 'Credits used', value: said(consumed), aside: 'as the service reports' },
      { label: 'Requests', value: said(requests), aside: 'as the service reports' },
      { label: 'Polls', value: formatNumber(polls), aside: '' },
    ])}</div>
<div class="grid live"><div class="whole" data-part="course">${drawChart({
      title: 'Credits used since the watch began',
      along: 's',
      wide: true,
      lines: [{ name: 'credits used', color: 'c1', points: this.used.kept }],
    })}</div>
<div class="whole" data-part="polls">${
      this.latest.length > 0 &&
      html`<section class="card"><h2>Last polls</h2>${renderTable(
        this.latest.map(({ poll, kept }) => ({
          at: new Date(poll.polledUs / 1000),
          left_credits: poll.figures.remaining,
          used_credits: poll.figures.consumed,
          requests: poll.figures.requests,
          status: poll.status === null ? 'nothing answered' : String(poll.status),
          kept,
        })),
        { title: 'Last polls' },
      )}</section>`
    }</div></div>
<footer>Polled while the command runs. <a href="/metrics">Metrics for Prometheus</a></footer>`
  }
}
