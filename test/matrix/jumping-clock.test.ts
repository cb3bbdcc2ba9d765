import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { jumpingClock } from './jumping-clock.ts'

test('a jumping clock does what is due in order of time, at its time, and no day of real time passes', async () => {
  const clock = jumpingClock(0)
  const seen: (readonly [string, number])[] = []
  const note = (name: string) => () => seen.push([name, Math.round(clock.nowUs() / 1000)])
  clock.at(40_000, note('later'))
  clock.at(30_000, note('sooner'))
  clock.at(86_400e6, note('tomorrow'))
  await wait(5)
  expect(seen).toEqual([
    ['sooner', 30],
    ['later', 40],
  ])
  clock.advance(86_400e6)
  expect(seen.at(-1)).toEqual(['tomorrow', 86_400_000])
})
