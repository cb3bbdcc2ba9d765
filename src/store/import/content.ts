import { tokenColumns } from '../../measure/usage/quantities.ts'
import { creditsTypes, stagedCredits } from './staged-credits.ts'

/** The columns of an event that an import compares: two lines are equal if all of these are. */
export const content = [
  'at_us',
  'type',
  'model',
  'endpoint',
  'key_fp',
  'account',
  'tags',
  'outcome',
  'status',
  'error_code',
  'credits',
  'unit',
  ...tokenColumns,
  'requests',
  'ttft_us',
  'latency_us',
  'terms',
] as const

const contentSql = (of: Partial<Record<(typeof content)[number], string>>): readonly string[] =>
  content.map((name) => of[name] ?? name)

/** The same over staged lines, with another SQL for the credits or their unit. */
export const stagedContent = (
  credits: string = stagedCredits,
  unit: string = 'unit',
): readonly string[] => contentSql({ type: `coalesce(type, 'usage')`, credits, unit })

/** What two lines with the same id are compared by. A cost that the user's prices gave is none of the log. */
export const comparedContent = {
  staged: stagedContent(stagedCredits, `CASE WHEN ${stagedCredits} IS NOT NULL THEN unit END`),
  // A word of an enumeration has another hash than the same text.
  stored: (type: string) =>
    contentSql({
      type,
      outcome: 'outcome::VARCHAR',
      credits: `(CASE WHEN priced_by IS NULL THEN credits END)::${creditsTypes.any}`,
      unit: 'CASE WHEN priced_by IS NULL AND credits IS NOT NULL THEN unit END',
    }),
} as const
