import { shownIn } from '../../measure/measures.ts'
import { taskMeasures } from '../../measure/task-measures.ts'
import { shownAmount } from '../../money/money.ts'
import { divide, rational, readNumber } from '../../money/rational.ts'
import { wrapped } from '../../user/wrapped.ts'
import { certificateLines } from '../certificate/words.ts'
import { formatCount, formatShare } from '../format.ts'
import { stretchText } from './balances.ts'
import {
  fewText,
  flatRows,
  groupsOf,
  measuredMetrics,
  metricTitles,
  ms,
  outcomeTexts,
  percentileText,
  percentileTitle,
  rate,
  tokenNotes,
  tokenRate,
  whole,
} from './figures.ts'
import { fluidityNotes } from './fluidity.ts'
import { lengthNotes } from './lengths.ts'
import { machinesOf, machinesText } from './machines.ts'
import { csvCell, jsonText, markdownCell, printable } from './printable.ts'
import { serviceLines } from './service-metrics.ts'
import {
  type Distribution,
  type MetricName,
  percentiles,
  type RunSummary,
  type SummaryGroup,
} from './shape.ts'
import { moneyEach } from './tasks.ts'

/** The times of a summary, in the order of its table. */
export const shownTimes: readonly MetricName[] = [...shownIn('everywhere'), 'itl', 'failure']

/** A run's summary for a terminal: at most 80 columns, no escape sequences. */
export function terminalSummary(summary: RunSummary): string {
  return `${terminalFigures(summary)}${resultLine(summary)}`
}

export const resultLine = ({ verdict }: RunSummary) =>
  `\nResult: ${verdict?.toUpperCase() ?? 'not judged'}\n`

/** A part of a certificate may say much. */
const longestLine = 1_000
const certified = (
  { certificate }: RunSummary,
  shown: (text: string, longest: number) => string,
) =>
  certificate === null ? [] : certificateLines(certificate).map((line) => shown(line, longestLine))

