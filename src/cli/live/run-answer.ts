import { areEnough } from '../../measure/percentile.ts'
import type { Card, Check, Headline, Tone } from '../../report/banner.ts'
import { formatCell, formatDuration, formatNumber, formatShare } from '../../report/format.ts'
import { inUnit } from '../../report/page-verdict.ts'
import type { Progress } from '../../run/count/progress.ts'
import type { TimeHistogram } from '../../run/count/time-histogram.ts'
import type { ThresholdSoFar } from '../../run/judge/thresholds/so-far.ts'
import { searchText } from '../runs/live-block.ts'
import { spentText } from '../runs/spent-text.ts'

export interface RunSoFar {
  readonly question: string
  readonly progress: Progress
  readonly thresholds: readonly ThresholdSoFar[]
  /** Of this client: lag. */
  readonly alarms: readonly Check[]
  readonly isAlarm: boolean
}

/** The question of the scenario, and the answer that the counters give so far. Only the end decides. */
export function answerSoFar({ question, ...of }: RunSoFar): Headline {
  const { progress, thresholds, alarms } = of
  const { counts, atUs, endsUs, phase, errors, searching } = progress
  const failed = failuresOf(progress)
  const ends = endsUs === null ? '' : ` of ${formatDuration(endsUs / 1e6)}`
  const mostly = errors[0] === undefined ? '' : `; most often seen: ${errors[0][0]}`
  return {
    asks: question.trim(),
    ...saidSoFar(of),
    because: [
      `Running for ${formatDuration(atUs / 1e6)}${ends}${phase === null ? '' : `, phase ${phase}`}.`,
      `${formatNumber(counts.planned - counts.notSent)} of ${formatNumber(counts.planned)} requests that were due have been sent, ${formatNumber(counts.ok)} succeeded, ${formatNumber(failed)} failed unexpectedly${mostly}.`,
      ...(searching == null ? [] : [`Search: ${searchText(searching, atUs)}.`]),
    ].join(' '),
    checks: [...alarms, ...thresholds.map(checkOf)],
  }
}

function saidSoFar({
  progress,
  thresholds,
  isAlarm,
}: Omit<RunSoFar, 'question'>): Pick<Headline, 'tone' | 'summary'> {
  const inState = (state: ThresholdSoFar['state']) =>
    thresholds.filter((threshold) => threshold.state === state)
  const missed = inState('missed')
  if (missed.length > 0) return { tone: 'fail', summary: `So far ${missed[0]!.text} is missed` }
  if (isAlarm) return { tone: 'warn', summary: 'This client sends late: its times are in doubt' }
  const holds = inState('holds').length
  const all = thresholds.length
  const failed = failuresOf(progress)
  if (failed > 0 && holds < all) return { tone: 'warn', summary: failedText(progress) }
  if (all === 0) {
    return failed > 0
      ? { tone: 'warn', summary: failedText(progress) }
      : { tone: 'none', summary: 'So far no request has failed' }
  }
  return holds === all
    ? { tone: 'good', summary: 'So far every threshold is met' }
    : {
        tone: 'none',
        summary: `${holds} of ${all} thresholds met so far, ${all - holds} undecided`,
      }
}

const failuresOf = ({ steps }: Progress) => steps.reduce((sum, { failures }) => sum + failures, 0)
const sentOf = ({ steps }: Progress) => steps.reduce((sum, { sent }) => sum + sent, 0)
const failedText = (progress: Progress) =>
  `So far ${formatShare(failuresOf(progress) / sentOf(progress))} % of the requests failed`

const tones: Readonly<Record<ThresholdSoFar['state'], Tone>> = {
  holds: 'good',
  missed: 'fail',
  open: 'none',
}

function checkOf({ text, state, value, unit, samples }: ThresholdSoFar): Check {
  const figure =
    value === null
      ? 'judged at the end'
      : `${state === 'open' ? 'open' : `${state} so far`}: ${inUnit(value, unit)}, n = ${formatNumber(samples)}`
  return { tone: tones[state], name: text, figure, remedy: null }
}

/** @param times all response times and TTFT so far @param perS requests sent in the last second */
export function cardsSoFar(
  progress: Progress,
  { response, ttft }: Readonly<Record<'response' | 'ttft', TimeHistogram>>,
  perS: number | null,
): readonly Card[] {
  const sent = sentOf(progress)
  const failed = failuresOf(progress)
  const spent = spentText(progress)
  return [
    {
      label: 'Sent',
      value: formatNumber(sent),
      aside: perS === null ? '' : `${perS.toFixed(1)}/s now`,
    },
    {
      label: 'Unexpected failures',
      value: sent === 0 ? '–' : `${formatShare(failed / sent)} %`,
      aside: formatNumber(failed),
    },
    ...timeCard('Response time', response),
    ...timeCard('Time to first token', ttft),
    { label: 'In flight', value: formatNumber(progress.inFlight), aside: 'sent and not ended' },
    ...(spent === null
      ? []
      : [
          {
            label: spent.label === 'cost' ? 'Cost' : 'Credits spent',
            value: spent.value,
            aside: spent.aside,
          },
        ]),
  ]
}

/** The highest percentile with enough samples. */
function timeCard(name: string, times: TimeHistogram): readonly Card[] {
  if (times.samples === 0) return []
  const told = [95, 50].filter((p) => areEnough(times.samples, p))
  const ms = (p: number) => `${formatCell('ms', times.percentile(p)! / 1000)} ms`
  const n = `n = ${formatNumber(times.samples)}`
  const [first, second] = told
  if (first === undefined) return [{ label: `${name} p50`, value: 'n too small', aside: n }]
  return [
    {
      label: `${name} p${first}`,
      value: ms(first),
      aside: second === undefined ? n : `p${second} ${ms(second)}`,
    },
  ]
}
