import { billingFaults } from './billing.ts'
import { chatFaults } from './chat.ts'
import { errorFaults } from './errors.ts'
import type { Fault } from './fault.ts'
import { limitFaults } from './limits.ts'

/** Every fault, in the order of the rulebook. */
export const faults: readonly Fault[] = [
  ...chatFaults,
  ...errorFaults,
  ...billingFaults,
  ...limitFaults,
]
