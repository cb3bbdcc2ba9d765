/**
 * Random numbers by index: each is a hash of (seed, name, index, lane), so every thread can compute
 * the draws of any request without the earlier ones.
 */
export class RandomStream {
  private readonly a: number
  private readonly b: number

  /** @param name what is drawn; streams of different names are independent */
  constructor(seed: number, name: string) {
    let hash = mix(seed >>> 0) ^ mix((Math.floor(seed / 4294967296) >>> 0) + 1)
    for (let at = 0; at < name.length; at++) hash = mix(hash ^ (name.charCodeAt(at) + at * 65537))
    // Signed integers, so that all streams share one hidden class in V8.
    this.a = mix(hash + 0x9e3779b9) | 0
    this.b = mix(hash ^ 0x85ebca6b) | 0
  }

  /** Uniform in [0, 1), 53 bits. `lane` separates several draws of one index. */
  at(index: number, lane = 0): number {
    const low = index >>> 0
    const far = Math.floor(index / 4294967296) + lane * 0x3c6ef372
    const first = mix(mix(low ^ this.a) + far)
    const second = mix(first ^ mix(low + this.b))
    return ((first >>> 5) * 67108864 + (second >>> 6)) / 9007199254740992
  }

  /** Mean 1. */
  exponential(index: number): number {
    return -Math.log(1 - this.at(index))
  }

  /** Mean 0, variance 1 (Box and Muller 1958). */
  normal(index: number, lane = 0): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.at(index, lane)))
    return radius * Math.cos(2 * Math.PI * this.at(index, lane + 1))
  }

  /** Gamma of mean 1: shape k, scale 1/k (Marsaglia and Tsang 2000). */
  gamma(index: number, shape: number): number {
    // For a shape below 1, the method draws at shape + 1 and multiplies by a power of a uniform.
    const boosted = shape < 1 ? shape + 1 : shape
    const d = boosted - 1 / 3
    const c = 1 / Math.sqrt(9 * d)
    for (let lane = 1; ; lane += 3) {
      const x = this.normal(index, lane)
      const v = (1 + c * x) ** 3
      if (v <= 0) continue
      const u = this.at(index, lane + 2)
      if (Math.log(1 - u) < 0.5 * x * x + d - d * v + d * Math.log(v)) {
        const boost = shape < 1 ? (1 - this.at(index)) ** (1 / shape) : 1
        return (d * v * boost) / shape
      }
    }
  }
}

/** A 32-bit integer hash of full avalanche (Wellons' triple32). */
function mix(value: number): number {
  let x = value | 0
  x = Math.imul(x ^ (x >>> 17), 0xed5ad4bb)
  x = Math.imul(x ^ (x >>> 11), 0xac4c1b51)
  x = Math.imul(x ^ (x >>> 15), 0x31848bab)
  return (x ^ (x >>> 14)) >>> 0
}
