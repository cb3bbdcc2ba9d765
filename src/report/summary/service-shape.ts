import { z } from 'zod'
import { count, measured } from './distribution-shape.ts'

const boundsShape = z.object({
  from: z.number().describe('microseconds'),
  to: measured.describe('null in the last bucket: at least `from`'),
})

/** What the service said of itself during a run. */
export const serviceShape = z.object({
  sources: z.array(
    z.object({
      url: z.string(),
      kind: z.string().nullable().describe('vLLM, SGLang, …; null for one that is not known'),
      everyUs: z.number(),
      looks: count,
      gaps: count.describe('looks without an answer'),
      sawEnd: z.boolean().describe('the look after the last request was answered'),
      restartsUs: z.array(z.number()).describe('when its counters began again'),
      answersInTurns: z
        .boolean()
        .describe('several replicas answered in turns, so its counts say nothing'),
    }),
  ),
  reconciliation: z
    .array(
      z.object({
        what: z.string(),
        client: measured,
        service: z.number(),
        verdict: z.enum(['equal', 'differs', 'unknown']),
        cause: z.string().nullable().describe('of a difference, where one is known'),
      }),
    )
    .describe('counts of the whole run'),
  times: z
    .record(z.string(), z.object({ meanUs: z.number(), count, p95: boundsShape.nullable() }))
    .describe('of the steady part; p95 lies between the edges of its bucket'),
  gauges: z
    .record(z.string(), z.object({ least: z.number(), most: z.number() }))
    .describe('of the steady part, as sampled; shares from 0 to 1, power in watts'),
  gpuEnergyJ: measured.describe('of the GPUs that an exporter reports, over the whole run'),
  gpuEnergyPerTokenJ: measured.describe('of it, for each output token of a success'),
  answers: z
    .object({
      answers: count.describe('successes that state their times'),
      of: count.describe('successes of the same kind'),
      streamed: z.boolean(),
      clientUs: z.number().describe('their mean TTFT; of plain answers, service time'),
      queueUs: z.number().nullable().describe('null is not stated'),
      prefillUs: z.number(),
      decodeUs: z.number().nullable(),
    })
    .nullable()
    .describe('means of the times that answers state; null if none does'),
  ttft: z.string().nullable().describe('the parts of the mean TTFT, where they are known'),
  limit: z.string().nullable().describe('what held requests back'),
})
