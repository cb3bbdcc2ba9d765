import { createHash } from 'node:crypto'

/** The most letters of a name: a log's model may be a megabyte long, and repeats in every row. */
const most = 200
const digits = 12

/** SQL (DuckDB) for a name as pages show it. Of a long name, a digest stands for its end, so that two never become one. */
export const shortSql = (name: string): string =>
  `CASE WHEN length(${name}) > ${most} THEN left(${name}, ${most - digits - 1}) || '…' || left(md5(${name}), ${digits}) ELSE ${name} END`

/** The same of a text. */
export function shortName(name: string): string {
  const letters = [...name]
  if (letters.length <= most) return name
  const digest = createHash('md5').update(name).digest('hex').slice(0, digits)
  return `${letters.slice(0, most - digits - 1).join('')}…${digest}`
}
