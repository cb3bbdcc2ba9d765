import { type MeasureName, measureNames, measures } from '../../measure/measures.ts'
import { grouped } from '../../user/grouped.ts'
import { formatShare } from '../format.ts'
import { type Distribution, type Percentile, percentiles } from './distribution-shape.ts'
import { type MetricName, metricNames, type SummaryGroup } from './group-shape.ts'
import type { RunSummary } from './shape.ts'

export const metricTitles: Readonly<Record<MetricName, string>> = {
  ...(Object.fromEntries(measureNames.map((name) => [name, measures[name].title])) as Record<
    MeasureName,
    string
  >),
  itl: 'ITL',
}

/** Milliseconds at four digits: 0.123, 12.34, 1,234. */
export function ms(us: number | null): string {
  if (us === null) return '-'
  const value = us / 1000
  const digits = value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3
  return grouped(value, digits, digits)
}

/** A percentile with its reliability: `>1,234` at least, `~12` within 0.1 %, `few` for too few samples. */
export function percentileText(percentile: Percentile): string {
  switch (percentile.mark) {
    case 'none':
      return '-'
    case 'too-few':
      return 'few'
    case 'at-least':
      return `>${ms(percentile.us)}`
    case 'rounded':
      return `~${ms(percentile.us)}`
    case 'exact':
      return ms(percentile.us)
  }
}

export const percentileTitle = (name: string): string => (name === 'p999' ? 'p99.9' : name)

/** `few: p99 needs 662 samples, p99.9 6,636`, for percentiles with too few samples; null if there are none. */
export function fewText(distributions: readonly Distribution[]): string | null {
  const missing = percentiles.flatMap(([name]) => {
    const few = distributions.map((each) => each[name]).find(({ mark }) => mark === 'too-few')
    return few === undefined ? [] : [[percentileTitle(name), whole(few.needs)]]
  })
  if (missing.length === 0) return null
  return `few: ${missing.map(([name, n], at) => (at === 0 ? `${name} needs ${n} samples` : `${name} ${n}`)).join(', ')}`
}

export function measuredMetrics(
  group: SummaryGroup,
  names: readonly MetricName[] = metricNames,
): readonly (readonly [MetricName, Distribution])[] {
  return names
    .map((name) => [name, group.metrics[name]] as const)
    .filter(([, distribution]) => distribution.n > 0)
}

/** The groups to show. A single step equals the whole and is omitted. */
export const groupsOf = (summary: RunSummary): readonly SummaryGroup[] =>
  summary.steps.length > 1 ? [summary.all, ...summary.steps] : [summary.all]

/** One row for each step and metric, for CSV and Parquet. */
export function flatRows(
  summary: RunSummary,
): readonly Readonly<Record<string, string | number | null>>[] {
  return [summary.all, ...summary.steps].flatMap((group) =>
    metricNames.map((metric) => {
      const distribution = group.metrics[metric]
      const { n, censored } = distribution
      const { attempts, ok, broken, timeout, aborted, failed, judged, good, empty } = group.counts
      return {
        run_id: summary.run.runId,
        scenario: summary.run.scenario,
        verdict: summary.verdict,
        ...{ step: group.step, metric, n, censored },
        mean_us: distribution.meanUs,
        min_us: distribution.minUs,
        max_us: distribution.maxUs,
        ...Object.fromEntries(
          percentiles.flatMap(([name]) => [
            [`${name}_us`, distribution[name].us],
            [`${name}_mark`, distribution[name].mark],
          ]),
        ),
        ...{ attempts, not_sent: group.counts.notSent, ok, http_error: group.counts.httpError },
        ...{ broken, timeout, aborted, failed, on_purpose: group.counts.onPurpose },
        ...{ judged, good, empty },
        examined: group.correctness?.examined ?? null,
        correct: group.correctness?.correct ?? null,
        goodput: group.goodput,
        ok_per_s: group.okPerS,
        completion_tokens_per_s: group.completionTokensPerS,
        token_answers: group.tokenReports.answers,
        token_answers_reported: group.tokenReports.reported,
        estimated_tokens: group.tokenReports.estimated,
      }
    }),
  )
}

/** Whether every answer reported its tokens, so that sums and rates of them are whole. */
export const reportsAllTokens = ({ tokenReports }: SummaryGroup): boolean =>
  tokenReports.reported === tokenReports.answers

