/** What a machine asked shard 0: its own microseconds before and after, and those of shard 0 between. */
export interface Ping {
  readonly sentUs: number
  readonly theirUs: number
  readonly gotUs: number
}

/** A kernel slews a clock by 500 us in a second at most: so fast two of them may part. */
const driftPerUs = 1e-3

/**
 * The clock of shard 0 as another machine knows it: bounds of what has to be added to its own. Each ping bounds
 * it, since shard 0 read its clock between the two own readings; between pings the bounds widen by drift.
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
    // Shard 0 may have read its clock when the ping was sent: since then, too, both drift.
    const within = (gotUs - sentUs) * driftPerUs
    const [low, high] = [theirUs - gotUs - within, theirUs - sentUs + within]
    const before = this.awayUs
    const both = [Math.max(low, this.lowUs - drift), Math.min(high, this.highUs + drift)] as const
    // Bounds that exclude each other: a clock was set, and only the new ones hold.
    ;[this.lowUs, this.highUs] = both[0] <= both[1] ? both : [low, high]
    this.atUs = gotUs
    const after = this.awayUs
    // Between two pings the bound grows from the one and shrinks towards the other.
    this.worstUs = Math.max(this.worstUs, before, after, (before + after + drift) / 2)
  }

  /** Microseconds to add from now on, whatever later pings say: a run has one clock. */
  agree(): number {
    this.agreedUs ??= (this.lowUs + this.highUs) / 2
    this.worstUs = this.awayUs
    return this.agreedUs
  }

  /** How far the agreed clock was from that of shard 0 at most, until a time of this machine. */
  errorUs(nowUs: number): number {
    return Math.max(this.worstUs, this.awayUs + (nowUs - this.atUs) * driftPerUs)
  }

  private get awayUs(): number {
    const { agreedUs } = this
    if (agreedUs === null) return Infinity
    return Math.max(this.highUs - agreedUs, agreedUs - this.lowUs)
  }
}
