import { accessChecks } from './access.ts'
import { billingChecks } from './billing.ts'
import { chatChecks } from './chat.ts'
import type { Check } from './check.ts'
import { errorChecks } from './errors.ts'
import { limitChecks } from './limits.ts'
import { messagesChecks } from './messages.ts'
import { streamingChecks } from './streaming.ts'
import { transportChecks } from './transport.ts'
import { usageChecks } from './usage.ts'

/** Every rule of sections 1.1 to 1.11 that can be checked from outside. */
export const checks: readonly Check[] = [
  ...transportChecks,
  ...accessChecks,
  ...chatChecks,
  ...messagesChecks,
  ...streamingChecks,
  ...errorChecks,
  ...billingChecks,
  ...limitChecks,
  ...usageChecks,
]

/** Names the rules that are not checked without an operator for balances and the clock. */
export function operatorTold(): void {
  const skipped = [...new Set(checks.flatMap(({ rule, operated }) => (operated ? [rule] : [])))]
  process.stderr.write(
    `Not walked, since they take balances or a clock that an operator moves ` +
      `(assay serve --operator, ASSAY_CONTRACT_OPERATOR=<its key>): ${skipped.join(', ')}\n`,
  )
}
