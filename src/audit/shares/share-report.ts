import { z } from 'zod'
import { promiseNames } from '../../contract/promises.ts'
import { UserError } from '../../user/user-error.ts'

const witness = z.object({
  runId: z.string(),
  slot: z.number(),
  retry: z.number(),
  shows: z.string(),
})
const observations = z.number()
const verdict = z.discriminatedUnion('verdict', [
  z.object({ verdict: z.literal('pass'), observations, note: z.string().exactOptional() }),
  z.object({
    verdict: z.literal('fail'),
    observations,
    expected: z.string(),
    observed: z.string(),
    witnesses: z.tuple([witness], witness),
    note: z.string().exactOptional(),
  }),
  z.object({
    verdict: z.literal('inconclusive'),
    observations,
    why: z.string(),
    witnesses: z.array(witness).exactOptional(),
  }),
  z.object({ verdict: z.literal('not-observed'), requires: z.string() }),
  z.object({
    verdict: z.literal('not-promised'),
    promises: z.tuple([z.enum(promiseNames)], z.enum(promiseNames)),
  }),
])
const reportShape = z.object({
  auditId: z.string(),
  auditedAt: z.coerce.date(),
  contract: z.string(),
  accounts: z.object({ index: z.number(), of: z.number() }),
  runs: z.array(
    z.object({
      runId: z.string(),
      scenario: z.string(),
      baseUrl: z.string(),
      attempts: z.number(),
    }),
  ),
  findings: z.array(
    z.object({
      rule: z.string(),
      severity: z.enum(['must', 'derived', 'advice']),
      title: z.string(),
      verdict,
    }),
  ),
})

/** The report of a process over its accounts. */
export type ShareReport = z.infer<typeof reportShape>

/** @throws UserError for text that is not a report of a share */
export function shareReportOf(text: string, path: string): ShareReport {
  try {
    return reportShape.parse(JSON.parse(text))
  } catch {
    throw refused(
      `${path} is no report of a share. Write one by assay audit --accounts 3/16 --json.`,
    )
  }
}

export const refused = (why: string) => new UserError('usage', `audit merge: ${why}`)
