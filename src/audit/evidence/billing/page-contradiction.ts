import type { Credits } from '../../../contract/contract.ts'

/** A value of the credits page that the headers contradict. */
export interface PageContradiction {
  readonly row: number
  readonly shown: Credits
  readonly expected: Credits
}
