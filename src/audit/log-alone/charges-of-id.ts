import { settled } from '../evidence/prices/refunds.ts'
import { sumOfCosts } from '../evidence/prices/stated-costs.ts'
import type { LoggedRequest } from './log-lines.ts'
import { hasCounts } from './shared-ids.ts'

/**
 * What is judged of all rows of one id. Some gateways write a charge in advance, and further rows without counts that settle it:
 * if only one row has counts, all are one charge, their sum, and a cost that is no number makes it unknown. Else each row is
 * a charge. What was given back whole is none.
 */
export function chargesOfId(all: readonly LoggedRequest[]): readonly LoggedRequest[] {
  const { charges, refunds } = settled(all, ({ statement }) => statement)
  const rows = [...charges, ...refunds]
  const [counted, ...others] = rows.filter(hasCounts)
  if (counted === undefined || others.length > 0) return rows
  const unread = rows.filter(({ unreadable }) => unreadable !== null)
  if (unread.length > 0) return unread
  return [{ ...counted, statement: sumOfCosts(rows.flatMap(({ statement }) => statement ?? [])) }]
}
