import type { Credits } from '../../../../contract/contract.ts'

/** Minimum and maximum charge of a policy in each stretch. */
export interface Ranges {
  readonly least: Float64Array
  readonly most: Float64Array
}

export const ranges = (count: number): Ranges => ({
  least: new Float64Array(count),
  most: new Float64Array(count),
})

/** Adds nothing outside all stretches: a typed array ignores such an index. */
export function add({ least, most }: Ranges, at: number, surely: Credits, perhaps: Credits): void {
  least[at] = least[at]! + surely
  most[at] = most[at]! + perhaps
}
