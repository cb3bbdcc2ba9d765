import { z } from 'zod'

/** Inconclusive: not decided, not observed or not asked. It is never a pass. */
const verdicts = ['pass', 'fail', 'inconclusive'] as const
const chance = z.number()

export const certificateShape = z.object({
  verdict: z.enum(verdicts).describe('pass only if each part passes'),
  rate: z.string().nullable().describe('the rate that is sustained, in words; null without one'),
  parts: z.array(
    z.object({
      part: z.enum(['rate', 'answers', 'model', 'charges']),
      verdict: z.enum(verdicts),
      said: z.string().describe('what was seen'),
      passesByChance: chance.describe(
        'most chance that a service of which this part is not so passes it, from 0 to 1',
      ),
      failsByChance: chance
        .nullable()
        .describe('most chance that one of which it is so fails it; null: not known'),
    }),
  ),
  passesByChance: chance.describe(
    'the sum of those of the parts, which may depend on each other in any way',
  ),
})

/** One verdict on a launch, and how often it errs by chance. */
export type Certificate = z.output<typeof certificateShape>
export type CertificateVerdict = Certificate['verdict']
export type CertificatePart = Certificate['parts'][number]
