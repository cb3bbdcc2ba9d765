import { Problem } from './problem.ts'

const burst = 20
const perS = 1
/** A bucket is full again after this, so whoever sends `q` in any `w` seconds is never refused. */
const refillS = burst / perS
export const rateLimitPolicy = `"token";q=${burst};w=${refillS}`

/** What a token may still send at once. */
interface Allowance {
  left: number
  atMs: number
}

/** 20 requests at once for each token, and one more each second: 60 a minute. Counted in memory. */
export class RequestLimit {
  private readonly buckets = new Map<string, Allowance>()

  /** @returns the RateLimit field @throws Problem 429 */
  take(token: string, nowMs: number): string {
    const bucket = this.buckets.get(token) ?? { left: burst, atMs: nowMs }
    // A clock that is set back takes nothing away.
    const passedS = Math.max(0, nowMs - bucket.atMs) / 1000
    const left = Math.min(burst, bucket.left + passedS * perS)
    if (left < 1) {
      const retryAfterS = Math.ceil((1 - left) / perS)
      throw new Problem(429, 'too-many-requests', 'Too many requests with this token', {
        retryAfterS,
      })
    }
    this.buckets.set(token, { left: left - 1, atMs: nowMs })
    if (this.buckets.size > 10_000) this.forget(nowMs)
    return `"token";r=${Math.floor(left - 1)};t=${Math.ceil((burst - left + 1) / perS)}`
  }

  /** A full bucket is that of a token without requests. */
  private forget(nowMs: number): void {
    for (const [token, { atMs }] of this.buckets) {
      if (nowMs - atMs > refillS * 1000) this.buckets.delete(token)
    }
  }
}

export const busy = () => new Problem(503, 'too-slow', 'The service is busy', { retryAfterS: 2 })

/**
 * At most so many at once, and fewer of one account: its other questions wait, while those of another account proceed. Accounts
 * take turns. A question that waits is rejected with the reason of its signal, if that comes first.
 */
export class Turns {
  private most: number
  private readonly mostOfOne: number
  private taken = 0
  private readonly takenBy = new Map<string, number>()
  /** The account whose turn is next comes first. */
  private readonly waiting = new Map<string, (() => void)[]>()

  constructor(most: number, mostOfOne = most) {
    this.most = most
    this.mostOfOne = mostOfOne
  }

  /** Whether all are taken. */
  get isFull(): boolean {
    return this.taken >= this.most
  }

  /** Changes how many there are from the next on. */
  allow(most: number): void {
    this.most = most
    this.wake()
  }

  /** @throws the reason of the signal, if it comes before the turn */
  async take<T>(account: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    if (this.canTake(account) && this.waiting.size === 0) this.give(account)
    else await this.wait(account, signal)
    try {
      return await work()
    } finally {
      this.taken--
      this.takenBy.set(account, this.takenBy.get(account)! - 1)
      if (this.takenBy.get(account) === 0) this.takenBy.delete(account)
      this.wake()
    }
  }

  private canTake(account: string): boolean {
    return this.taken < this.most && (this.takenBy.get(account) ?? 0) < this.mostOfOne
  }

  private give(account: string): void {
    this.taken++
    this.takenBy.set(account, (this.takenBy.get(account) ?? 0) + 1)
  }

  private wait(account: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const mine = this.waiting.get(account) ?? []
    const leave = () => {
      mine.splice(mine.indexOf(go), 1)
      if (mine.length === 0) this.waiting.delete(account)
      reject(signal.reason)
    }
    const go = () => {
      signal.removeEventListener('abort', leave)
      resolve()
    }
    mine.push(go)
    this.waiting.set(account, mine)
    signal.addEventListener('abort', leave)
    this.wake()
    return promise
  }

  private wake(): void {
    for (const [account, mine] of this.waiting) {
      if (mine.length > 0 && this.canTake(account)) {
        this.give(account)
        this.waiting.delete(account)
        const next = mine.shift()!
        // The rest of the account waits behind the others.
        if (mine.length > 0) this.waiting.set(account, mine)
        next()
      }
      if (this.taken >= this.most) return
    }
  }
}

/** Work that others wait for: answers, to which forecasts give way. */
export class Foreground {
  private underWay = 0
  private readonly waiting = new Set<() => void>()

  /** Whoever waits for quiet waits until this has ended. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.underWay++
    try {
      return await work()
    } finally {
      this.underWay--
      if (this.underWay === 0) for (const go of this.waiting) go()
    }
  }

  /** Waits until no such work is under way, but no longer than this. */
  async quiet(mostMs: number): Promise<void> {
    if (this.underWay === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, mostMs)
    this.waiting.add(resolve)
    await promise
    clearTimeout(timer)
    this.waiting.delete(resolve)
  }
}
