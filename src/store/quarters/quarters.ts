import { readFileSync } from 'node:fs'

/** The text of a file of this folder. */
const textOf = (name: string) =>
  readFileSync(new URL(`../../../src/store/quarters/${name}.sql`, import.meta.url), 'utf8')

/** What each request of `usage_shown` adds to the sums of its quarter of an hour. */
export const cellsSql = () => textOf('cells.duckdb')

/** The table of quarters, as sums of `usage_cells`. */
export const quartersSql = () => textOf('quarters')
