import { balanceFaults } from './balances.ts'
import { cacheFaults } from './cache.ts'
import { endFaults } from './ends.ts'
import type { MoneyFault } from './money-fault.ts'
import { nameFaults } from './names.ts'
import { partFaults } from './parts.ts'
import { recordFaults } from './records.ts'
import { streamFaults } from './streams.ts'
import { tierFaults } from './tiers.ts'

/** Every fault of billing in money, in the order of the public reports. */
export const moneyFaults: readonly MoneyFault[] = [
  ...streamFaults,
  ...cacheFaults,
  ...tierFaults,
  ...nameFaults,
  ...partFaults,
  ...endFaults,
  ...balanceFaults,
  ...recordFaults,
]
