import { stoppedText } from '../report/run-verdict.ts'
import type { RunResult } from '../run/run.ts'
import type { ThresholdResult } from '../run/thresholds.ts'
import { duration, table, wrapped } from './text.ts'

const marks = { held: 'held', missed: 'MISSED', inconclusive: 'INCONCLUSIVE' } as const

/** What a run says beyond its figures: sweeps, thresholds first of all, then its own verdict. */
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

function sweepLines(result: RunResult): readonly string[] {
  return result.sweeps.flatMap((sweep) => {
    const between =
      sweep.failedPerS === null ? 'no rate failed' : `${sweep.failedPerS.toFixed(1)}/s failed`
    const safe = sweep.safePerS === null ? 'no rate held' : `safe at ${sweep.safePerS.toFixed(1)}/s`
    return [
      `${sweep.phase}: ${safe}, ${between}`,
      ...table([
        ['  trial', 'rate', 'goodput', ''],
        ...sweep.trials.map((trial) => [
          `  ${trial.phase}`,
          `${trial.ratePerS.toFixed(1)}/s`,
          trial.goodput === null ? '-' : `${(trial.goodput * 100).toFixed(1)} %`,
          trial.held ? 'held' : 'failed',
        ]),
      ]),
      '',
    ]
  })
}

function thresholdLines(thresholds: readonly ThresholdResult[]): readonly string[] {
  if (thresholds.length === 0) return []
  return [
    ...table(
      thresholds.map((threshold) => [
        threshold.text,
        marks[threshold.result],
        threshold.value === null ? 'no samples' : valueText(threshold),
      ]),
      'words',
    ),
    '',
  ]
}

function valueText({ value, unit }: ThresholdResult): string {
  const number = value ?? 0
  switch (unit) {
    case 'us':
      return duration(number)
    case 'share':
      return `${(number * 100).toFixed(2)} %`
    case 'per s':
      return `${number.toFixed(1)}/s`
    case 'count':
      return String(Math.round(number))
  }
}

function verdictLines({ verdict }: RunResult): readonly string[] {
  const names = Math.max(...verdict.tests.map((test) => test.name.length))
  const indent = ' '.repeat(names + 17)
  return [
    ...verdict.tests.flatMap((test) =>
      wrapped(
        `  ${test.name.padEnd(names)}  ${test.result.padEnd(10)}  ${test.figure} (asked: ${test.bound})`,
        indent,
      ),
    ),
    ...verdict.tests
      .filter((test) => test.remedy !== '')
      .flatMap((test) => wrapped(`${test.name}: ${test.remedy}`, '  ')),
    ...wrapped(
      `Result is: ${verdict.verdict.toUpperCase()}${verdict.says === '' ? '' : `. ${verdict.says}`}`,
      '',
    ),
  ]
}
