import { z } from 'zod'
import { parseCondition } from '../measure/condition.ts'
import { jsonOf } from '../user/json.ts'
import { lookup } from '../user/lookup.ts'
import { askForTokens } from './ask-for-tokens.ts'
import type { Check, Tone } from './banner.ts'
import { formatDuration, formatNumber, formatShare } from './format.ts'
import { safeRateText } from './safe-rate.ts'
import { heldRate, trialName } from './search-words.ts'
import { claimedTrial, searchShape } from './stored-search.ts'

const test = z.looseObject({
  name: z.string(),
  result: z.string(),
  figure: z.string().default(''),
  bound: z.string().default(''),
  remedy: z.string().default(''),
  isTold: z.boolean().default(false),
})

/**
 * The verdict of a run in `runs.verdict_json`. It is read leniently, because another version may have written the
 * store. A missing verdict never counts as good.
 */
const shape = z.looseObject({
  verdict: z.string().nullable().default(null),
  summary: z.string().default(''),
  stopped: z.string().nullable().default(null),
  tests: z.array(test).default([]),
  thresholds: z
    .array(
      z.looseObject({
        text: z.string(),
        result: z.string(),
        value: z.number().nullable().default(null),
        unit: z.string().default('count'),
        currency: z.string().nullable().default(null),
        shareOf: z.string().nullable().default(null),
        unknown: z.string().nullable().default(null),
        samples: z.number().default(0),
        worth: z.number().nullable().default(null),
        interval: z.tuple([z.number().nullable(), z.number().nullable()]).default([null, null]),
        needs: z.number().nullable().default(null),
        unsteady: z.string().nullable().default(null),
        of: z
          .looseObject({
            metric: z.string(),
            statistic: z.string(),
            step: z.string().nullable(),
            phase: z.string().nullable(),
            isFiltered: z.boolean(),
          })
          .nullable()
          .default(null),
      }),
    )
    .default([]),
  sweeps: z.array(searchShape).default([]),
})

export interface PageVerdict {
  /** What an invalid run is still good for; empty otherwise. */
  readonly summary: string
  /** Why the run ended before its plan; null if it did not. */
  readonly stopped: string | null
  readonly tests: readonly Check[]
  /** Those of them that a reader must know even if they are no doubt. */
  readonly told: readonly Check[]
  readonly thresholds: readonly Check[]
  /** Those of them on the share of right answers. */
  readonly answers: readonly AnswerThreshold[]
  readonly searches: readonly (Check & { readonly isFound: boolean })[]
  /** Of each search, all its trials. */
  readonly trials: readonly SearchTrials[]
}

/** A threshold on the share of right answers. */
export interface AnswerThreshold extends Check {
  /** Null for all steps. */
  readonly step: string | null
  /** Null for all phases that count. */
  readonly phase: string | null
  /** Whether it is only of the answers that a filter leaves. */
  readonly isFiltered: boolean
}

export interface SearchTrials {
  readonly count: number
  /** Requests of all trials, also of those of an earlier run that it goes on from. */
  readonly sent: number
  /** Those that were meant to confirm a rate, whatever they decided. */
  readonly confirmations: number
  /** Which trial the figures of the run are of, as `the confirmation at 6.0/s`; null if it is not known. */
  readonly figuresOf: string | null
}

const tones: Readonly<Record<string, Tone>> = lookup({
  held: 'good',
  degraded: 'warn',
  inconclusive: 'warn',
  failed: 'fail',
  missed: 'fail',
  'not judged': 'none',
})

/** @returns an empty verdict if none is stored, or if it is unreadable */
export function readPageVerdict(json: string | null): PageVerdict {
  const parsed = shape.safeParse(json === null ? null : jsonOf(json))
  const { verdict, summary, stopped, tests, thresholds, sweeps } = parsed.success
    ? parsed.data
    : shape.parse({})
  return {
    summary,
    stopped,
    tests: tests.map(checkOf),
    told: tests.filter(({ isTold }) => isTold).map(checkOf),
    thresholds: thresholds.map(thresholdCheck),
    answers: thresholds.flatMap((threshold) => {
      const of = threshold.of ?? writtenIn(threshold.text)
      if (of?.metric !== 'correct' || of.statistic !== 'share') return []
      const { step, phase, isFiltered } = of
      return [{ ...thresholdCheck(threshold), step, phase, isFiltered }]
    }),
    searches: sweeps.map((sweep) => {
      const { isFound, tone, summary, because } = safeRateText(sweep, verdict === 'invalid')
      const name = sweeps.length > 1 ? `${sweep.phase}: ${summary}` : summary
      return { isFound, tone, name, figure: '', remedy: because.join(' ') }
    }),
    trials: sweeps.map((sweep) => {
      const claimed = claimedTrial(sweep)
      return {
        count: sweep.trials.length,
        sent: sweep.trials.reduce((sum, { sent }) => sum + sent, 0),
        confirmations: sweep.trials.filter(({ step }) => step === 'hold').length,
        figuresOf:
          claimed === null ? null : `the ${trialName(claimed)} at ${heldRate(claimed.ratePerS)}`,
      }
    }),
  }
}

