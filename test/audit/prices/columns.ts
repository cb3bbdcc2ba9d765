import {
  TokenFields,
  tokenColumns,
  UsageCounts,
  usagePaths,
} from '../../../src/client/document/usage-counts.ts'
import type { TokenColumns } from '../../../src/price/attempts/column-usage.ts'

/** The columns of tokens that the client fills from a usage object. @param hasText whether its answer has any */
export function columnsOf(usage: object, endpoint: string, hasText = true): TokenColumns {
  const counts = new Float64Array(usagePaths.length).fill(Number.NaN)
  const counted: number[] = []
  for (const [at, path] of usagePaths.entries()) {
    const value = path
      .split('.')
      .reduce<unknown>(
        (within, step) => (within as Record<string, unknown> | undefined)?.[step],
        usage,
      )
    if (typeof value !== 'number') continue
    counts[at] = value
    counted.push(at)
  }
  const [read, fields] = [new UsageCounts(), new TokenFields()]
  read.take(Int32Array.from(counted), counted.length, counts, -1)
  read.fill(fields, endpoint, hasText)
  return Object.fromEntries(
    tokenColumns.map((name) => [name, Number.isNaN(fields[name]) ? null : fields[name]]),
  ) as TokenColumns
}