/** The same without the line of the result, for callers that add their own. */
export function terminalFigures(summary: RunSummary): string {
  const { run, all, credits } = summary
  const { counts } = all
  const stretch = stretchText(credits.balances)
  const lines = [
    `${printable(run.scenario, 40)}  run ${printable(run.runId, 30)}`,
    `${printable(run.baseUrl, 50)}  seed ${run.seed}  ${run.startedAt.slice(0, 19)}Z${machinesText([machinesOf(run.machine)])}`,
    '',
    `attempts ${whole(counts.attempts)} = sent ${whole(counts.sent)} + not sent ${whole(counts.notSent)}${counts.retries > 0 ? `   (${whole(counts.retries)} of them retries)` : ''}`,
    `sent = ok ${whole(counts.ok)} + HTTP errors ${whole(counts.httpError)} + broken ${whole(counts.broken)} + timeouts ${whole(counts.timeout)}`,
    `       + aborted ${whole(counts.aborted)}${summary.countsAddUp ? '' : '   THE COUNTS DO NOT ADD UP'}`,
    `ok ${rate(all.okPerS)}/s   output tokens ${tokenRate(all)}   over ${rate(all.arrivalS)} s (${summary.part})`,
    ...tokenLines(all),
    ...outcomeTexts(all),
    ...summary.tasks.flatMap((task) => wrapped(taskText(task), '  ')),
    ...(all.cachedShare === null
      ? []
      : [`${formatShare(all.cachedShare)} % of the prompt tokens came from a cache`]),
    ...notesOf(summary, printable).flatMap((note) => wrapped(`  ${note}`, '  ')),
    ...paidLines(summary),
    ...certified(summary, printable).flatMap((line) => wrapped(`  ${line}`, '    ')),
    ...(stretch === null ? [] : wrapped(`  ${stretch}`, '    ')),
    ...(summary.closedPhases.length === 0
      ? []
      : [
          `closed load: ${printable(summary.closedPhases.join(', '), 66)}`,
          '  its users wait for answers, so response time leaves out the waiting that an',
          '  open load would show (coordinated omission), and no rate is claimed',
        ]),
    '',
    `${'milliseconds'.padEnd(24)}${['n', ...percentiles.map(([name]) => percentileTitle(name))].map((cell) => cell.padStart(9)).join('')}`,
  ]
  const folded = groupsOf(summary).flatMap((group) =>
    measuredMetrics(group, shownTimes).filter(([, distribution]) => isFew(distribution)),
  )
  for (const group of groupsOf(summary)) {
    const rows = measuredMetrics(group, shownTimes).filter(
      ([, distribution]) => !isFew(distribution),
    )
    for (const [at, [name, distribution]] of rows.entries()) {
      const title = at === 0 ? printable(group.step ?? 'all steps', 13) : ''
      const cells = [
        whole(distribution.n),
        ...percentiles.map(([percentile]) => percentileText(distribution[percentile])),
      ]
      lines.push(
        `${title.padEnd(14)}${metricTitles[name].padEnd(10)}${cells.map((cell) => cell.padStart(9)).join('')}`,
      )
    }
  }
  for (const { task, times } of summary.tasks) {
    for (const name of ['task', 'taskService'] as const) {
      const distribution = times[name]
      const cells = [
        whole(distribution.n),
        ...percentiles.map(([percentile]) => percentileText(distribution[percentile])),
      ]
      lines.push(
        `${printable(name === 'task' ? task : '', 10).padEnd(11)}${taskMeasures[name].title.padEnd(13)}${cells.map((cell) => cell.padStart(9)).join('')}`,
      )
    }
  }
  if (folded.length > 0) {
    const rows = folded.length === 1 ? '1 row has' : `${folded.length} rows have`
    lines.push(`${rows} too few samples for any percentile; --format md lists all`)
  }
  const few = fewOf(summary)
  if (few !== null) lines.push(few)
  const service = serviceLines(summary.service)
  if (service.length > 0) {
    const [first, ...rest] = service.map((line) => printable(line, 300))
    for (const each of [
      '',
      ...wrapped(first!, '  '),
      ...rest.flatMap((line) => wrapped(`  ${line}`, '    ')),
    ])
      lines.push(each)
  }
  for (const each of wrongLines(summary)) lines.push(each)
  if (summary.errors.length > 0) {
    lines.push('', 'errors')
    for (const error of summary.errors.slice(0, 8)) {
      for (const each of [
        `  ${whole(error.count).padStart(9)}  ${printable(errorText(error), 66)}`,
        ...saidLines(error),
      ])
        lines.push(each)
    }
    const rest = summary.errors.slice(8)
    if (rest.length > 0) lines.push(`  ${whole(totalOf(rest)).padStart(9)}  ${furtherKinds(rest)}`)
  }
  return `${lines.join('\n')}\n`
}

/** Whether even the median has too few samples, so that the whole row would say so. */
const isFew = ({ p50 }: Distribution) => p50.mark === 'too-few'

/** The samples that the missing percentiles need. */
const fewOf = (summary: RunSummary): string | null =>
  fewText(
    groupsOf(summary).flatMap((group) =>
      measuredMetrics(group, shownTimes).map(([, distribution]) => distribution),
    ),
  )

