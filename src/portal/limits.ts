import { Problem } from './problem.ts'

const perMinute = 60
const burst = 20
export const rateLimitPolicy = `"token";q=${perMinute};w=60`

interface Allowance {
  left: number
  atMs: number
}

/** 60 requests a minute for each token, 20 at once, counted in memory. */
export class RequestLimit {
  private readonly buckets = new Map<string, Allowance>()

  /** @returns the RateLimit field @throws Problem 429 */
  take(token: string, nowMs: number): string {
    const bucket = this.buckets.get(token) ?? { left: burst, atMs: nowMs }
    const left = Math.min(burst, bucket.left + ((nowMs - bucket.atMs) / 60_000) * perMinute)
    if (left < 1) {
      const retryAfterS = Math.ceil(((1 - left) * 60) / perMinute)
      throw new Problem(429, 'too-many-requests', 'Too many requests with this token', {
        retryAfterS,
      })
    }
    this.buckets.set(token, { left: left - 1, atMs: nowMs })
    if (this.buckets.size > 10_000) this.forget(nowMs)
    return `"token";r=${Math.floor(left - 1)};t=${Math.ceil(((burst - left + 1) * 60) / perMinute)}`
  }

  private forget(nowMs: number): void {
    for (const [token, { atMs }] of this.buckets) {
      if (nowMs - atMs > 60_000) this.buckets.delete(token)
    }
  }
}

/** At most so many at once; others wait a moment, then 503. */
export class Turns {
  private most: number
  private taken = 0
  private readonly waiting: ((isMine: boolean) => void)[] = []
  private readonly waitMs: number

  constructor(most: number, waitMs = 2000) {
    this.most = most
    this.waitMs = waitMs
  }

  /** Changes how many there are from the next on. */
  allow(most: number): void {
    this.most = most
    this.wake()
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.taken < this.most) this.taken++
    else {
      const isMine = await new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => {
          this.waiting.splice(this.waiting.indexOf(mine), 1)
          resolve(false)
        }, this.waitMs)
        const mine = (is: boolean) => {
          clearTimeout(timer)
          resolve(is)
        }
        this.waiting.push(mine)
      })
      if (!isMine) throw new Problem(503, 'too-slow', 'The service is busy', { retryAfterS: 2 })
    }
    try {
      return await work()
    } finally {
      this.taken--
      this.wake()
    }
  }

  private wake(): void {
    while (this.taken < this.most && this.waiting.length > 0) {
      this.taken++
      this.waiting.shift()!(true)
    }
  }
}
