/** A source of numbers in [0, 1), passed as a parameter to make every resample repeatable. */
export type Random = () => number

/**
 * sfc32, seeded by a splitmix: small, fast, and the same everywhere. Draws follow each other, as resamples do; those of a
 * plan are found by their index (`schedule/random.ts`).
 */
export function randomOf(seed: number): Random {
  let state = seed >>> 0
  const mix = () => {
    state = (state + 0x9e3779b9) >>> 0
    let z = state
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b)
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35)
    return (z ^ (z >>> 16)) >>> 0
  }
  let [a, b, c, counter] = [mix(), mix(), mix(), 1]
  const next = () => {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum
    c |= 0
    return (sum >>> 0) / 4294967296
  }
  for (let at = 0; at < 12; at++) next()
  return next
}

/** The values in an order that is as likely as any other (Fisher and Yates). */
export function shuffled<T>(values: readonly T[], draw: Random): readonly T[] {
  const all = [...values]
  for (let at = all.length - 1; at > 0; at--) {
    const other = Math.floor(draw() * (at + 1))
    const kept = all[at]!
    all[at] = all[other]!
    all[other] = kept
  }
  return all
}
