import { askForTokens } from '../../report/ask-for-tokens.ts'
import {
  boundsText,
  notOneLevel,
  openText,
  selfTestsText,
  stoppedText,
} from '../../report/page-verdict.ts'
import { safeRateText } from '../../report/safe-rate.ts'
import { rateText, reasonText, resultName, stepName } from '../../report/search-words.ts'
import { type StoredTrial, searchShape } from '../../report/stored-search.ts'
import type { ThresholdResult } from '../../run/judge/thresholds/check.ts'
import type { RunResult } from '../../run/run.ts'
import { largest } from '../../user/extremes.ts'
import { wrapped } from '../../user/wrapped.ts'
import { duration } from '../terminal/duration.ts'
import { table } from '../terminal/table.ts'

const marks = { held: 'held', missed: 'MISSED', inconclusive: 'INCONCLUSIVE' } as const

/** The judgement of a run: sweeps, thresholds, why it stopped, then its verdict. */
export function judgementText(result: RunResult): string {
  return [
    '',
    ...sweepLines(result),
    ...thresholdLines(result.thresholds),
    ...(result.stopped === null ? [] : wrapped(stoppedText(result.stopped), '  ')),
    ...verdictLines(result),
    '',
  ].join('\n')
}

function sweepLines({ sweeps, verdict }: RunResult): readonly string[] {
  return sweeps.flatMap((sweep) => {
    const search = searchShape.parse(sweep)
    const { summary, because } = safeRateText(search, verdict.verdict === 'invalid')
    return [
      ...wrapped(`${summary}.`, ''),
      ...because.flatMap((sentence) => wrapped(sentence, '  ')),
      ...table([
        ['  trial', 'step', 'rate', 'sent', 'n', 'goodput', 'result'],
        ...search.trials.map((trial) => [
          `  ${trial.phase.split(' ').at(-1)}`,
          stepName(trial),
          trial.ratePerS === 0 ? 'single' : rateText(trial.ratePerS, 'thorough'),
          trial.sentPerS === null ? '-' : rateText(trial.sentPerS, 'thorough'),
          String(trial.sent),
          trial.goodput === null ? '-' : `${(trial.goodput * 100).toFixed(1)} %`,
          trial.step === 'warm-up' ? '' : resultText(trial),
        ]),
      ]),
      '',
    ]
  })
}

function resultText(trial: StoredTrial): string {
  const reason = reasonText(trial)
  return reason === null ? resultName(trial) : `${resultName(trial)}: ${reason}`
}

function thresholdLines(thresholds: readonly ThresholdResult[]): readonly string[] {
  if (thresholds.length === 0) return []
  return [
    ...table(
      thresholds.map((threshold) => [
        threshold.text,
        marks[threshold.result],
        threshold.value === null ? (threshold.unknown ?? 'no samples') : shortText(threshold),
      ]),
      'words',
    ),
    ...thresholds.flatMap((threshold) => {
      const open = openOf(threshold)
      return open === null ? [] : wrapped(`${threshold.text} is inconclusive: ${open}.`, '  ')
    }),
    '',
  ]
}

/** The figure; of an inconclusive one, also why it is not decided, and about what would decide it. */
export function figureText(threshold: ThresholdResult): string {
  const open = openOf(threshold)
  return open === null ? shortText(threshold) : `${shortText(threshold)}; ${open}`
}

/** The figure, with its interval if it is inconclusive. */
function shortText(threshold: ThresholdResult) {
  const { value, unit, currency, shareOf, unknown, result, worth, needs, interval } = threshold
  const told = [valueText(value ?? 0, unit), currency, shareOf].filter((word) => word !== null)
  const figure = told.join(' ')
  if (result !== 'inconclusive') return figure
  if (unknown !== null) return `at least ${figure}; ${unknown}`
  if (needs === null && interval[1] === null)
    return `at least ${figure}; the exact value is unknown`
  return worth === null ? figure : `${figure} ${boundsText(interval, unit)}`
}

function openOf(threshold: ThresholdResult): string | null {
  if (threshold.unsteady !== null) return notOneLevel(threshold.unsteady)
  if (threshold.result !== 'inconclusive' || threshold.value === null) return null
  if (threshold.unknown !== null) return askForTokens
  return threshold.worth === null ? null : openText(threshold)
}

function valueText(number: number, unit: ThresholdResult['unit']): string {
  switch (unit) {
    case 'us':
      return duration(number)
    case 'share':
      return `${(number * 100).toFixed(2)} %`
    case 'per s':
      return `${number.toFixed(1)}/s`
    case 'count':
      return String(Math.round(number))
    case 'amount':
      return String(Number(number.toPrecision(4)))
  }
}

/** Self-tests that held are one line; every figure is on the launch page and in the JSON. */
function verdictLines({ verdict }: RunResult): readonly string[] {
  const { tests } = verdict
  const inDoubt = tests.filter(({ result }) => result !== 'held' && result !== 'not judged')
  const told = tests.filter((test) => inDoubt.includes(test) || test.isTold)
  const unjudged = tests.filter(({ result }) => result === 'not judged')
  const names = largest(
    told.map((test) => test.name.length),
    0,
  )
  const indent = ' '.repeat(names + 17)
  return [
    ...wrapped(
      selfTestsText(
        tests.length,
        inDoubt.length,
        unjudged.map(({ name }) => name),
      ),
      '  ',
    ),
    ...told.flatMap((test) =>
      wrapped(
        `  ${test.name.padEnd(names)}  ${test.result.padEnd(10)}  ${test.figure} (limit: ${test.bound})`,
        indent,
      ),
    ),
    ...told
      .filter((test) => test.remedy !== '')
      .flatMap((test) => wrapped(`${test.name}: ${test.remedy}`, '  ')),
    ...wrapped(
      `Result is: ${verdict.verdict.toUpperCase()}${verdict.summary === '' ? '' : `. ${verdict.summary}`}`,
      '',
    ),
  ]
}