/** Tokens by part; `-` is a part that no answer reports. Nothing without any report. */
function tokenLines({ tokenParts }: SummaryGroup): readonly string[] {
  const { inputUncached, cacheRead, cacheWritten, outputVisible, reasoning } = tokenParts
  const input = `tokens in   uncached ${whole(inputUncached)}   cache read ${whole(cacheRead)}   cache written ${whole(cacheWritten)}`
  const output = `tokens out  visible ${whole(outputVisible)}   reasoning ${whole(reasoning)}`
  return [...(inputUncached === null ? [] : [input]), ...(outputVisible === null ? [] : [output])]
}

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
  const table = (cells: readonly (readonly string[])[]) =>
    cells.map((row) => `| ${row.join(' | ')} |`)
  const lines = [
    `## ${markdownCell(run.scenario)}: ${summary.verdict ?? 'not judged'}`,
    '',
    `Run \`${run.runId.replaceAll('`', '')}\` against ${markdownCell(run.baseUrl)}, seed ${run.seed}, ${run.startedAt}${machinesText([machinesOf(run.machine)])}, Assay ${markdownCell(run.assayVersion)}.`,
    '',
    `${whole(counts.attempts)} attempts${counts.retries > 0 ? ` (${whole(counts.retries)} of them retries)` : ''}: ${whole(counts.ok)} ok, ${whole(counts.httpError)} HTTP errors, ${whole(counts.broken)} broken, ${whole(counts.timeout)} timeouts, ${whole(counts.aborted)} aborted, ${whole(counts.notSent)} not sent${summary.countsAddUp ? '' : ' (**the counts do not add up**)'}. ${rate(all.okPerS)} ok/s, Output tokens ${tokenRate(all)}. ${paidText(summary, stretch)} ${outcomeTexts(all).join('. ')}.`,
    ...certified(summary, markdownCell).flatMap((line) => ['', line]),
    '',
    ...notesOf(summary, markdownCell).flatMap((note) => [note, '']),
    ...(summary.closedPhases.length === 0
      ? []
      : [
          `Closed load: ${markdownCell(summary.closedPhases.join(', '))}. Its users wait for answers, so response time leaves out the waiting that an open load would show (coordinated omission), and no rate is claimed.`,
          '',
        ]),
    `Milliseconds, ${summary.part === 'steady' ? 'steady part' : 'whole run'}; \`>\` is "at least" (timeouts).${few === null ? '' : ` ${few}.`}`,
    '',
    ...table([head, head.map((_, at) => (at < 2 ? '---' : '---:'))]),
    ...table(rows),
  ]
  const service = serviceLines(summary.service)
  if (service.length > 0) {
    for (const each of ['', ...service.map((line) => `- ${markdownCell(line, 300)}`)])
      lines.push(each)
  }
  if (summary.errors.length > 0) {
    for (const each of [
      '',
      ...table([
        ['error', 'count', 'one of them says'],
        ['---', '---:', '---'],
      ]),
    ])
      lines.push(each)
    for (const each of table(
      summary.errors
        .slice(0, 20)
        .map((error) => [
          markdownCell(errorText(error)),
          whole(error.count),
          error.said === null ? '' : markdownCell(error.said, 160),
        ]),
    ))
      lines.push(each)
    const rest = summary.errors.slice(20)
    if (rest.length > 0)
      for (const each of table([[furtherKinds(rest), whole(totalOf(rest)), '']])) lines.push(each)
  }
  return `${lines.join('\n')}\n`
}

export function csvSummary(summary: RunSummary): string {
  const rows = flatRows(summary)
  const names = Object.keys(rows[0]!)
  return `${[names, ...rows.map((row) => Object.values(row).map((cell) => csvCell(cell)))]
    .map((cells) => cells.join(','))
    .join('\r\n')}\r\n`
}

export function jsonSummary(summary: RunSummary): string {
  return `${jsonText(summary)}\n`
}

/** `fix-a-bug: 97 % of 100 tasks succeeded (2 failed, 1 past the deadline); 6.2 requests, 9 credits each` */
function taskText(task: RunSummary['tasks'][number]): string {
  const { counts, success, requestsEach, creditsEach } = task
  const kinds = [
    counts.failed > 0 ? `${whole(counts.failed)} failed` : null,
    counts.deadline > 0 ? `${whole(counts.deadline)} past the deadline` : null,
    counts.stopped > 0 ? `${whole(counts.stopped)} stopped with the run` : null,
  ].filter((kind) => kind !== null)
  const why = kinds.length === 0 ? '' : ` (${kinds.join(', ')})`
  const share = success === null ? '-' : `${formatShare(success)} %`
  const credits = creditsEach === null ? '' : `, ${rate(creditsEach)} credits`
  const cost = moneyEach(task)
  const paid = cost === null ? '' : `, ${cost}`
  return `${printable(task.task, 30)}: ${share} of ${whole(counts.tasks)} tasks succeeded${why}; ${rate(requestsEach)} requests${credits}${paid} each`
}

/** The first wrong answer, so that a reader sees at once what is wrong; the page and `--json` have ten. */
function wrongLines({ wrongAnswers }: RunSummary): readonly string[] {
  const [first] = wrongAnswers
  if (first === undefined) return []
  const { step, why, answer } = first
  const text = answer === '' ? '' : `: ${JSON.stringify(printable(answer, 200))}`
  return [
    '',
    ...wrapped(`first wrong answer, ${printable(step, 30)}: ${printable(why, 160)}${text}`, '  '),
  ]
}

