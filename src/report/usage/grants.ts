import { z } from 'zod'
import type { Grant } from '../../contract/grant.ts'
import { parseMoment } from '../../measure/usage/zone.ts'
import { userError } from '../../user/user-error.ts'
import { parseYaml } from '../../user/yaml.ts'

const grantsShape = z.array(
  z.strictObject({
    name: z.string().min(1),
    credits: z.number().nonnegative(),
    expires: z.union([z.string(), z.null()]).default(null),
  }),
)

/**
 * Parses an account's grants from a YAML list of `name`, `credits` and `expires` (a date, or null).
 *
 * @throws UserError with every issue
 */
export function parseGrants(text: string, name: string, timezone: string): readonly Grant[] {
  let value: unknown
  try {
    // Keeps dates as text: they need the time zone.
    value = parseYaml(text, { schema: 'core' })
  } catch (error) {
    throw userError.report(`${name} is not YAML: ${String(error).split('\n')[0]}`)
  }
  const parsed = grantsShape.safeParse(value)
  if (!parsed.success) {
    throw userError.report(
      `${name} is not a list of grants:\n${z.prettifyError(parsed.error)}\nExpected e.g.\n  - { name: Standard, credits: 4200, expires: 2026-12-01 }`,
    )
  }
  return parsed.data.map((grant) => ({
    name: grant.name,
    credits: grant.credits,
    expiresUs: grant.expires === null ? null : parseMoment(grant.expires, timezone),
  }))
}
