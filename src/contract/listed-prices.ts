import type { Package } from './contract.ts'

/**
 * The listed prices per credit if no one way of rounding gives them all, in words; null if one does. To four decimals,
 * each is the price of the package divided by its credits, rounded in every row or cut off in every row.
 */
export function mixedRounding(packages: readonly Package[]): string | null {
  const rows = packages.map(({ name, priceUsdCents, credits, listedUsdPerCredit: listed }) => {
    const exact = priceUsdCents / credits / 100
    const near = (value: number) => Math.abs(value - listed) < 1e-9
    const ways = [
      ...(near(Math.round(exact * 1e4) / 1e4) ? ['rounded'] : []),
      ...(near(Math.floor(exact * 1e4) / 1e4) ? ['cut off'] : []),
    ]
    return { name, listed, exact, ways }
  })
  if (['rounded', 'cut off'].some((way) => rows.every(({ ways }) => ways.includes(way))))
    return null
  return rows
    .map(
      ({ name, listed, exact, ways }) =>
        `${name} ${exact.toFixed(5)} is listed as ${listed} (${ways.join(' or ') || 'neither'})`,
    )
    .join('; ')
}
