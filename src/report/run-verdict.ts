import { z } from 'zod'
import type { Check, Tone } from './banner.ts'
import { formatDuration, formatNumber, formatShare } from './format.ts'

/**
 * What a run says of itself, as `runs.verdict_json` keeps it. Read leniently: a store may have been
 * written by another version, and no verdict is never a good one.
 */
const shape = z.looseObject({
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
      }),
    )
    .default([]),
  sweeps: z
    .array(
      z.looseObject({
        phase: z.string(),
        safePerS: z.number().nullable().default(null),
        failedPerS: z.number().nullable().default(null),
      }),
    )
    .default([]),
})

export interface RunVerdict {
  /** What an invalid run may still be used for; empty otherwise. */
  readonly says: string
  /** Why it ended before its plan did; null when it did not. */
  readonly stopped: string | null
  readonly tests: readonly Check[]
  readonly thresholds: readonly Check[]
  readonly sweeps: readonly Check[]
}

const tones: Readonly<Record<string, Tone>> = {
  held: 'good',
  degraded: 'warn',
  inconclusive: 'warn',
  failed: 'fail',
  missed: 'fail',
  'not judged': 'none',
}

/** @returns nothing said where nothing was stored or it cannot be read */
export function readRunVerdict(json: string | null): RunVerdict {
  const parsed = shape.safeParse(parseJson(json))
  const { says, stopped, tests, thresholds, sweeps } = parsed.success
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
    thresholds: thresholds.map(({ text, result, value, unit, samples }) => ({
      tone: tones[result] ?? 'none',
      name: text,
      figure:
        value === null
          ? `${result}, without samples`
          : `${result}: ${inUnit(value, unit)}, n = ${formatNumber(samples)}`,
      remedy: null,
    })),
    sweeps: sweeps.map(({ phase, safePerS, failedPerS }) => ({
      tone: safePerS === null ? 'fail' : 'good',
      name: `Safe rate of ${phase}:`,
      figure: safePerS === null ? 'none of the rates held' : `${formatNumber(safePerS)} requests/s`,
      remedy:
        failedPerS === null
          ? 'No rate failed: the limit is higher than what was tried.'
          : `The lowest that did not hold is ${formatNumber(failedPerS)} requests/s.`,
    })),
  }
}

const endings: ReadonlyMap<string, string> = new Map([
  ['interrupted', 'it was interrupted'],
  ['budget', 'what was left of max_credits paid for no further request'],
  ['errors', 'a stop condition came up, error_share or consecutive_failures'],
  ['threshold', 'a threshold marked abort was missed'],
])

/** Why a run ended before its plan did, in a sentence. */
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
