import { z } from 'zod'
import { jsonOf } from '../user/json.ts'

const shape = z.looseObject({
  question: z.string().default(''),
  thresholds: z
    .array(
      z
        .looseObject({
          metric: z.string(),
          step: z.string().nullable().default(null),
          phase: z.string().nullable().default(null),
          filter: z.record(z.string(), z.unknown()).default({}),
        })
        .catch({ metric: '', step: null, phase: null, filter: {} }),
    )
    .default([]),
})

/** What a scenario wants to know. */
export interface Asked {
  /** Its own words; empty if it has none. */
  readonly question: string
  /** Whether a threshold limits the failures of all requests. Without one, failures are outside the answer. */
  readonly limitsFailures: boolean
  /** Whether a threshold limits the empty answers of all requests. */
  readonly limitsEmpty: boolean
}

/** Reads a stored scenario leniently: another version or an import may have written it. */
export function askedBy(scenarioJson: string): Asked {
  const asked = shape.safeParse(jsonOf(scenarioJson)).data ?? shape.parse({})
  const { question, thresholds } = asked
  const ofAll = thresholds.filter(
    ({ step, phase, filter }) =>
      step === null && phase === null && Object.keys(filter).length === 0,
  )
  const limits = (...metrics: readonly string[]) =>
    ofAll.some(({ metric }) => metrics.includes(metric))
  return {
    question: question.trim(),
    limitsFailures: limits('errors'),
    limitsEmpty: limits('empty', 'goodput'),
  }
}
