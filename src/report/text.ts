import { mappedTokens, tokenFields } from '../measure/usage/quantities.ts'
import { inSession, type Session } from '../store/session/session.ts'
import { beginPart } from '../user/work.ts'
import { auditAnswer } from './findings.ts'
import { latestFindings, type StoredFinding } from './latest-findings.ts'
import { meantRuns, type ReportOptions, readUsageOf } from './page.ts'
import type { TextFormat } from './pages.ts'
import { prepareScope } from './scope.ts'
import { prepareStretches } from './stretches.ts'
import { type Balance, stretchText } from './summary/balances.ts'
import { markdownSummary } from './summary/markdown.ts'
import { csvCell, jsonText, markdownCell } from './summary/printable.ts'
import { summariseIn } from './summary/summarise.ts'
import { csvSummary, jsonSummary } from './summary/tables.ts'
import type { UsagePage } from './usage/shape.ts'
import { usageAnswer } from './usage-page.ts'

/**
 * A page as text, for a pull request, a pipeline or a spreadsheet. The pages launch and run give the summaries of
 * their runs, audit its findings, usage its days.
 *
 * @throws UserError as `makeReport` does
 */
export async function makeText(options: ReportOptions, format: TextFormat): Promise<string> {
  beginPart(options, `figures of the ${options.page} page`, 0, 1)
  return inSession(options.store, options, (session) => textOf(session, options, format))
}

async function textOf(
  session: Session,
  options: ReportOptions,
  format: TextFormat,
): Promise<string> {
  switch (options.page) {
    case 'launch':
    case 'run':
      return runsText(session, options, format)
    case 'audit':
      return auditText(session, options, format)
    case 'usage':
      return usageText(await readUsageOf(session, options), format)
  }
}

async function runsText(
  session: Session,
  options: ReportOptions,
  format: TextFormat,
): Promise<string> {
  const texts: string[] = []
  for (const runId of await meantRuns(session, options)) {
    const summary = await summariseIn(session, runId, options.contract)
    if (format === 'md') texts.push(markdownSummary(summary))
    else texts.push(format === 'csv' ? csvSummary(summary) : jsonSummary(summary))
  }
  if (format !== 'csv') return texts.join('\n')
  // One header for all runs, since each row names its run.
  return texts.map((text, at) => (at === 0 ? text : text.slice(text.indexOf('\r\n') + 2))).join('')
}

async function auditText(
  session: Session,
  options: ReportOptions,
  format: TextFormat,
): Promise<string> {
  const { timeZone, contract } = options
  await prepareScope(session, { runIds: await meantRuns(session, options), timeZone })
  return findingsText(
    await latestFindings(session),
    await prepareStretches(session, contract),
    format,
  )
}

function findingsText(
  findings: readonly StoredFinding[],
  balances: readonly Balance[],
  format: TextFormat,
): string {
  const stretch = stretchText(balances)
  const answer = auditAnswer(findings)
  const rows = findings.map(({ rule, severity, verdict, observations, title, detail }) => ({
    rule,
    severity,
    verdict,
    observations,
    title,
    expected: detail.expected ?? null,
    observed: detail.observed ?? detail.why ?? detail.requires ?? detail.note ?? null,
  }))
  switch (format) {
    case 'json':
      return `${jsonText({ answer: answer.summary, because: answer.because, balances, findings })}\n`
    case 'csv':
      return csvTable(rows)
    case 'md':
      return `## ${markdownCell(answer.summary)}\n\n${answer.because}${stretch === null ? '' : `\n\nCredits ${stretch}.`}\n\n${markdownTable(rows)}`
  }
}

function usageText(page: UsagePage, format: TextFormat): string {
  const rows = page.days.map((day) => ({
    day: day.label,
    hours: day.lengthS / 3600,
    series: day.series,
    open: day.open,
    requests: day.requests,
    ok: day.ok,
    failed: day.failed,
    limited: day.limited,
    end_not_known: day.ambiguous,
    credits: day.credits,
    ...Object.fromEntries(tokenFields.map((field) => [mappedTokens[field], day[field]])),
  }))
  const answer = usageAnswer(page)
  switch (format) {
    case 'json':
      return `${jsonText(page)}\n`
    case 'csv':
      return csvTable(rows)
    case 'md': {
      const checks = answer.checks.map(({ name, figure }) => `- **${name}** ${figure}`).join('\n')
      const cards = page.cards.map(({ name, value, before, n, unmeasured }) => ({
        figure: name,
        value,
        before,
        n,
        unmeasured,
      }))
      return `## ${markdownCell(answer.summary, 160)}\n\n${answer.because}\n\n${checks}\n\n${markdownTable(cards)}\n${markdownTable(rows)}`
    }
  }
}

type TextRow = Readonly<Record<string, string | number | boolean | null>>

/** RFC 4180. No cell can run as a formula. */
function csvTable(rows: readonly TextRow[]): string {
  const names = Object.keys(rows[0] ?? {})
  const lines = [names, ...rows.map((row) => names.map((name) => csvCell(row[name] ?? null)))]
  return lines.map((cells) => `${cells.join(',')}\r\n`).join('')
}

function markdownTable(rows: readonly TextRow[]): string {
  const names = Object.keys(rows[0] ?? {})
  const cell = (value: TextRow[string] | undefined) =>
    value === null || value === undefined ? '–' : markdownCell(String(value), 160)
  const lines = [
    names,
    names.map(() => '---'),
    ...rows.map((row) => names.map((name) => cell(row[name]))),
  ]
  return `${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`
}
