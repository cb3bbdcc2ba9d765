import type { Poll } from '../../probe/watch.ts'
import { renderAnswer, renderCards } from '../../report/banner.ts'
import { formatNumber } from '../../report/format.ts'
import { renderTable } from '../../report/table.ts'
import { type Html, html } from '../../user/html.ts'
import { drawLines, Points } from './lines.ts'
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

/** The balance of a key while it is polled. */
class WatchPage implements LiveSource {
  readonly title = 'Usage watch'
  private readonly baseUrl: string
  private readonly polls = new Points<Poll>()
  private readonly latest: { readonly poll: Poll; readonly kept: boolean }[] = []
  private readonly byStatus = new Map<string, number>()
  /** The last poll with status 200. */
  private known: Poll | null = null

  constructor(baseUrl: string) {
    this.baseUrl = baseUrl
  }

  add(poll: Poll, kept: boolean): void {
    this.latest.unshift({ poll, kept })
    this.latest.length = Math.min(this.latest.length, rowsShown)
    const status = String(poll.status ?? 'none')
    this.byStatus.set(status, (this.byStatus.get(status) ?? 0) + 1)
    if (poll.status !== 200) return
    this.known = poll
    this.polls.add(poll)
  }

  metrics(): string {
    const gauge = (name: string, help: string, value: number | null | undefined) =>
      family(name, 'gauge', help, typeof value === 'number' ? [[{}, value]] : [])
    return [
      family(
        'assay_polls_total',
        'counter',
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
    const balances = this.polls.kept.filter(({ figures }) => figures.remaining !== null)
    const said = (value: number | null) => (value === null ? '–' : formatNumber(value))
    return html`<header class="masthead"><h1>${this.title}</h1><span class="brand"><b>assay</b> live</span></header>
<p class="about">Balance of one key at <span class="mono">${this.baseUrl}</span>.</p>
<p class="about" data-gone hidden>The command has ended or is not reachable: these are its last figures.</p>
<div data-part="now">${renderAnswer({
      tone: status === 200 ? 'good' : status === undefined ? 'none' : 'warn',
      says:
        status === undefined
          ? 'The first poll is under way'
          : remaining === null
            ? 'No balance yet'
            : `${formatNumber(remaining)} credits left`,
      because:
        status === undefined || status === 200
          ? ''
          : status === null
            ? 'Nothing answered the last poll.'
            : `The last poll was answered with status ${status}.`,
      checks: [],
    })}${renderCards([
      { label: 'Credits used', value: said(consumed), aside: 'as the service reports' },
      { label: 'Requests', value: said(requests), aside: 'as the service reports' },
      { label: 'Polls', value: formatNumber(polls), aside: '' },
    ])}</div>
<div class="grid live"><div class="whole" data-part="course">${
      balances.length > 1 &&
      html`<figure class="card"><figcaption><h2>Credits left</h2></figcaption>${drawLines(
        'Credits left',
        balances.map(({ polledUs }) => (polledUs - balances[0]!.polledUs) / 1e6),
        [
          {
            name: 'credits left',
            color: 'c1',
            values: balances.map(({ figures }) => figures.remaining),
          },
        ],
      )}</figure>`
    }</div>
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
