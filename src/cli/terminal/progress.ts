import { plainText } from '../../user/hostile.ts'
import type { WorkProgress } from '../../user/work.ts'
import { LiveView } from '../runs/live-view.ts'

/** Interval of redraws, and the time before work shows anything. */
const drawEveryMs = 200
const quietMs = 500

/** Shows the progress of work, and lines that stay. */
export interface Shown {
  readonly onProgress: (progress: WorkProgress) => void
  readonly say: (line: string) => void
}

/** Does long work and shows on stderr its current part, its progress and the remaining time. */
export async function shown<T>(
  work: (view: Shown) => Promise<T>,
  live: LiveView = new LiveView(),
  now: () => number = () => performance.now(),
): Promise<T> {
  const beganMs = now()
  let last: WorkProgress | null = null
  const draw = () => {
    const tookMs = now() - beganMs
    if (last === null || tookMs < quietMs) return
    const line = progressLine(last, tookMs)
    live.draw(tookMs, ({ columns }) => [line.slice(0, columns)], line)
  }
  const timer = setInterval(draw, drawEveryMs)
  try {
    return await work({
      onProgress: (progress) => {
        last = progress
        draw()
      },
      say: (line) => live.say(line),
    })
  } finally {
    clearInterval(timer)
    live.clear()
  }
}

/** `rule BILL-07 | 6 of 102 done | 12 s | about 190 s left`; assumes that all parts take equally long. */
export function progressLine({ doing, done, of }: WorkProgress, tookMs: number): string {
  const seconds = (ms: number) => `${(ms / 1000).toFixed(0)} s`
  const left = done === 0 ? [] : [`about ${seconds((tookMs / done) * (of - done))} left`]
  return [plainText(doing), `${done} of ${of} done`, seconds(tookMs), ...left].join(' | ')
}
