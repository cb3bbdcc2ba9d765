import type { Evidence } from '../rule.ts'
import { eachGroup } from './by-group.ts'
import { eachGroupOnDisk, type RowOrder } from './partition.ts'

/** A query whose first column numbers the group of a row. Its other columns are those of the rows. */
export interface GroupedQuery {
  readonly sql: string
  readonly parameters: readonly (string | number)[]
  /** The order of all rows, as SQL: by the group, and then as `orderOf`. */
  readonly orderSql: string
  readonly orderOf: RowOrder
}

/**
 * Splits the rows of a query into ordered groups, by the database or, for evidence on disk, by a file, which takes less memory.
 * `use` must not keep the columns.
 */
export function eachOrderedGroup(
  { store, columns: file }: Pick<Evidence, 'store' | 'columns'>,
  { sql, parameters, orderSql, orderOf }: GroupedQuery,
  use: (group: number, columns: readonly Float64Array[]) => Promise<void> | void,
): Promise<void> {
  return file === undefined
    ? eachGroup((take) => store.doubleBatches(`${sql} ORDER BY ${orderSql}`, parameters, take), use)
    : eachGroupOnDisk(
        (take) => store.doubleBatches(sql, parameters, take),
        store.path,
        orderOf,
        use,
      )
}
