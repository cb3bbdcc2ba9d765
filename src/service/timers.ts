/** A function for when a timer is due. Returns when it is due again; null if never. */
export type Step = (nowUs: number) => number | null

interface Timer {
  /** Keeps equal times in the order in which they were added. */
  order: number
  step: Step | null
}

/**
 * A binary heap of timers: a thousand paced streams need one Node timer, not a thousand. The times
 * have their own array, because a thousand timers are scattered over memory, and comparing times is
 * most of a heap's work.
 */
export class TimerHeap {
  readonly #dueUs: number[] = []
  readonly #timers: Timer[] = []
  #order = 0

  /** Returns a function that cancels. */
  add(dueUs: number, step: Step): () => void {
    const timer: Timer = { order: 0, step }
    this.#push(dueUs, timer)
    return () => {
      timer.step = null
    }
  }

  nextDueUs(): number | null {
    while (this.#timers.length > 0 && this.#timers[0]!.step === null) this.#pop()
    return this.#dueUs[0] ?? null
  }

  /** Runs what is due, in order of time. A step can add timers. */
  runUntil(nowUs: number): void {
    for (let due = this.nextDueUs(); due !== null && due <= nowUs; due = this.nextDueUs()) {
      const timer = this.#pop()
      const againUs = timer.step!(nowUs)
      if (againUs === null) timer.step = null
      else if (timer.step !== null) this.#push(againUs, timer)
    }
  }

  #push(dueUs: number, timer: Timer): void {
    timer.order = this.#order++
    let child = this.#timers.push(timer) - 1
    this.#dueUs.push(dueUs)
    // The last place among those due at that time, so that equal times keep their order.
    while (child > 0) {
      const parent = (child - 1) >> 1
      if (this.#dueUs[parent]! <= dueUs) break
      this.#move(parent, child)
      child = parent
    }
    this.#put(child, dueUs, timer)
  }

  #pop(): Timer {
    const top = this.#timers[0]!
    const last = this.#timers.pop()!
    const dueUs = this.#dueUs.pop()!
    const { length } = this.#timers
    if (length === 0) return top
    let parent = 0
    for (;;) {
      let child = 2 * parent + 1
      if (child >= length) break
      if (
        child + 1 < length &&
        this.#isBefore(child + 1, this.#dueUs[child]!, this.#timers[child]!)
      )
        child++
      if (!this.#isBefore(child, dueUs, last)) break
      this.#move(child, parent)
      parent = child
    }
    this.#put(parent, dueUs, last)
    return top
  }

  #isBefore(place: number, dueUs: number, timer: Timer): boolean {
    const own = this.#dueUs[place]!
    return own < dueUs || (own === dueUs && this.#timers[place]!.order < timer.order)
  }

  #move(from: number, to: number): void {
    this.#put(to, this.#dueUs[from]!, this.#timers[from]!)
  }

  #put(place: number, dueUs: number, timer: Timer): void {
    this.#dueUs[place] = dueUs
    this.#timers[place] = timer
  }
}
