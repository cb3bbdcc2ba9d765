import { Heap } from '../user/heap.ts'

/** A function for when a timer is due. Returns when it is due again; null if never. */
export type Step = (nowUs: number) => number | null

interface Timer {
  dueUs: number
  /** Keeps equal times in the order in which they were added. */
  order: number
  step: Step | null
}

/** Timers in order: a thousand paced streams need one Node timer, not a thousand. */
export class TimerHeap {
  readonly #timers = new Heap<Timer>((a, b) => a.dueUs - b.dueUs || a.order - b.order)
  #order = 0

  /** Returns a function that cancels. */
  add(dueUs: number, step: Step): () => void {
    const timer: Timer = { dueUs, order: this.#order++, step }
    this.#timers.push(timer)
    return () => {
      timer.step = null
    }
  }

  nextDueUs(): number | null {
    while (this.#timers.first?.step === null) this.#timers.pop()
    return this.#timers.first?.dueUs ?? null
  }

  /** Runs what is due, in order of time. A step can add timers. */
  runUntil(nowUs: number): void {
    for (let due = this.nextDueUs(); due !== null && due <= nowUs; due = this.nextDueUs()) {
      const timer = this.#timers.first!
      this.#timers.pop()
      const againUs = timer.step!(nowUs)
      if (againUs === null) timer.step = null
      else if (timer.step !== null) {
        timer.dueUs = againUs
        timer.order = this.#order++
        this.#timers.push(timer)
      }
    }
  }
}
