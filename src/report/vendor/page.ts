import type { AuditReport } from '../../audit/audit.ts'
import { judgedAgain } from '../../audit/format/reproduce.ts'
import { judgedBy, logText } from '../../audit/format/terminal.ts'
import { observationsOf, worstFirst } from '../../audit/verdict.ts'
import { openStore } from '../../store/session/open.ts'
import { inSession } from '../../store/session/session.ts'
import { html } from '../../user/html.ts'
import { words } from '../../user/words.ts'
import { renderDocument } from '../document.ts'
import { renderFindings } from '../findings.ts'
import type { StoredFinding } from '../latest-findings.ts'
import { csvCell } from '../summary/printable.ts'

/** The audit of the folder that the page is in. */
const ofFolder = ['audit', '--evidence', '.']

/** The page for the vendor: the answer, each failure with the service's own ids and times, and how to check it. It names no run and no store of ours. */
export async function vendorPage(
  report: AuditReport,
  commands: ReadonlyMap<string, string>,
): Promise<string> {
  const findings: readonly StoredFinding[] = report.findings
    .map(({ rule, severity, title, verdict }) => ({
      rule,
      severity,
      title,
      verdict: verdict.verdict,
      detail: verdict,
      observations: observationsOf(verdict),
    }))
    .toSorted((a, b) => worstFirst.indexOf(a.verdict) - worstFirst.indexOf(b.verdict))
  const isLog = report.log !== undefined
  const shown = isLog ? judgedAgain(report.findings, ofFolder) : commands
  const nothing = await openStore(':memory:')
  try {
    const { body } = await inSession(nothing, {}, (session) =>
      renderFindings(session, findings, [], shown, () => ofFolder),
    )
    const { log } = report
    const subject =
      log === undefined
        ? html`Requests to ${report.runs.at(-1)?.baseUrl}`
        : html`The log ${logText(log)}`
    return renderDocument({
      title: 'Findings · Assay',
      charts: {},
      body: html`<main class="page">
<header class="masthead"><h1>Findings</h1><span class="brand"><b>assay</b></span></header>
<p class="about">${subject}, judged by ${judgedBy(report)}. Request ids and times are those of the service; times are UTC.</p>
${body}
<section class="card"><h3>Check it yourself</h3><p>This folder has the rows, the contract and a manifest with the SHA-256 of each file. This command judges them again, without a store and without sending anything:</p><p><code>npx assay audit --evidence .</code></p>${shown.size > 0 && !isLog && html`<p>The commands above read the key from an environment variable; set it to a key of your own account.</p>`}</section>
<footer>Made by Assay. A dash means "not measured", never 0.</footer>
</main>`,
    })
  } finally {
    nothing.close()
  }
}

const columns = [
  ...words('rule at_utc request_ids log_line endpoint model status asked tokens unit answered'),
  ...words('logged expected difference formula shows'),
]

/** A row for each request that a finding names, as CSV (RFC 4180). Amounts are decimal text in the row's `unit`. */
export function requestsCsv({ findings }: AuditReport): string {
  const rows = findings.flatMap(({ rule, verdict }) =>
    verdict.verdict !== 'fail'
      ? []
      : verdict.witnesses.map(({ service, shows }) => [
          ...[rule, service?.at ?? null, service?.ids.join(' ') ?? null, service?.line ?? null],
          ...[service?.endpoint ?? null, service?.model ?? null, service?.status ?? null],
          ...[service?.asked ?? null, service?.usage ?? null, service?.unit ?? null],
          ...[service?.answered ?? null, service?.logged ?? null, service?.expected ?? null],
          ...[service?.difference ?? null, service?.formula ?? null, shows],
        ]),
  )
  return [columns, ...rows].map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('')
}
