/**
 * The regularised incomplete beta function I_x(a, b), by its continued fraction (Abramowitz and Stegun 26.5.8, Lentz's
 * method), to about 1e-13.
 *
 * @param a and b greater than 0
 */
export function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0
  if (x >= 1) return 1
  // The fraction converges fast below the mean.
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a)
  const front = Math.exp(
    logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x),
  )
  const tiny = 1e-300
  let [c, d] = [1, 1 / nonZero(1 - ((a + b) * x) / (a + 1), tiny)]
  let fraction = d
  for (let m = 1; m <= 10_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    d = 1 / nonZero(1 + even * d, tiny)
    c = nonZero(1 + even / c, tiny)
    fraction *= d * c
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 / nonZero(1 + odd * d, tiny)
    c = nonZero(1 + odd / c, tiny)
    fraction *= d * c
    if (Math.abs(d * c - 1) < 1e-15) break
  }
  return (front * fraction) / a
}

const nonZero = (value: number, tiny: number) => (Math.abs(value) < tiny ? tiny : value)

/** The x with I_x(a, b) = `share`, by halving. @param share between 0 and 1 */
export function betaQuantile(share: number, a: number, b: number): number {
  let [low, high] = [0, 1]
  for (let halving = 0; halving < 100 && high - low > 1e-16 * high; halving++) {
    const middle = (low + high) / 2
    if (incompleteBeta(middle, a, b) < share) low = middle
    else high = middle
  }
  return (low + high) / 2
}

/**
 * The quantile of Student's t, from that of the beta distribution.
 *
 * @param share from 0.5, below 1
 * @param freedom degrees of freedom, greater than 0; a fraction is allowed
 */
export function studentQuantile(share: number, freedom: number): number {
  const x = betaQuantile(2 * (1 - share), freedom / 2, 0.5)
  return Math.sqrt((freedom * (1 - x)) / x)
}

/** Lanczos' approximation with g = 7, to about 1e-14. */
function logGamma(z: number): number {
  if (z < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * z)) - logGamma(1 - z)
  const terms = lanczos.reduce((sum, term, at) => sum + term / (z + at), 0.999_999_999_999_809_9)
  const base = z + 6.5
  return 0.5 * Math.log(2 * Math.PI) + (z - 0.5) * Math.log(base) - base + Math.log(terms)
}

const lanczos = [
  676.520_368_121_885_1, -1_259.139_216_722_402_8, 771.323_428_777_653_1, -176.615_029_162_140_6,
  12.507_343_278_686_905, -0.138_571_095_265_720_12, 9.984_369_578_019_572e-6,
  1.505_632_735_149_311_6e-7,
]
