import { taskMeasures } from '../../measure/task-measures.ts'
import { shownAmount } from '../../money/money.ts'
import { divide, rational, readNumber } from '../../money/rational.ts'
import { wrapped } from '../../user/wrapped.ts'
import { closedLoadText } from '../closed-phases.ts'
import { formatShare } from '../format.ts'
import { stretchText } from './balances.ts'
import { type Distribution, percentiles } from './distribution-shape.ts'
import {
  groupsOf,
  measuredMetrics,
  metricTitles,
  outcomeTexts,
  percentileText,
  percentileTitle,
  rate,
  tokenRate,
  whole,
} from './figures.ts'
import type { SummaryGroup } from './group-shape.ts'
import { machinesOf, machinesText } from './machines.ts'
import { printable } from './printable.ts'
import { serviceLines } from './service-metrics.ts'
import type { RunSummary } from './shape.ts'
import { moneyEach } from './tasks.ts'
import {
  certified,
  creditsText,
  type Errors,
  errorText,
  fewOf,
  furtherKinds,
  isPaidInCredits,
  type Money,
  moneyText,
  notesOf,
  shownTimes,
  totalOf,
} from './words.ts'

/** A run's summary for a terminal: at most 80 columns, no escape sequences. */
export const terminalSummary = (summary: RunSummary): string =>
  `${terminalFigures(summary)}${resultLine(summary)}`

export const resultLine = ({ verdict }: RunSummary) =>
  `\nResult: ${verdict?.toUpperCase() ?? 'not judged'}\n`

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
      : wrapped(closedLoadText(printable(summary.closedPhases.join(', '), 66)), '  ')),
    '',
    `${'milliseconds'.padEnd(24)}${['n', ...percentiles.map(([name]) => percentileTitle(name))].map((cell) => cell.padStart(9)).join('')}`,
    ...timeLines(summary),
    ...[fewOf(summary)].filter((line) => line !== null),
    ...metricsLines(summary),
    ...wrongLines(summary),
    ...errorLines(summary),
  ]
  return `${lines.join('\n')}\n`
}

/** The rows of the table of times: of each step, then of each task. */
function timeLines(summary: RunSummary): readonly string[] {
  const measured = groupsOf(summary).map((group) => {
    const times = measuredMetrics(group, shownTimes)
    return { step: group.step, all: times.length, rows: times.filter(([, each]) => !isFew(each)) }
  })
  const folded = measured.reduce((sum, { all, rows }) => sum + all - rows.length, 0)
  return [
    ...measured.flatMap(({ step, rows }) =>
      rows.map(([name, times], at) => {
        const title = at === 0 ? printable(step ?? 'all steps', 13) : ''
        return `${title.padEnd(14)}${metricTitles[name].padEnd(10)}${cellsOf(times)}`
      }),
    ),
    ...summary.tasks.flatMap(({ task, times }) =>
      (['task', 'taskService'] as const).map((name) => {
        const title = printable(name === 'task' ? task : '', 10).padEnd(11)
        return `${title}${taskMeasures[name].title.padEnd(13)}${cellsOf(times[name])}`
      }),
    ),
    ...(folded === 0
      ? []
      : [
          `${folded === 1 ? '1 row has' : `${folded} rows have`} too few samples for any percentile; --format md lists all`,
        ]),
  ]
}

const cellsOf = (times: Distribution) =>
  [whole(times.n), ...percentiles.map(([name]) => percentileText(times[name]))]
    .map((cell) => cell.padStart(9))
    .join('')

function metricsLines({ service }: RunSummary): readonly string[] {
  const [first, ...rest] = serviceLines(service).map((line) => printable(line, 300))
  if (first === undefined) return []
  return ['', ...wrapped(first, '  '), ...rest.flatMap((line) => wrapped(`  ${line}`, '    '))]
}

function errorLines({ errors }: RunSummary): readonly string[] {
  const [shown, rest] = [errors.slice(0, 8), errors.slice(8)]
  const line = (count: number, text: string) => `  ${whole(count).padStart(9)}  ${text}`
  if (shown.length === 0) return []
  return [
    ...['', 'errors'],
    ...shown.flatMap((error) => [
      line(error.count, printable(errorText(error), 66)),
      ...saidLines(error),
    ]),
    ...(rest.length === 0 ? [] : [line(totalOf(rest), furtherKinds(rest))]),
  ]
}

/** Whether even the median has too few samples, so that the whole row would say so. */
const isFew = ({ p50 }: Distribution) => p50.mark === 'too-few'

/** Tokens by part; `-` is a part that no answer reports. Nothing without any report. */
function tokenLines({ tokenParts }: SummaryGroup): readonly string[] {
  const { inputUncached, cacheRead, cacheWritten, outputVisible, reasoning } = tokenParts
  const input = `tokens in   uncached ${whole(inputUncached)}   cache read ${whole(cacheRead)}   cache written ${whole(cacheWritten)}`
  const output = `tokens out  visible ${whole(outputVisible)}   reasoning ${whole(reasoning)}`
  return [...(inputUncached === null ? [] : [input]), ...(outputVisible === null ? [] : [output])]
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

/** What the run cost; nothing if no contract states it, and no balance shows it. */
function paidLines(summary: RunSummary): readonly string[] {
  const { money, credits } = summary
  if (money !== null) return [`cost ${moneyText(money)}`, ...stepCosts(money)]
  return isPaidInCredits(credits) ? [`credits ${creditsText(credits)}`] : []
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
