/** Chance of a chi-square at least this large, by Wilson and Hilferty's cube root. */
export function chiSquareP(found: readonly number[], expected: readonly number[]): number {
  const statistic = found.reduce(
    (sum, count, at) => sum + (count - expected[at]!) ** 2 / expected[at]!,
    0,
  )
  const df = found.length - 1
  const z = (Math.cbrt(statistic / df) - (1 - 2 / (9 * df))) / Math.sqrt(2 / (9 * df))
  return 1 - normalCdf(z)
}

/** Abramowitz and Stegun 26.2.17. */
function normalCdf(z: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(z))
  const tail =
    (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) *
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  return z > 0 ? 1 - tail : tail
}
