/** The most letters of a name: a log's model may be a megabyte long, and repeats in every row. */
const most = 200
const digits = 12

/** SQL (DuckDB) for a name as pages show it. Of a long name, a digest stands for its end, so that two never become one. */
export const shortSql = (name: string): string =>
  `CASE WHEN length(${name}) > ${most} THEN left(${name}, ${most - digits - 1}) || '…' || left(md5(${name}), ${digits}) ELSE ${name} END`
