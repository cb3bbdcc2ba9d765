import { z } from 'zod'
import { UserError } from '../../user/user-error.ts'
import { severities, verdictSchema } from '../verdict.ts'

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
      before: z.number().default(0),
    }),
  ),
  findings: z.array(
    z.object({
      rule: z.string(),
      severity: z.enum(severities),
      title: z.string(),
      verdict: verdictSchema,
    }),
  ),
})

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
