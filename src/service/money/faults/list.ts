import { balanceFaults } from './balances.ts'
import { cacheFaults } from './cache.ts'
import { endFaults } from './ends.ts'
import { furtherFaults } from './further.ts'
import type { MoneyFault } from './money-fault.ts'
import { nameFaults } from './names.ts'
import { partFaults } from './parts.ts'
import { recordFaults } from './records.ts'
import { streamFaults } from './streams.ts'
import { tierFaults } from './tiers.ts'

/** Every fault of billing in money: those of the list of public reports in its order, then further kinds. */
export const moneyFaults: readonly MoneyFault[] = [
  ...streamFaults,
  ...cacheFaults,
  ...tierFaults,
  ...nameFaults,
  ...partFaults,
  ...endFaults,
  ...balanceFaults,
  ...recordFaults,
  ...furtherFaults,
]
