import type { Package } from './contract.ts'

/** What no one way of rounding to four decimals gives of the listed prices per credit, in words; null if one gives all. */
export function mixedRounding(packages: readonly Package[]): string | null {
  const rows = packages.map(({ name, priceUsdCents, credits, listedUsdPerCredit: listed }) => {
    // Whole numbers of 0.0001 USD: a binary fraction would round a half down.
    const below = Math.floor((priceUsdCents * 100) / credits)
    const rest = priceUsdCents * 100 - below * credits
    const isListed = (tenThousandths: number) => Math.abs(tenThousandths / 1e4 - listed) < 1e-9
    const ways = [
      ...(isListed(2 * rest < credits ? below : below + 1) ? ['rounded'] : []),
      ...(isListed(below) ? ['cut off'] : []),
    ]
    const exact = priceUsdCents / credits / 100
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
