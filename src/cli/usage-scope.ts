import { readFileSync } from 'node:fs'
import type { UsageScopeOptions } from '../report/page.ts'
import { parseGrants } from '../report/usage/grants.ts'
import type { UsageDimension } from '../report/usage/shape.ts'
import { parseMoment } from '../report/usage/zone.ts'
import { UsageError } from './exit.ts'

/** The options that say which usage is meant, of `assay usage` and of its page. */
export interface UsageFlags {
  readonly timezone: string
  readonly from?: string
  readonly to?: string
  readonly by: UsageDimension
  readonly source: readonly string[]
  readonly grants?: string
}

/**
 * What those options mean.
 *
 * @throws UsageError for a file that cannot be read; ReportError for dates and grants that are none
 */
export function usageScopeOf(flags: UsageFlags): UsageScopeOptions {
  const { timezone, from, to, by, source, grants } = flags
  const moment = (text?: string) => (text === undefined ? null : parseMoment(text, timezone))
  return {
    fromUs: moment(from),
    toUs: moment(to),
    by,
    sources: source,
    grants: grants === undefined ? null : parseGrants(readGrants(grants), grants, timezone),
  }
}

function readGrants(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    throw new UsageError(
      `--grants: ${path} cannot be read; expected a YAML list of name, credits and expires.`,
    )
  }
}
