import type { MovableClock } from '../../src/service/clock.ts'
import { type Step, TimerHeap } from '../../src/service/timers.ts'

/** What is due later than this waits for a move of the clock. */
const mostJumpUs = 60e6

/**
 * Time that jumps to what is due next once the process has nothing else to do, so that no answer takes real time. Each reading is a
 * microsecond later than the one before, as if work took time.
 */
export function jumpingClock(startUs = Date.now() * 1000): MovableClock {
  const timers = new TimerHeap()
  let now = startUs
  let isArmed = false
  const arm = () => {
    const due = timers.nextDueUs()
    if (isArmed || due === null || due > now + mostJumpUs) return
    isArmed = true
    setImmediate(jump)
  }
  const jump = () => {
    isArmed = false
    const due = timers.nextDueUs()
    if (due === null || due > now + mostJumpUs) return
    now = Math.max(now, Math.ceil(due))
    timers.runUntil(now)
    arm()
  }
  const pace = (dueUs: number, step: Step) => {
    const cancel = timers.add(dueUs, step)
    arm()
    return cancel
  }
  return {
    nowUs: () => ++now,
    pace,
    at: (dueUs, callback) =>
      pace(dueUs, () => {
        callback()
        return null
      }),
    catchUp() {},
    advance(us) {
      const end = now + us
      for (let due = timers.nextDueUs(); due !== null && due <= end; due = timers.nextDueUs()) {
        now = Math.max(now, Math.ceil(due))
        timers.runUntil(now)
      }
      now = Math.max(now, end)
      arm()
    },
  }
}
