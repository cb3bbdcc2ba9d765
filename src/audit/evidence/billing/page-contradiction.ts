import type { Credits } from '../../../contract/contract.ts'

export interface PageContradiction {
  readonly row: number
  readonly shown: Credits
  readonly expected: Credits
}
