import { z } from 'zod'
import { userError } from '../user/user-error.ts'
import { parseYaml } from '../user/yaml.ts'

/**
 * The comment at the head of a query, as YAML: the title of its table or chart, and the format of its columns. A table
 * must have a title; a chart has its own.
 *
 *     -- title: Latency by step
 *     -- section: Latency
 *     -- note: Only successes and timeouts; a timeout counts as at least its deadline.
 *     -- columns:
 *     --   p99_ms: { label: p99, group: service, needs: [p99, n] }
 */
const columnFront = z.strictObject({
  label: z.string().optional(),
  /** Columns of one group share a heading. */
  group: z.string().optional(),
  /**
   * The percentile in this column, and the column with its samples. If they are too few, the cell reads "n too small".
   */
  needs: z.tuple([z.templateLiteral(['p', z.number()]), z.string()]).optional(),
  /** The column with the shortest duration that was cut off. A figure from there on reads "≥". */
  at_least: z.string().optional(),
  /** Amounts of this unit. */
  amount: z.string().optional(),
  /** The column that is true if the value is at least so much, because some requests do not report it. */
  unknown: z.string().optional(),
  /** Draws a bar behind the number, relative to the column's maximum. */
  bar: z.boolean().optional(),
  /** Omits the column if no row has a value. */
  optional: z.boolean().optional(),
  /** Adds a filter on this column, and the sums of the remaining rows; needs scripts. */
  filter: z.boolean().optional(),
  /** Other columns use it, but it is not shown. */
  hidden: z.boolean().optional(),
})
export type ColumnFront = z.infer<typeof columnFront>

const front = z.strictObject({
  title: z.string().optional(),
  section: z.string().optional(),
  note: z.string().optional(),
  empty: z.string().optional(),
  /** Full width of the page. */
  wide: z.boolean().optional(),
  /** Omits the part if it has no rows, instead of showing an empty state. */
  optional: z.boolean().optional(),
  /** Only a picture of `--png`: the page draws it in another way. */
  picture: z.boolean().optional(),
  /** Folds the whole table under its title. */
  folded: z.boolean().optional(),
  /** Names the folded rows, whose column `folded` is true: `3 rules that passed`. */
  fold: z.string().optional(),
  columns: z.record(z.string(), columnFront).optional(),
})
export type Front = z.infer<typeof front>

/** @throws UserError when the comment is not valid YAML of this shape */
export function readFront(sql: string, from: string): Front {
  const lines: string[] = []
  for (const line of sql.split('\n')) {
    if (!line.startsWith('--')) break
    lines.push(line.replace(/^-- ?/, ''))
  }
  let said: unknown
  try {
    said = parseYaml(lines.join('\n')) ?? {}
  } catch (error) {
    throw userError.report(
      `${from}: its leading comment is not YAML: ${String(error).split('\n')[0]}`,
    )
  }
  const checked = front.safeParse(said)
  if (!checked.success) {
    throw userError.report(`${from}: its leading comment:\n${z.prettifyError(checked.error)}`)
  }
  return checked.data
}
