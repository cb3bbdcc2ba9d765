import type { FullContract } from '../src/contract/contract.ts'
import { defaultContract } from '../src/contract/default.ts'

/** A service of one band without limits that a run could reach: no band that an account leaves decides its figures. */
export const openContract: FullContract = {
  ...defaultContract,
  bands: [
    {
      ...defaultContract.bands.at(-1)!,
      ...{ name: 'any', minBalance: 1, requests: { minute: 1e6, hour: 1e7, day: 1e8 } },
    },
  ],
}
