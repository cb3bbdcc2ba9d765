import { closedLoadText } from '../closed-phases.ts'
import { stretchText } from './balances.ts'
import { percentiles } from './distribution-shape.ts'
import {
  groupsOf,
  measuredMetrics,
  metricTitles,
  ms,
  outcomeTexts,
  percentileText,
  percentileTitle,
  rate,
  tokenRate,
  whole,
} from './figures.ts'
import { machinesOf, machinesText } from './machines.ts'
import { markdownCell } from './printable.ts'
import { serviceLines } from './service-metrics.ts'
import type { RunSummary } from './shape.ts'
import {
  certified,
  creditsText,
  errorText,
  fewOf,
  furtherKinds,
  isPaidInCredits,
  moneyText,
  notesOf,
  shownTimes,
  totalOf,
} from './words.ts'

/** A run's summary as Markdown, for a pull request or an issue. */
export function markdownSummary(summary: RunSummary): string {
  const { run, all } = summary
  const { counts } = all
  const stretch = stretchText(summary.credits.balances)
  const few = fewOf(summary)
  const head = [
    'step',
    'metric',
    'n',
    'mean',
    ...percentiles.map(([name]) => percentileTitle(name)),
    'max',
  ]
  const rows = groupsOf(summary).flatMap((group) =>
    measuredMetrics(group, shownTimes).map(([name, distribution]) => [
      markdownCell(group.step ?? 'all steps'),
      metricTitles[name],
      whole(distribution.n),
      ms(distribution.meanUs),
      ...percentiles.map(([percentile]) => markdownCell(percentileText(distribution[percentile]))),
      ms(distribution.maxUs),
    ]),
  )
  const service = serviceLines(summary.service)
  const lines = [
    `## ${markdownCell(run.scenario)}: ${summary.verdict ?? 'not judged'}`,
    '',
    `Run \`${run.runId.replaceAll('`', '')}\` against ${markdownCell(run.baseUrl)}, seed ${run.seed}, ${run.startedAt}${machinesText([machinesOf(run.machine)])}, Assay ${markdownCell(run.assayVersion)}.`,
    '',
    `${whole(counts.attempts)} attempts${counts.retries > 0 ? ` (${whole(counts.retries)} of them retries)` : ''}: ${whole(counts.ok)} ok, ${whole(counts.httpError)} HTTP errors, ${whole(counts.broken)} broken, ${whole(counts.timeout)} timeouts, ${whole(counts.aborted)} aborted, ${whole(counts.notSent)} not sent${summary.countsAddUp ? '' : ' (**the counts do not add up**)'}. ${rate(all.okPerS)} ok/s, output tokens ${tokenRate(all)}. ${paidText(summary, stretch)} ${outcomeTexts(all).join('. ')}.`,
    ...certified(summary, markdownCell).flatMap((line) => ['', line]),
    '',
    ...notesOf(summary, markdownCell).flatMap((note) => [note, '']),
    ...(summary.closedPhases.length === 0
      ? []
      : [closedLoadText(markdownCell(summary.closedPhases.join(', '))), '']),
    `Milliseconds, ${summary.part === 'steady' ? 'steady part' : 'whole run'}; \`>\` is "at least" (timeouts).${few === null ? '' : ` ${few}.`}`,
    '',
    ...table([head, head.map((_, at) => (at < 2 ? '---' : '---:')), ...rows]),
    ...(service.length === 0 ? [] : ['', ...service.map((line) => `- ${markdownCell(line, 300)}`)]),
    ...errorLines(summary),
  ]
  return `${lines.join('\n')}\n`
}

const table = (cells: readonly (readonly string[])[]) =>
  cells.map((row) => `| ${row.join(' | ')} |`)

function errorLines({ errors }: RunSummary): readonly string[] {
  if (errors.length === 0) return []
  const rest = errors.slice(20)
  return [
    '',
    ...table([
      ['error', 'count', 'one of them says'],
      ['---', '---:', '---'],
      ...errors.slice(0, 20).map((error) => {
        const said = error.said === null ? '' : markdownCell(error.said, 160)
        return [markdownCell(errorText(error)), whole(error.count), said]
      }),
      ...(rest.length === 0 ? [] : [[furtherKinds(rest), whole(totalOf(rest)), '']]),
    ]),
  ]
}

function paidText(summary: RunSummary, stretch: string | null): string {
  const { money, credits } = summary
  if (money !== null) return `Cost: ${moneyText(money)}.`
  return isPaidInCredits(credits)
    ? `Credits: ${creditsText(credits)}${stretch === null ? '' : `; ${stretch}`}.`
    : ''
}
