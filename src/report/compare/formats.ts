import { wrapped } from '../../user/wrapped.ts'
import { rateText } from '../search-words.ts'
import { percentileText } from '../summary/figures.ts'
import { markdownCell, printable } from '../summary/printable.ts'
import { changeText } from './change-text.ts'
import type { Comparison } from './compare.ts'
import type { Difference } from './differences.ts'
import { evidenceText } from './evidence-text.ts'
import { nameOf } from './figure-name.ts'
import type { GateResult } from './gate.ts'
import { headlineOf } from './headline.ts'
import { invalidOf } from './invalid-side.ts'
import { limitText, type SearchComparison, sustainedText } from './searches.ts'

const marks = { better: 'better', worse: 'WORSE', unclear: '' } as const

/**
 * A comparison for a terminal, at most 80 columns wide.
 *
 * @param all whether to show every figure of every step, not only significant changes
 */
export function terminalComparison(
  comparison: Comparison,
  gates: readonly GateResult[],
  all = false,
): string {
  const shown = comparison.differences.filter(
    ({ step, verdict, interval }) =>
      all || verdict !== 'unclear' || (step === null && interval !== null),
  )
  const hidden = comparison.differences.length - shown.length
  const lines = [
    `a  ${sideText(comparison.a)}`,
    `b  ${sideText(comparison.b)}`,
    ...evidenceLines(comparison),
    ...comparison.warnings.map((warning) => `!  ${printable(warning, 76)}`),
    '',
    ...searchLines(comparison.searches),
    ...(shown.length === 0
      ? []
      : [`${''.padEnd(20)}${'a'.padStart(10)}${'b'.padStart(10)}  change of b [95 %]`]),
  ]
  let step: string | null | undefined
  for (const difference of shown) {
    if (difference.step !== step) {
      step = difference.step
      lines.push(step === null ? 'all steps' : printable(step, 78))
    }
    lines.push(
      `  ${nameOf(difference).padEnd(18)}${figureOf(difference, 'a').padStart(10)}${figureOf(difference, 'b').padStart(10)}  ${changeText(difference).padEnd(30)}${marks[difference.verdict]}`.trimEnd(),
    )
  }
  if (hidden > 0) {
    lines.push(`(${hidden} without a significant difference hidden; --all shows them)`)
  }
  const { summary, because } = headlineOf(comparison, gates)
  for (const each of ['', ...wrapped(`${summary}.${because === '' ? '' : ` ${because}`}`, '')])
    lines.push(each)
  if (gates.length > 0) lines.push('')
  for (const { gate, result, summary } of gates) {
    lines.push(
      `fail on ${printable(gate.text, 30).padEnd(31)}${result === 'passed' ? result : result.toUpperCase()}  ${summary}`,
    )
  }
  return `${lines.join('\n')}\n`
}

const evidenceLines = (comparison: Comparison) => {
  const text = evidenceText(comparison)
  return text === '' ? [] : [text]
}

/** The answers of two searches, and the goodput of their trials by rate. */
function searchLines(searches: SearchComparison | null): readonly string[] {
  if (searches === null) return []
  const { a, b, verdict } = searches
  const line = (name: string, left: string, right: string, end = '') =>
    `${name.padEnd(20)}${left.padStart(20)}${right.padStart(20)}  ${end}`.trimEnd()
  const trials = [
    ...a.trials.map((trial) => ({ trial, isOfA: true })),
    ...b.trials.map((trial) => ({ trial, isOfA: false })),
  ].sort((one, other) => one.trial.perS - other.trial.perS)
  return [
    line('', 'a', 'b'),
    line('sustained rate', sustainedText(a), sustainedText(b), marks[verdict]),
    line('limit of the service', limitText(a), limitText(b)),
    ...(trials.length === 0 ? [] : ['share within the objective, with its 95 % interval']),
    ...trials.map(({ trial, isOfA }) => {
      const share = goodputText(trial)
      return line(
        `  at ${rateText(trial.perS, 'thorough')}`,
        isOfA ? share : '',
        isOfA ? '' : share,
      )
    }),
    '',
  ]
}

