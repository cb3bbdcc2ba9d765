import type { RunSummary } from '../run/run.ts'
import type { Quantiles } from '../run/summary.ts'
import type { ThresholdResult } from '../run/thresholds.ts'
import { samplesFor } from '../run/verdict.ts'
import { duration, table } from './text.ts'

const marks = { held: 'held', missed: 'MISSED', inconclusive: 'INCONCLUSIVE' } as const

/** The end of a run as a person reads it: what was sent, thresholds first, then its own verdict. */
export function summaryText(summary: RunSummary): string {
  const { ledger } = summary
  return [
    `${summary.scenario}: ${summary.question}`,
    `run ${summary.runId} against ${summary.baseUrl}, seed ${summary.seed}, ${duration(summary.durationUs)}, rows in ${summary.dbPath}`,
    '',
    `planned ${ledger.planned} = sent ${ledger.sent} + not sent ${ledger.notSent}`,
    `sent ${ledger.sent} = ok ${ledger.ok} + http_error ${ledger.httpError} + broken ${ledger.broken} + timeout ${ledger.timeout} + aborted ${ledger.aborted}`,
    `credits by the price list: ${summary.creditsByContract}`,
    '',
    ...table(stepTable(summary)),
    '',
    ...sweepLines(summary),
    ...thresholdLines(summary.thresholds),
    ...(summary.stopped === null ? [] : [`Ended early: ${summary.stopped}.`]),
    ...verdictLines(summary),
    '',
  ].join('\n')
}

function stepTable(summary: RunSummary): readonly (readonly string[])[] {
  const head = [
    'step',
    'sent',
    'ok',
    'failed',
    'per s',
    'service p50',
    'p95',
    'p99',
    'response p50',
    'p95',
    'p99',
    'TTFT p50',
    'p95',
  ]
  const cells = (
    times: Quantiles | null,
    samples: number,
    names: readonly ('p50' | 'p95' | 'p99')[],
  ) =>
    names.map((name) => {
      if (times === null) return '-'
      if (name === 'p99' && samples < samplesFor.p99) return 'n too small'
      if (name === 'p95' && samples < samplesFor.p95) return 'n too small'
      return duration(times[name])
    })
  return [
    head,
    ...summary.steps.map((step) => [
      step.step,
      String(step.sent),
      String(step.ok),
      String(step.failures),
      step.perS.toFixed(1),
      ...cells(step.serviceUs, step.samples, ['p50', 'p95', 'p99']),
      ...cells(step.responseUs, step.samples, ['p50', 'p95', 'p99']),
      ...cells(step.ttftUs, step.samples, ['p50', 'p95']),
    ]),
  ]
}

function sweepLines(summary: RunSummary): readonly string[] {
  return summary.sweeps.flatMap((sweep) => {
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

function verdictLines({ verdict }: RunSummary): readonly string[] {
  return [
    ...table(
      verdict.tests.map((test) => [test.name, test.result, `${test.figure}; asked: ${test.bound}`]),
      'words',
    ).map((line) => `  ${line}`),
    ...verdict.tests
      .filter((test) => test.remedy !== '')
      .map((test) => `  ${test.name}: ${test.remedy}`),
    `Result is: ${verdict.verdict.toUpperCase()}${verdict.says === '' ? '' : `. ${verdict.says}`}`,
  ]
}
