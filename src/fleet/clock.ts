/** One request for the time of shard 0: own microseconds before and after, and those of shard 0 between. */
export interface Ping {
  readonly sentUs: number
  readonly theirUs: number
  readonly gotUs: number
}

/** Two clocks drift apart by at most this: a kernel slews a clock by at most 500 us per second. */
const driftPerUs = 1e-3

/**
 * Bounds of the offset from a machine's clock to that of shard 0. Each ping gives bounds, since shard 0
 * read its clock between the two own readings. Between pings the bounds widen by drift.
 * Source: Cristian, Probabilistic clock synchronization, 1989.
 */
export class SharedClock {
  private lowUs = -Infinity
  private highUs = Infinity
  private atUs = 0
  private worstUs = 0
  private agreedUs: number | null = null

  see({ sentUs, theirUs, gotUs }: Ping): void {
    const passedUs = gotUs - this.atUs
    const drift = passedUs * driftPerUs
    // Both clocks also drift during the ping.
    const within = (gotUs - sentUs) * driftPerUs
    const [low, high] = [theirUs - gotUs - within, theirUs - sentUs + within]
    const before = this.awayUs
    const both = [Math.max(low, this.lowUs - drift), Math.min(high, this.highUs + drift)] as const
    // If the bounds exclude each other, a clock was set, and only the new ones hold.
    ;[this.lowUs, this.highUs] = both[0] <= both[1] ? both : [low, high]
    this.atUs = gotUs
    const after = this.awayUs
    // Between two pings, the error is greatest where the bounds from both meet.
    this.worstUs = Math.max(this.worstUs, before, after, (before + after + drift) / 2)
  }

  /** Fixes the microseconds to add; later pings do not change them, because a run has one clock. */
  agree(): number {
    this.agreedUs ??= (this.lowUs + this.highUs) / 2
    this.worstUs = this.awayUs
    return this.agreedUs
  }

  /** The greatest error of the agreed clock until `nowUs` on this machine's clock, in microseconds. */
  errorUs(nowUs: number): number {
    return Math.max(this.worstUs, this.awayUs + (nowUs - this.atUs) * driftPerUs)
  }

  private get awayUs(): number {
    const { agreedUs } = this
    if (agreedUs === null) return Infinity
    return Math.max(this.highUs - agreedUs, agreedUs - this.lowUs)
  }
}