/** `97.9 % [95.2, 99.1]` */
function goodputText({ goodput, low, high }: SearchComparison['a']['trials'][number]): string {
  const share = `${(goodput * 100).toFixed(1)} %`
  const interval = [low, high].map((end) => (end === null ? '–' : (end * 100).toFixed(1)))
  return low === null && high === null ? share : `${share} [${interval.join(', ')}]`
}

/** A comparison for a pull request: significant changes first, all figures folded. */
export function markdownComparison(comparison: Comparison, gates: readonly GateResult[]): string {
  const clear = comparison.differences.filter((difference) => difference.verdict !== 'unclear')
  const failed = gates.filter((gate) => gate.result !== 'passed')
  const head =
    gates.length === 0
      ? '### Comparison'
      : failed.length === 0
        ? '### Comparison: passed'
        : `### Comparison: ${failed.length} of ${gates.length} not passed`
  const lines = [
    head,
    '',
    `\`a\` ${markdownCell(sideText(comparison.a))}  `,
    `\`b\` ${markdownCell(sideText(comparison.b))}`,
    ...evidenceLines(comparison).flatMap((line) => ['', line]),
    '',
    ...comparison.warnings.map((warning) => `> ${markdownCell(warning, 200)}  `),
  ]
  const { searches } = comparison
  if (searches !== null) {
    lines.push(
      '',
      '| | a | b |',
      '| --- | ---: | ---: |',
      `| sustained rate | ${sustainedText(searches.a)} | ${sustainedText(searches.b)} |`,
      `| limit of the service | ${limitText(searches.a)} | ${limitText(searches.b)} |`,
    )
  }
  if (gates.length > 0) {
    lines.push('', '| fails on | result | found |', '| --- | --- | --- |')
    for (const { gate, result, summary } of gates) {
      lines.push(
        `| ${markdownCell(gate.text)} | ${result === 'passed' ? result : `**${result}**`} | ${markdownCell(summary)} |`,
      )
    }
  }
  const { summary, because } = headlineOf(comparison, gates)
  for (const each of [
    '',
    `**${summary}.**${because === '' ? '' : ` ${because}`}`,
    '',
    ...(invalidOf(comparison) !== null
      ? []
      : clear.length === 0
        ? ['No significant difference.']
        : [`${clear.length} of ${comparison.differences.length} figures differ significantly.`]),
    ...table(clear),
    '',
    '<details><summary>All figures (milliseconds; 95 % intervals)</summary>',
    ...table(comparison.differences),
    '',
    '</details>',
  ])
    lines.push(each)
  return `${lines.join('\n')}\n`
}

function table(differences: readonly Difference[]): readonly string[] {
  if (differences.length === 0) return []
  return [
    '',
    '| step | figure | a | b | change of b | |',
    '| --- | --- | ---: | ---: | ---: | --- |',
    ...differences.map(
      (difference) =>
        `| ${markdownCell(difference.step ?? 'all')} | ${nameOf(difference)} | ${markdownCell(figureOf(difference, 'a'))} | ${markdownCell(figureOf(difference, 'b'))} | ${changeText(difference)} | ${marks[difference.verdict].toLowerCase()} |`,
    ),
  ]
}

function figureOf(difference: Difference, side: 'a' | 'b'): string {
  const { unit, [side]: value, marks } = difference
  if (value === null) return '-'
  switch (unit) {
    case 'us':
      return percentileText({ us: value, mark: marks[side === 'a' ? 0 : 1], needs: 0 })
    case 'share':
      return `${(value * 100).toFixed(2)} %`
    case 'per s':
    case 'credits':
      return value.toLocaleString('en-US', { maximumFractionDigits: 2 })
  }
}

const sideText = ({ run, verdict }: Comparison['a']): string =>
  `${printable(run.scenario, 30)} ${printable(run.runId, 24)}, ${run.startedAt.slice(0, 10)}, ${verdict ?? 'not judged'}`
