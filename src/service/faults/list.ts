import { accessFaults } from './access.ts'
import { balanceFaults } from './balances.ts'
import { chargeFaults, retryFaults } from './charges.ts'
import { chatFaults } from './chat.ts'
import { errorFaults } from './errors.ts'
import type { Fault } from './fault.ts'
import { grantFaults } from './grants.ts'
import { limitFaults } from './limits.ts'
import { messagesFaults } from './messages.ts'
import { modelFaults } from './models.ts'
import { soldFaults } from './sold.ts'
import { streamingFaults } from './streaming.ts'
import { tokenFaults } from './tokens.ts'
import { transportFaults } from './transport.ts'
import { usageFaults } from './usage.ts'

/** Every fault, in the order of the rulebook. */
export const faults: readonly Fault[] = [
  ...transportFaults,
  ...accessFaults,
  ...modelFaults,
  ...chatFaults,
  ...messagesFaults,
  ...streamingFaults,
  ...errorFaults,
  ...tokenFaults,
  ...chargeFaults,
  ...balanceFaults,
  ...retryFaults,
  ...grantFaults,
  ...limitFaults,
  ...usageFaults,
  ...soldFaults,
]
