import type { Package } from './contract.ts'

/** What no one way of rounding to four decimals gives of the listed prices per credit, in words; null if one gives all. */
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