type StoredThreshold = z.output<typeof shape>['thresholds'][number]

/** What a threshold on right answers is of, by its text: runs that an older version stored say it nowhere else. */
function writtenIn(text: string): StoredThreshold['of'] {
  const read = parseCondition(text, ['correct'])
  if (typeof read === 'string') return null
  const { metric, statistic, step, phase, filter } = read
  return { metric, statistic: statistic ?? 'share', step, phase, isFiltered: filter !== null }
}

const thresholdCheck = (threshold: StoredThreshold): Check => ({
  tone: tones[threshold.result] ?? 'none',
  name: threshold.text,
  figure: thresholdFigure(threshold),
  remedy: thresholdRemedy(threshold),
})

/** `held: 712 ms [700 ms, 730 ms], n = 900`. */
function thresholdFigure(threshold: StoredThreshold): string {
  const { result, value, unit, currency, shareOf, unknown, samples, worth, interval } = threshold
  if (value === null) return `${result}, ${unknown ?? 'without samples'}`
  const words = [
    `${result}: ${inUnit(value, unit)}`,
    ...(currency === null ? [] : [currency]),
    ...(shareOf === null ? [] : [shareOf]),
    ...(worth === null ? [] : [boundsText(interval, unit)]),
  ].join(' ')
  return `${words}, n = ${formatNumber(samples)}${unknown === null ? '' : `; ${unknown}`}`
}

/** What would decide an inconclusive threshold; null for one that is decided, or has no value. */
function thresholdRemedy(threshold: StoredThreshold): string | null {
  const { result, value, unknown, samples, worth, needs, unsteady } = threshold
  if (unsteady !== null) return notOneLevel(unsteady)
  if (result !== 'inconclusive' || value === null) return null
  return unknown === null ? openText({ samples, worth, needs }) : askForTokens
}

const checkOf = ({ name, result, figure, bound, remedy }: z.output<typeof test>): Check => ({
  tone: tones[result] ?? 'none',
  name,
  figure: bound === '' ? figure : `${figure} (${bound})`,
  remedy: remedy === '' ? null : remedy,
})

/** `self-tests: 10 of 12 held; not judged: samples, …`. Tests that were not judged do not count as held. */
export function selfTestsText(of: number, unheld: number, notJudged: readonly string[]): string {
  const held = `self-tests: ${of - unheld - notJudged.length} of ${of} held`
  return notJudged.length === 0 ? held : `${held}; not judged: ${notJudged.join(', ')}`
}

const endings: ReadonlyMap<string, string> = new Map([
  ['interrupted', 'it was interrupted'],
  ['first-request', 'the service refused a first request for good'],
  ['budget', 'the rest of max_credits or max_cost does not cover another request'],
  ['errors', 'a stop condition was met: error_share, consecutive_failures or refused_for'],
  ['threshold', 'a threshold marked abort was missed'],
  ['store', 'the store could not be written'],
  ['time', 'the time of the search was over, with requests still in flight'],
  ['fleet', 'not every shard answered in time, so the shards could not agree on the next step'],
])

/** Why a run ended before its plan, as a sentence. */
export function stoppedText(stopped: string): string {
  return stopped === 'unreachable'
    ? 'The service was never reached: no request got a connection.'
    : `Ended early: ${endings.get(stopped) ?? stopped}.`
}

/** The figure of a threshold in words. */
export function inUnit(value: number, unit: string): string {
  switch (unit) {
    case 'us':
      return value < 1e6 ? `${formatNumber(value / 1000)} ms` : formatDuration(value / 1e6)
    case 'share':
      return `${formatShare(value)} %`
    case 'per s':
      return `${formatNumber(value)}/s`
    case 'amount':
      return String(Number(value.toPrecision(4)))
    default:
      return formatNumber(value)
  }
}

/** `[712 ms, 805 ms]`; a dash for a side without a bound. */
export function boundsText(
  interval: readonly [low: number | null, high: number | null],
  unit: string,
): string {
  return `[${interval.map((end) => (end === null ? '–' : inUnit(end, unit))).join(', ')}]`
}

/** Why a figure of a run that is not of one level is not decided. */
export const notOneLevel = (change: string) => `not of one level: ${change}`

/** Why an inconclusive figure is not decided, and what would decide it; nothing is promised of the service. */
export function openText(
  figure: {
    readonly samples: number
    readonly worth: number | null
    readonly needs: number | null
  },
  what: 'samples' | 'requests' | 'seconds' = 'samples',
): string {
  const { samples, worth, needs } = figure
  const n = formatNumber(samples)
  const held =
    worth === null || worth > 0.8 * samples
      ? `${n} ${what}`
      : `${n} ${what} are worth about ${aboutText(worth)} independent ones`
  return needs === null ? held : `${held}; about ${aboutText(needs)} would decide`
}

/** At most two digits, because it is an estimate. */
const aboutText = (count: number) =>
  formatNumber(count < 10 ? Math.round(count) : Number(count.toPrecision(2)))