/** Output tokens per second; at least so many if not every answer reported them. */
export const tokenRate = (group: SummaryGroup): string =>
  `${group.completionTokensPerS === null || reportsAllTokens(group) ? '' : '≥ '}${rate(group.completionTokensPerS)}/s`

/**
 * Notes on token counts: which responses the output tokens come from, unless all report them, and tokens that were
 * counted and not streamed, which decide what TPOT is of.
 */
export function tokenNotes(group: SummaryGroup): readonly string[] {
  const { completionTokens, tokenReports } = group
  const { answers, reported, estimated, hidden, hiddenIn, inPart } = tokenReports
  const notes: string[] = []
  if (!reportsAllTokens(group)) {
    const head =
      reported === 0
        ? `None of ${whole(answers)} answers reported its tokens.`
        : `${whole(completionTokens)} output tokens, reported by ${whole(reported)} of ${whole(answers)} answers.`
    notes.push(
      estimated === null
        ? head
        : `${head} The streams among ${reported === 0 ? 'them' : 'the others'} had ${whole(estimated)} content events, an estimate of their tokens. Set include_usage: true in the step to request the counts.`,
    )
  }
  if (hidden !== null) {
    notes.push(
      `${whole(hidden)} of the output tokens are reasoning that ${streamsText(hiddenIn)} counted and did not hold: TPOT leaves them out, and output tokens/s has them.`,
    )
  }
  if (inPart > 0) {
    notes.push(
      `TPOT of ${streamsText(inPart)} is not known, because an unknown part of the counted tokens was streamed.`,
    )
  }
  return notes
}

const streamsText = (count: number) => `${whole(count)} ${count === 1 ? 'stream' : 'streams'}`

/** The share of unexpected failures, of empty answers if there are some, of correct ones if steps expect something, and goodput if there are objectives. */
export function outcomeTexts(group: SummaryGroup): readonly string[] {
  const { counts, goodput, correctness } = group
  const texts = [
    `${shareText(failureShare(counts))} unexpected failures: ${whole(counts.failed)} of ${whole(counts.sent)} sent`,
  ]
  if (counts.empty > 0) {
    texts.push(
      `${shareText(emptyShare(group))} empty answers: ${whole(counts.empty)} of ${whole(group.tokenReports.answers)} have no text and no tool call`,
    )
  }
  const unclosed = unclosedText(group)
  if (unclosed !== null) texts.push(unclosed)
  if (correctness !== null) texts.push(correctText(correctness))
  if (goodput !== null) {
    const open = counts.maybeGood ?? 0
    const least = open > 0 ? 'at least ' : ''
    const rest = open > 0 ? `; of ${whole(open)} it is not known` : ''
    texts.push(
      `${least}${shareText(goodput)} goodput: ${whole(counts.good)} of ${whole(counts.judged)} met every objective${rest}`,
    )
  }
  return texts
}

/** A note on streams whose body stayed open; null without any. */
export function unclosedText({ counts: { notClosed } }: SummaryGroup): string | null {
  return notClosed === 0
    ? null
    : `${whole(notClosed)} successful streams stayed open after their end (not-closed): this client closed them`
}

/** `97 % correct answers: 97 of 100 (contains 2, json 1)`, wrong ones by what they lack. */
function correctText({ examined, correct, unchecked, lacks }: Correctness): string {
  const kinds = Object.entries(lacks).map(([lack, count]) => `${lack} ${whole(count)}`)
  if (unchecked > 0) kinds.push(`unchecked ${whole(unchecked)}`)
  const why = kinds.length === 0 ? '' : ` (${kinds.join(', ')})`
  return `${shareText(correct / examined)} correct answers: ${whole(correct)} of ${whole(examined)}${why}`
}

type Correctness = NonNullable<SummaryGroup['correctness']>

const shareText = (share: number | null) => (share === null ? '-' : `${formatShare(share)} %`)

/** Empty answers as a share of all answers; null without an answer. */
export const emptyShare = ({ counts, tokenReports }: SummaryGroup): number | null =>
  tokenReports.answers === 0 ? null : counts.empty / tokenReports.answers

/** Unexpected failures as a share of the sent requests; null if none was sent. */
export const failureShare = ({ failed, sent }: SummaryGroup['counts']): number | null =>
  sent === 0 ? null : failed / sent

export const whole = (value: number | null): string => (value === null ? '-' : grouped(value))

export const rate = (value: number | null): string => (value === null ? '-' : grouped(value, 2))
