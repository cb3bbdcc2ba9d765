import { type MovableClock, once } from '../../src/service/clock.ts'
import { TimerHeap } from '../../src/service/timers.ts'

/** Time that moves only when it is advanced. */
export function manualClock(startUs: number): MovableClock {
  const timers = new TimerHeap()
  let now = startUs
  return {
    nowUs: () => now,
    at: (dueUs, callback) => timers.add(dueUs, once(callback)),
    pace: (dueUs, step) => timers.add(dueUs, step),
    // Time stands still, and each move runs all that is due.
    catchUp() {},
    advance(us) {
      const end = now + us
      for (let due = timers.nextDueUs(); due !== null && due <= end; due = timers.nextDueUs()) {
        now = Math.max(now, due)
        timers.runUntil(now)
      }
      now = end
    },
  }
}
