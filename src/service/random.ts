/** Uniform on [0, 1). Always seeded, so that the same seed gives the same service. */
export type Random = () => number

/**
 * xoshiro128** seeded by splitmix32: small, fast and without visible structure. The service keeps its own on purpose: it shares no
 * code with the client, the schedule and the report, so that a bug in theirs shows.
 */
export function seededRandom(seed: number): Random {
  let mix = seed >>> 0
  const next = () => {
    mix = (mix + 0x9e3779b9) >>> 0
    let z = mix
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b)
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35)
    return (z ^ (z >>> 16)) >>> 0
  }
  let [a, b, c, d] = [next(), next(), next(), next()]
  return () => {
    const product = Math.imul(b, 5)
    const result = Math.imul((product << 7) | (product >>> 25), 9) >>> 0
    const t = b << 9
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= t
    d = (d << 11) | (d >>> 21)
    return result / 4294967296
  }
}

/** FNV-1a over UTF-16 units. The same words give the same answer on every machine. */
export function hashText(text: string, seed = 0): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

/** A number of the normal distribution (Box-Muller). */
export const normal = (draw: Random) =>
  Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw())
