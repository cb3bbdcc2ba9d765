import { parse } from 'yaml'
import { z } from 'zod'
import { UserError } from '../user/user-error.ts'

/**
 * The comment that leads a query, as YAML: what its table or chart is called and how its columns
 * read. A table must have a title; a chart has its own.
 *
 *     -- title: Latency by step
 *     -- section: Latency
 *     -- note: Only successes and timeouts; a timeout counts as at least its deadline.
 *     -- columns:
 *     --   p99_ms: { label: p99, group: service, needs: [p99, n] }
 */
const columnFront = z.strictObject({
  label: z.string().optional(),
  /** Columns of one group stand under one heading. */
  group: z.string().optional(),
  /** Which percentile the figure is, and the column that counts its samples: too few print "n too small". */
  needs: z.tuple([z.templateLiteral(['p', z.number()]), z.string()]).optional(),
  /** A column with the shortest time that was cut off: a figure beyond it reads "≥". */
  at_least: z.string().optional(),
  /** Drawn as a bar behind the number, of the column's largest. */
  bar: z.boolean().optional(),
  /** Left out where no row has a value. */
  optional: z.boolean().optional(),
  /** Where scripts run, the reader chooses rows by it; the table tells the sums of what is left. */
  filter: z.boolean().optional(),
  /** Counted by others, not shown. */
  hidden: z.boolean().optional(),
})
export type ColumnFront = z.infer<typeof columnFront>

const front = z.strictObject({
  title: z.string().optional(),
  section: z.string().optional(),
  note: z.string().optional(),
  empty: z.string().optional(),
  /** Takes the whole width of a page. */
  wide: z.boolean().optional(),
  /** Left out where it has no rows, in place of an empty state. */
  optional: z.boolean().optional(),
  /** The whole of a table stands behind a click on its title. */
  folded: z.boolean().optional(),
  /** What rows are whose column `folded` is true: `3 rules that passed`; they stand behind a click. */
  fold: z.string().optional(),
  columns: z.record(z.string(), columnFront).optional(),
})
export type Front = z.infer<typeof front>

/** @throws UserError when the comment is not the YAML it should be */
export function readFront(sql: string, from: string): Front {
  const lines: string[] = []
  for (const line of sql.split('\n')) {
    if (!line.startsWith('--')) break
    lines.push(line.replace(/^-- ?/, ''))
  }
  let said: unknown
  try {
    said = parse(lines.join('\n')) ?? {}
  } catch (error) {
    throw new UserError(
      'report',
      `${from}: its leading comment is not YAML: ${String(error).split('\n')[0]}`,
    )
  }
  const checked = front.safeParse(said)
  if (!checked.success) {
    throw new UserError(
      'report',
      `${from}: its leading comment:\n${z.prettifyError(checked.error)}`,
    )
  }
  return checked.data
}
