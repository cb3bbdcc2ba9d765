import { z } from 'zod'
import type { Check, Tone } from './banner.ts'

/**
 * What a run says of itself, as `runs.verdict_json` keeps it: each test with its figure and its
 * remedy, and each threshold. Read leniently: a store may have been written by another version.
 */
const test = z.looseObject({
  name: z.string(),
  verdict: z.string(),
  figure: z.union([z.string(), z.number(), z.null()]).optional(),
  remedy: z.union([z.string(), z.null()]).optional(),
})
const shape = z.union([
  z.array(test).transform((tests) => ({ tests, thresholds: [] })),
  z.looseObject({ tests: z.array(test).default([]), thresholds: z.array(test).default([]) }),
])

const tones: Readonly<Record<string, Tone>> = {
  valid: 'good',
  pass: 'good',
  held: 'good',
  ok: 'good',
  degraded: 'warn',
  inconclusive: 'warn',
  invalid: 'fail',
  fail: 'fail',
  failed: 'fail',
}

export interface RunVerdict {
  readonly tests: readonly Check[]
  readonly thresholds: readonly Check[]
}

/** Empty where nothing was stored or it cannot be read: no verdict is never a good one. */
export function readRunVerdict(json: string | null): RunVerdict {
  const parsed = shape.safeParse(parseJson(json))
  if (!parsed.success) return { tests: [], thresholds: [] }
  return {
    tests: parsed.data.tests.map(checkOf),
    thresholds: parsed.data.thresholds.map(checkOf),
  }
}

function checkOf(said: z.infer<typeof test>): Check {
  const tone = tones[said.verdict] ?? 'none'
  return {
    tone,
    name: said.name,
    figure: said.figure === undefined || said.figure === null ? '' : String(said.figure),
    remedy: tone === 'good' ? null : (said.remedy ?? null),
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
