import { z } from 'zod'
import { either, flag, list, shape } from '../fields.ts'
import { parseThreshold, type Threshold } from '../threshold.ts'

const check = z
  .string({ error: 'a threshold such as chat.ttft.p95 < 800ms' })
  .superRefine((written, context) => {
    const read = parseThreshold(written)
    if (typeof read === 'string') context.addIssue({ code: 'custom', message: read })
  })

const threshold = either(
  [
    check,
    shape('', {
      check: [check, 'The threshold, such as errors < 1%.'],
      abort: [flag().default(false), 'End the run as soon as the threshold is clearly missed.'],
    }),
  ],
  'a threshold such as chat.ttft.p95 < 800ms, or { check: threshold, abort: true }',
)

export const thresholds = list(threshold, 'a list of thresholds such as chat.ttft.p95 < 800ms')

export function thresholdOf(written: z.output<typeof threshold>): Threshold {
  const { check, abort } = typeof written === 'string' ? { check: written, abort: false } : written
  const read = parseThreshold(check, abort)
  if (typeof read === 'string') throw new Error(`unchecked threshold: ${read}`)
  return read
}