type Errors = RunSummary['errors']

/** What the service said in one error of a kind, in about two lines; an error on purpose needs none. */
function saidLines({ said, onPurpose }: Errors[number]): readonly string[] {
  if (said === null || onPurpose) return []
  const text = printable(said, 2 * saidColumns)
  // A word that is longer than a line is broken.
  const words = text.replace(new RegExp(`\\S{${saidColumns}}(?=\\S)`, 'g'), '$& ')
  return wrapped(`${saidIndent}${words}`, saidIndent)
}

const saidIndent = ' '.repeat(13)
const saidColumns = 80 - saidIndent.length

function errorText(error: Errors[number]): string {
  const said = [error.outcome, error.status, error.code, error.reason]
  return [...said, error.onPurpose ? '(on purpose)' : null]
    .filter((part) => part !== null)
    .join(' ')
}

const totalOf = (errors: Errors) => errors.reduce((sum, error) => sum + error.count, 0)

function furtherKinds({ length }: Errors): string {
  return `of ${whole(length)} more ${length === 1 ? 'kind' : 'kinds'}; --json lists all`
}

/** What the run cost; nothing if no contract states it, and no balance shows it. */
function paidLines(summary: RunSummary): readonly string[] {
  const { money, credits } = summary
  if (money !== null) return [`cost ${moneyText(money)}`, ...stepCosts(money)]
  return isPaidInCredits(credits) ? [`credits ${creditsText(credits)}`] : []
}

function paidText(summary: RunSummary, stretch: string | null): string {
  const { money, credits } = summary
  if (money !== null) return `Cost: ${moneyText(money)}.`
  return isPaidInCredits(credits)
    ? `Credits: ${creditsText(credits)}${stretch === null ? '' : `; ${stretch}`}.`
    : ''
}

const isPaidInCredits = ({ stated, balances }: RunSummary['credits']) =>
  stated || balances.length > 0

type Money = NonNullable<RunSummary['money']>

function moneyText({ spent, unit, unknown }: Money): string {
  const more = unknown === 0 ? '' : `, and ${formatCount(unknown, 'request')} of unknown cost`
  return `${shownAmount(readNumber(spent)!, unit)} by the contract${more}`
}

/** What each step cost, and a request of it on average. */
function stepCosts({ steps, unit }: Money): readonly string[] {
  if (steps.length < 2) return []
  return steps.flatMap(({ step, spent, priced }) => {
    if (priced === 0) return []
    const sum = readNumber(spent)!
    const each = divide(sum, rational(BigInt(priced)))
    return [
      `     ${printable(step, 30)} ${shownAmount(sum, unit)}, ${shownAmount(each, unit)} a request`,
    ]
  })
}

function creditsText({ spent, spentAtMost, balances, otherTries }: RunSummary['credits']): string {
  const own =
    spent === null
      ? 'not measured (a price is unknown)'
      : spentAtMost !== null && spentAtMost > spent
        ? `${rate(spent)} to ${rate(spentAtMost)} by the contract`
        : `${rate(spent)} by the contract`
  const again = otherTries.length === 0 ? '' : `, ${triesText(otherTries)}`
  const [only] = balances
  return balances.length === 1
    ? `${own}${again}, balance ${rate(only!.first)} to ${rate(only!.last)}`
    : `${own}${again}`
}

/** The self-tests list their names. */
function triesText(tries: RunSummary['credits']['otherTries']): string {
  const spent = tries.map((each) => each.spent)
  const sum = spent.some((each) => each === null) ? null : spent.reduce((a, b) => a! + b!, 0)
  const which =
    tries.length === 1 ? 'another try of a shard' : `${tries.length} other tries of shards`
  return `${sum === null ? 'some' : rate(sum!)} of it by ${which}`
}

/** @param nameOf how the place shows a name */
const notesOf = (
  { all, lengths, fluidity }: RunSummary,
  nameOf: (name: string) => string,
): readonly string[] => [
  ...tokenNotes(all),
  ...lengthNotes(lengths, nameOf),
  ...fluidityNotes(fluidity, nameOf),
]
