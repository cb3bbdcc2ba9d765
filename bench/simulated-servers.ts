/** Servers of known capacity in simulated time, for `bench/safe-rate.ts`. Times are in seconds. */

/** Uniform numbers in [0, 1) by a seed (mulberry32). */
export type Random = () => number

export function randomOf(name: string): Random {
  let state = 2166136261
  for (const letter of name) state = Math.imul(state ^ letter.charCodeAt(0), 16777619)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

export const exponential = (random: Random) => -Math.log(1 - random())

export interface Answer {
  /** The time that the objective judges. */
  readonly judgedS: number
  readonly endS: number
  readonly limited?: boolean
  /** Seconds that a refusal asks to wait. */
  readonly retryS?: number
}

export interface Server {
  /** Serves arrivals in order; the state stays for the next call. */
  serve(arrivals: readonly number[], isUnique: boolean): readonly Answer[]
  /** Forgets the last arrivals, which were never sent: nothing is in flight at `nowS`. */
  windBack(nowS: number, unsent: number): void
  /** The capacity now, if it changes. */
  capacityNow?(): number
}

/** Workers with one queue, first come first served; `timeOf` draws a service time. */
class Queue implements Server {
  private workers: number[]
  protected served = 0
  private readonly timeOf: (served: number, startS: number) => number

  constructor(workers: number, timeOf: (served: number, startS: number) => number) {
    this.workers = new Array<number>(workers).fill(0)
    this.timeOf = timeOf
  }

  serve(arrivals: readonly number[]): readonly Answer[] {
    return arrivals.map((atS) => this.one(atS))
  }

  one(atS: number): Answer {
    const { workers } = this
    let first = 0
    for (let at = 1; at < workers.length; at++) if (workers[at]! < workers[first]!) first = at
    const startS = Math.max(atS, workers[first]!)
    const endS = startS + this.timeOf(this.served++, startS)
    workers[first] = endS
    return { judgedS: endS - atS, endS }
  }

  windBack(nowS: number, unsent: number): void {
    this.served -= unsent
    this.workers = this.workers.map(() => nowS)
  }
}

/** M/M/1 that becomes slower with each request. */
class Leak extends Queue {
  private readonly meanS: number
  private readonly leak: number

  constructor(random: Random, meanS: number, leak: number) {
    super(1, (served) => exponential(random) * meanS * (1 + leak * served))
    this.meanS = meanS
    this.leak = leak
  }

  capacityNow(): number {
    return 1 / (this.meanS * (1 + this.leak * this.served)) - Math.log(20)
  }
}

/** Stalls: no request starts or goes on in the first `stallS` of each period. */
function stalled(startS: number, workS: number, periodS: number, stallS: number): number {
  let atS = startS
  let leftS = workS
  for (;;) {
    const inPeriodS = atS % periodS
    if (inPeriodS < stallS) atS += stallS - inPeriodS
    const roomS = periodS - (atS % periodS)
    if (leftS <= roomS) return atS + leftS - startS
    atS += roomS
    leftS -= roomS
  }
}

/** Several servers; each request goes to one by chance, as behind a router that does not look at queues. */
class Replicas implements Server {
  private readonly queues: readonly Queue[]
  private readonly random: Random

  constructor(random: Random, queues: readonly Queue[]) {
    this.random = random
    this.queues = queues
  }

  serve(arrivals: readonly number[]): readonly Answer[] {
    return arrivals.map((atS) =>
      this.queues[Math.floor(this.random() * this.queues.length)]!.one(atS),
    )
  }

  windBack(nowS: number): void {
    for (const queue of this.queues) queue.windBack(nowS, 0)
  }
}

/** A token bucket before a server: a request without a token is refused at once. */
class Limited implements Server {
  private tokens: number
  private atS = 0
  private readonly inner: Queue
  private readonly perS: number
  private readonly burst: number

  constructor(inner: Queue, perS: number, burst: number) {
    this.inner = inner
    this.perS = perS
    this.burst = burst
    this.tokens = burst
  }

  serve(arrivals: readonly number[]): readonly Answer[] {
    return arrivals.map((atS) => {
      this.tokens = Math.min(this.burst, this.tokens + (atS - this.atS) * this.perS)
      this.atS = atS
      if (this.tokens < 1) return { judgedS: Infinity, endS: atS + 0.005, limited: true }
      this.tokens--
      return this.inner.one(atS)
    })
  }

  windBack(nowS: number): void {
    this.inner.windBack(nowS, 0)
    this.atS = nowS
  }
}

/** A fixed window before a server: above its count, a request is refused at once, with the seconds until the next window. */
class Windowed implements Server {
  /** Requests that each window has admitted. */
  private readonly used = new Map<number, number>()
  /** The window of each request of the last call that was admitted; null for a refusal. */
  private last: (number | null)[] = []
  private readonly inner: Queue
  private readonly count: number
  private readonly windowS: number
  private readonly beganS: number

  /** @param beganS seconds of the first window that have passed before the search */
  constructor(inner: Queue, count: number, windowS: number, beganS: number) {
    this.inner = inner
    this.count = count
    this.windowS = windowS
    this.beganS = beganS
  }

  serve(arrivals: readonly number[]): readonly Answer[] {
    this.last = []
    return arrivals.map((atS) => {
      const window = Math.floor((atS + this.beganS) / this.windowS)
      const used = this.used.get(window) ?? 0
      const isAdmitted = used < this.count
      this.last.push(isAdmitted ? window : null)
      if (isAdmitted) {
        this.used.set(window, used + 1)
        return this.inner.one(atS)
      }
      // Retry-After has whole seconds.
      const retryS = Math.ceil((window + 1) * this.windowS - this.beganS - atS)
      return { judgedS: Infinity, endS: atS + 0.005, limited: true, retryS }
    })
  }

  windBack(nowS: number, unsent: number): void {
    this.inner.windBack(nowS, 0)
    for (const window of unsent === 0 ? [] : this.last.slice(-unsent)) {
      if (window !== null) this.used.set(window, this.used.get(window)! - 1)
    }
  }
}

/** One worker at first; another starts after each `everyS` in which requests waited, up to `most`. */
class Scaling implements Server {
  private workers = [0]
  private nextS = 0
  private readonly most: number
  private readonly everyS: number
  private readonly workS: number

  constructor(most: number, everyS: number, workS: number) {
    this.most = most
    this.everyS = everyS
    this.workS = workS
  }

  serve(arrivals: readonly number[]): readonly Answer[] {
    return arrivals.map((atS) => {
      this.workers.sort((a, b) => a - b)
      const waitS = Math.max(0, this.workers[0]! - atS)
      if (waitS > 0.2 && atS >= this.nextS && this.workers.length < this.most) {
        this.nextS = atS + this.everyS
        this.workers.push(atS + this.everyS)
      }
      const endS = Math.max(atS, this.workers[0]!) + this.workS
      this.workers[0] = endS
      return { judgedS: endS - atS, endS }
    })
  }

  windBack(nowS: number): void {
    this.workers = this.workers.map(() => nowS)
  }
}

interface BatchOptions {
  readonly prefillS?: number
  /** Prefill of a prompt that the cache holds; null without a cache. */
  readonly cachedS?: number | null
  /** Requests until it is warm; each takes four times as long. */
  readonly cold?: number
}

/** Continuous batching: 8 slots, a step of 8 ms and 1.6 ms for each active request, 16 to 64 tokens; a prefill blocks. */
class Batch implements Server {
  private readonly random: Random
  private readonly prefillS: number
  private readonly cachedS: number | null
  private readonly cold: number
  private nowS = 0
  private step = 0
  private active: { readonly untilStep: number; readonly at: number }[] = []
  private served = 0
  private readonly cached = new Set<number>()

  constructor(random: Random, { prefillS = 0.024, cachedS = null, cold = 0 }: BatchOptions = {}) {
    this.random = random
    this.prefillS = prefillS
    this.cachedS = cachedS
    this.cold = cold
  }

  serve(arrivals: readonly number[], isUnique: boolean): readonly Answer[] {
    const judged = new Array<number>(arrivals.length).fill(0)
    const ends = new Array<number>(arrivals.length).fill(0)
    let next = 0
    while (next < arrivals.length || this.active.length > 0) {
      if (this.active.length === 0 && arrivals[next]! > this.nowS) this.nowS = arrivals[next]!
      while (next < arrivals.length && this.active.length < 8 && arrivals[next]! <= this.nowS) {
        this.nowS += this.prefill(isUnique)
        judged[next] = this.nowS - arrivals[next]!
        const untilStep = this.step + 16 + Math.floor(this.random() * 49)
        this.active.push({ untilStep, at: next })
        next++
      }
      const slow = this.served <= this.cold ? 4 : 1
      const stepS = (0.008 + 0.0016 * this.active.length) * slow
      let steps = Math.min(...this.active.map(({ untilStep }) => untilStep)) - this.step
      if (next < arrivals.length && this.active.length < 8) {
        steps = Math.min(steps, Math.max(1, Math.ceil((arrivals[next]! - this.nowS) / stepS)))
      }
      this.nowS += steps * stepS
      this.step += steps
      this.active = this.active.filter(({ untilStep, at }) => {
        if (untilStep > this.step) return true
        ends[at] = this.nowS
        return false
      })
    }
    return arrivals.map((_, at) => ({ judgedS: judged[at]!, endS: ends[at]! }))
  }

  private prefill(isUnique: boolean): number {
    this.served++
    let seconds = this.prefillS
    if (this.cachedS !== null && !isUnique) {
      const prompt = Math.floor(this.random() * 16)
      if (this.cached.has(prompt)) seconds = this.cachedS
      this.cached.add(prompt)
    }
    return seconds * (this.served <= this.cold ? 4 : 1)
  }

  windBack(nowS: number, unsent: number): void {
    this.served -= unsent
    this.nowS = nowS
    this.active = []
  }
}

export interface SimulatedServer {
  readonly title: string
  readonly make: (random: Random, isCold?: boolean) => Server
  /** The exact capacity, if there is a formula. */
  readonly exact?: number
  /** Whether its capacity stays the same. */
  readonly isSteady: boolean
}

const mm1 = 10 - Math.log(20)

export const simulatedServers: Readonly<Record<string, SimulatedServer>> = {
  mm1: {
    title: 'M/M/1, mean 0.1 s',
    make: (random) => new Queue(1, () => exponential(random) * 0.1),
    exact: mm1,
    isSteady: true,
  },
  mm8: {
    title: 'M/M/8, mean 0.2 s',
    make: (random) => new Queue(8, () => exponential(random) * 0.2),
    isSteady: true,
  },
  mdc: { title: 'M/D/4, 0.4 s', make: () => new Queue(4, () => 0.4), isSteady: true },
  batch: { title: '8 slots', make: (random) => new Batch(random), isSteady: true },
  prefix: {
    title: '8 slots, prefix cache',
    make: (random) => new Batch(random, { prefillS: 0.25, cachedS: 0.02 }),
    isSteady: true,
  },
  slow: {
    title: '8 slots, a slow prefill',
    make: (random) => new Batch(random, { prefillS: 0.35 }),
    isSteady: true,
  },
  warm: {
    title: '8 slots, cold at first',
    make: (random, isCold = true) => new Batch(random, { cold: isCold ? 60 : 0 }),
    isSteady: true,
  },
  leak: {
    title: 'M/M/1, 1 % slower per 500',
    make: (random) => new Leak(random, 0.1, 0.00002),
    exact: mm1,
    isSteady: false,
  },
  replicas: {
    title: '3 replicas, random router',
    make: (random) =>
      new Replicas(
        random,
        Array.from({ length: 3 }, () => new Queue(1, () => exponential(random) * 0.15)),
      ),
    isSteady: true,
  },
  stalls: {
    title: 'M/M/1, stalls 1.2 s in 40 s',
    make: (random) =>
      new Queue(1, (_, startS) => stalled(startS, exponential(random) * 0.1, 40, 1.2)),
    isSteady: true,
  },
  limiter: {
    title: 'M/D/4, limit of 5/s',
    make: () => new Limited(new Queue(4, () => 0.4), 5, 10),
    isSteady: true,
  },
  minute: {
    title: 'M/M/8, 60 a minute',
    make: (random) =>
      new Windowed(new Queue(8, () => exponential(random) * 0.2), 60, 60, random() * 60),
    exact: 1,
    isSteady: true,
  },
  minutes: {
    title: 'M/M/8, 600 a minute',
    make: (random) =>
      new Windowed(new Queue(8, () => exponential(random) * 0.2), 600, 60, random() * 60),
    exact: 10,
    isSteady: true,
  },
  tail: {
    title: 'M/G/1, heavy tail',
    make: (random) =>
      // Nine of ten take 50 ms, one takes half a second: mean 95 ms.
      new Queue(1, () => (random() < 0.9 ? 0.05 : 0.5)),
    isSteady: true,
  },
  scaling: {
    title: '1 to 4 workers, one each 30 s',
    make: () => new Scaling(4, 30, 0.4),
    isSteady: true,
  },
}

/** Arrivals of a trial: exactly as many, at random places. */
export function bridge(
  random: Random,
  requests: number,
  perS: number,
  fromS: number,
): readonly number[] {
  const spanS = requests / perS
  return Array.from({ length: requests }, () => fromS + random() * spanS).sort((a, b) => a - b)
}

export function poisson(
  random: Random,
  perS: number,
  seconds: number,
  fromS: number,
): readonly number[] {
  const arrivals: number[] = []
  for (let atS = fromS; ; ) {
    atS += exponential(random) / perS
    if (atS >= fromS + seconds) return arrivals
    arrivals.push(atS)
  }
}

/** The capacity for 95 % within a second, by 300,000 requests at each rate. */
export function capacityOf({ make, exact }: SimulatedServer, name: string): number {
  if (exact !== undefined) return exact
  let [low, high] = [0.2, 64]
  for (let round = 0; round < 15; round++) {
    const perS = (low + high) / 2
    const random = randomOf(`${name} capacity`)
    const answers = make(random, false).serve(bridge(random, 300_000, perS, 0), true)
    const judged = answers.slice(15_000)
    const good = judged.filter(({ judgedS }) => judgedS <= 1).length / judged.length
    if (good >= 0.95) low = perS
    else high = perS
  }
  return (low + high) / 2
}
