import { RandomStream } from './random.ts'

/** Gaps per block, and blocks per stretch. */
const fan = 64
const stretch = fan * fan

/**
 * Sums of independent gamma gaps of mean 1, without drawing all earlier gaps.
 *
 *     stretches of 4,096 gaps   one draw each: a sum of gammas is a gamma
 *       └─ 64 blocks            their shares of the stretch
 *            └─ 64 gaps         their shares of the block
 *
 * The shares of a sum of gammas are independent of the sum (Lukacs 1955), so the gaps are independent
 * too. With shape 1, arrivals are a Poisson process.
 */
export class SpacingSums {
  private readonly stretches: RandomStream
  private readonly blocks: RandomStream
  private readonly gaps: RandomStream
  private readonly shape: number
  private at = 0
  private start = 0
  private length: number
  /** Sums from the start of stretch `dealt` to each of its blocks. */
  private readonly beforeBlock = new Float64Array(fan + 1)
  private dealt = -1
  /** Sums from the start of `block` to each of its gaps. */
  private readonly beforeGap = new Float64Array(fan + 1)
  private block = -1
  private blockStart = 0
  private blockEnd = 0

  /** @param shape 1 for exponential gaps */
  constructor(seed: number, name: string, shape: number) {
    this.stretches = new RandomStream(seed, `stretches of ${name}`)
    this.blocks = new RandomStream(seed, `blocks of ${name}`)
    this.gaps = new RandomStream(seed, name)
    this.shape = shape
    this.length = this.lengthOf(0)
  }

  /** The sum of the first `count` gaps. @throws RangeError for a count in an earlier stretch */
  sumOf(count: number): number {
    const block = Math.floor(count / fan)
    if (block !== this.block) this.enter(block)
    return Math.min(this.blockStart + this.beforeGap[count - block * fan]!, this.blockEnd)
  }

  /** The highest multiple of a stretch, up to `most`, whose sum is at most `sum`. */
  countBy(sum: number, most: number): number {
    while (this.start + this.length <= sum && (this.at + 1) * stretch <= most) this.leave()
    return this.at * stretch
  }

  private lengthOf(at: number): number {
    return stretch * this.stretches.gamma(at, stretch * this.shape)
  }

  private leave(): void {
    this.start += this.length
    this.at++
    this.length = this.lengthOf(this.at)
  }

  private enter(block: number): void {
    const { beforeBlock, beforeGap, shape } = this
    const at = Math.floor(block / fan)
    if (at < this.at) throw new RangeError('counts of gaps never fall')
    while (this.at < at) this.leave()
    if (this.dealt !== at) {
      for (let nth = 0; nth < fan; nth++) {
        const share = this.blocks.gamma(at * fan + nth, fan * shape)
        beforeBlock[nth + 1] = beforeBlock[nth]! + share
      }
      scale(beforeBlock, this.length)
      this.dealt = at
    }
    const nth = block - at * fan
    for (let gap = 0; gap < fan; gap++) {
      const index = block * fan + gap
      const share = shape === 1 ? this.gaps.exponential(index) : this.gaps.gamma(index, shape)
      beforeGap[gap + 1] = beforeGap[gap]! + share
    }
    scale(beforeGap, beforeBlock[nth + 1]! - beforeBlock[nth]!)
    this.block = block
    this.blockStart = this.start + beforeBlock[nth]!
    this.blockEnd = this.start + beforeBlock[nth + 1]!
  }
}

/** Scales the sums so that the last is `whole`; rounding never puts one above it. */
function scale(sums: Float64Array, whole: number): void {
  const sum = sums[fan]!
  for (let at = 1; at < fan; at++) sums[at] = Math.min((sums[at]! / sum) * whole, whole)
  sums[fan] = whole
}
