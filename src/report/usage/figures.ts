import { printable } from '../summary/printable.ts'
import { amountText, exactAmount, sumOfAmounts } from './amount.ts'
import type { Card, UsagePage } from './shape.ts'

/** The figures of the cards and the amounts under them, as text that the terminal and the page share. */

const titles: Readonly<Record<Card['name'], string>> = {
  credits: 'credits used',
  requests: 'requests',
  tokens: 'tokens',
  averageTokens: 'tokens per success',
}

/** The unit as a word of a line. It may come from a log. */
export const unitName = (unit: string) => printable(unit, 12)

/** `USD used`, `requests`. */
export const cardTitle = ({ name }: Card, unit: string) =>
  name === 'credits' ? `${unitName(unit)} used` : titles[name]

/** The value of a card; at least so much, if some of its requests do not report it. */
export function cardValue(
  card: Card,
  { scope, totals }: Pick<UsagePage, 'scope' | 'totals'>,
  none: string,
): { readonly text: string; readonly exactly: string | null } {
  const { unit } = scope
  const used = card.name === 'credits' ? totals.money.find((each) => each.unit === unit) : undefined
  const text =
    card.value === null ? none : cardNumber(card, used === undefined ? card.value : used.used, unit)
  const isLeast = card.unmeasured > 0 && card.value !== null && card.name !== 'averageTokens'
  return {
    text: isLeast ? `≥ ${text}` : text,
    exactly: used === undefined ? null : exactAmount(used.used, unit),
  }
}

/** A number of this card: an amount of its unit, or a count. */
export function cardNumber({ name }: Card, value: number | string, unit: string): string {
  return name === 'credits'
    ? amountText(value, unit)
    : Number(value).toLocaleString('en-US', { maximumFractionDigits: 1 })
}

export interface AmountRow {
  readonly title: string
  readonly amount: string
  readonly unit: string
  readonly aside: string | null
}

/**
 * Amounts beside that of the card: other units, refunds, what the user's prices gave, and what changes a balance without
 * being usage.
 */
export function amountRows({ totals, scope }: Pick<UsagePage, 'scope' | 'totals'>): AmountRow[] {
  const rows: AmountRow[] = []
  const row = (title: string, amount: string, unit: string, aside: string | null = null) =>
    rows.push({ title, amount, unit, aside })
  for (const { unit, used, refunds, computed } of totals.money) {
    if (unit !== scope.unit) row(`${unitName(unit)} used`, used, unit)
    if (refunds !== '0') row('refunds', refunds, unit, 'subtracted above')
    if (computed === '0') continue
    const of = totals.pricedBy.map((name) => printable(name, 40)).join(', ')
    row('computed', computed, unit, `by your prices of ${of}; part of the above`)
    const logged = sumOfAmounts([used, `-${computed}`.replace('--', '')])
    if (logged !== '0') row('as logged', logged, unit, 'the rest of the above')
  }
  for (const { type, unit, amount, entries } of totals.ledger) {
    const name = type === 'expiry' ? (entries === 1 ? 'expiry' : 'expiries') : `${type}s`
    row(name, amount, unit, entries === 1 ? null : `${entries} entries`)
  }
  for (const { unit, amount } of totals.ledger.filter(({ type }) => type === 'adjustment')) {
    const { used } = totals.money.find((money) => money.unit === unit) ?? { used: '0' }
    row('net', sumOfAmounts([used, amount]), unit, 'used and adjusted')
  }
  return rows
}
