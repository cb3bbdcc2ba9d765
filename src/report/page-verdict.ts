import { z } from 'zod'
import type { Check, Tone } from './banner.ts'
import { formatDuration, formatNumber, formatShare } from './format.ts'

/**
 * The verdict of a run in `runs.verdict_json`. It is read leniently, because another version may have written the
 * store. A missing verdict never counts as good.
 */
const shape = z.looseObject({
  verdict: z.string().nullable().default(null),
  says: z.string().default(''),
  stopped: z.string().nullable().default(null),
  tests: z
    .array(
      z.looseObject({
        name: z.string(),
        result: z.string(),
        figure: z.string().default(''),
        bound: z.string().default(''),
        remedy: z.string().default(''),
      }),
    )
    .default([]),
  thresholds: z
    .array(
      z.looseObject({
        text: z.string(),
        result: z.string(),
        value: z.number().nullable().default(null),
        unit: z.string().default('count'),
        samples: z.number().default(0),
        needs: z.number().nullable().default(null),
      }),
    )
    .default([]),
  sweeps: z
    .array(
      z.looseObject({
        phase: z.string(),
        safePerS: z.number().nullable().default(null),
        failedPerS: z.number().nullable().default(null),
        trials: z
          .array(
            z.looseObject({
              phase: z.string().default(''),
              ratePerS: z.number(),
              held: z.boolean(),
              goodput: z.number().nullable().default(null),
            }),
          )
          .default([]),
      }),
    )
    .default([]),
})

export interface PageVerdict {
  /** What an invalid run is still good for; empty otherwise. */
  readonly says: string
  /** Why the run ended before its plan; null if it did not. */
  readonly stopped: string | null
  readonly tests: readonly Check[]
  readonly thresholds: readonly Check[]
  readonly sweeps: readonly Check[]
  /** Phases of sweep trials that did not hold, at rates above the safe one. */
  readonly tooFast: readonly string[]
}

const tones: Readonly<Record<string, Tone>> = {
  held: 'good',
  degraded: 'warn',
  inconclusive: 'warn',
  failed: 'fail',
  missed: 'fail',
  'not judged': 'none',
}

/** @returns an empty verdict if none is stored, or if it is unreadable */
export function readPageVerdict(json: string | null): PageVerdict {
  const parsed = shape.safeParse(parseJson(json))
  const { verdict, says, stopped, tests, thresholds, sweeps } = parsed.success
    ? parsed.data
    : shape.parse({})
  return {
    says,
    stopped,
    tests: tests.map(({ name, result, figure, bound, remedy }) => ({
      tone: tones[result] ?? 'none',
      name,
      figure: bound === '' ? figure : `${figure} (${bound})`,
      remedy: remedy === '' ? null : remedy,
    })),
    thresholds: thresholds.map(({ text, result, value, unit, samples, needs }) => ({
      tone: tones[result] ?? 'none',
      name: text,
      figure:
        value === null
          ? `${result}, without samples`
          : `${result}: ${inUnit(value, unit)}, n = ${formatNumber(samples)}`,
      remedy: needs === null ? null : `It needs ${formatNumber(needs)} samples.`,
    })),
    sweeps: sweeps.map((sweep) => ({
      tone:
        sweep.safePerS === null
          ? 'fail'
          : verdict === 'invalid' || failedAt(sweep, sweep.safePerS) !== undefined
            ? 'warn'
            : 'good',
      name:
        verdict === 'invalid'
          ? `Rate of ${sweep.phase} (unreliable):`
          : `Safe rate of ${sweep.phase}:`,
      figure:
        sweep.safePerS === null
          ? 'none of the rates held'
          : `${formatNumber(sweep.safePerS)} requests/s`,
      remedy: sweepRemedy(sweep),
    })),
    tooFast: sweeps.flatMap(({ safePerS, trials }) =>
      trials
        .filter(({ held, ratePerS }) => !held && safePerS !== null && ratePerS > safePerS)
        .map(({ phase }) => phase),
    ),
  }
}

/** `self-tests: 10 of 12 held; not judged: samples, …`. Tests that were not judged do not count as held. */
export function selfTestsText(of: number, unheld: number, notJudged: readonly string[]): string {
  const held = `self-tests: ${of - unheld - notJudged.length} of ${of} held`
  return notJudged.length === 0 ? held : `${held}; not judged: ${notJudged.join(', ')}`
}

interface Sweep {
  readonly failedPerS: number | null
  readonly trials: readonly {
    readonly ratePerS: number
    readonly held: boolean
    readonly goodput: number | null
  }[]
}

const failedAt = ({ trials }: Sweep, ratePerS: number) =>
  trials.find((trial) => !trial.held && trial.ratePerS === ratePerS)

/** What happened above the safe rate of a sweep. A rate has failed once it failed twice. */
function sweepRemedy(sweep: Sweep): string {
  const { failedPerS, trials } = sweep
  if (failedPerS !== null) {
    return `The lowest that did not hold is ${formatNumber(failedPerS)} requests/s.`
  }
  const once = trials.find((trial) => !trial.held)
  if (once === undefined) return 'No rate failed: the limit is above the tested rates.'
  const { ratePerS, goodput } = once
  const again = trials.some((trial) => trial.held && trial.ratePerS === ratePerS)
  return `${formatNumber(ratePerS)} requests/s failed once${goodput === null ? '' : ` (goodput ${formatShare(goodput)} %)`}, ${
    again ? 'and held when it was tested again' : 'and was not tested again'
  }: the limit may be there.`
}

const endings: ReadonlyMap<string, string> = new Map([
  ['interrupted', 'it was interrupted'],
  ['first-request', 'the service refused a first request for good'],
  ['budget', 'the rest of max_credits does not cover another request'],
  ['errors', 'a stop condition was met: error_share, consecutive_failures or refused_for'],
  ['threshold', 'a threshold marked abort was missed'],
  ['store', 'the store could not be written'],
  ['fleet', 'not every shard answered in time, so the shards could not agree on the next step'],
])

/** Why a run ended before its plan, as a sentence. */
export function stoppedText(stopped: string): string {
  return stopped === 'unreachable'
    ? 'The service was never reached: no request got a connection.'
    : `Ended early: ${endings.get(stopped) ?? stopped}.`
}

function inUnit(value: number, unit: string): string {
  switch (unit) {
    case 'us':
      return value < 1e6 ? `${formatNumber(value / 1000)} ms` : formatDuration(value / 1e6)
    case 'share':
      return `${formatShare(value)} %`
    case 'per s':
      return `${formatNumber(value)}/s`
    default:
      return formatNumber(value)
  }
}

function parseJson(json: string | null): unknown {
  if (json === null) return null
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}
