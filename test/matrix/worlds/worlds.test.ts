import { expect, test } from 'vitest'
import { sumOf } from './amounts.ts'
import { outcomeOf } from './outcome.ts'
import { play as playWorld } from './play.ts'
import { isBad, shownWorld } from './shrink.ts'
import { drawFaulty, drawHonest, widths } from './world.ts'

const kinds = widths.flatMap((width) => [
  { width, kind: 'honest', draw: drawHonest },
  { width, kind: 'faulty', draw: drawFaulty },
])

/**
 * Plays some worlds of a kind; `npm run matrix -- money` plays hundreds.
 *
 * @param leastNamed of the faults, so many are named by their cause
 */
async function play(
  { width, kind, draw }: (typeof kinds)[number],
  seeds: readonly number[],
  leastNamed: number,
): Promise<void> {
  const bad: string[] = []
  let named = 0
  for (const seed of seeds) {
    const world = draw(seed, width)
    const outcome = await outcomeOf(world)
    if (outcome.is === 'by cause') named++
    if (isBad(outcome)) bad.push(shownWorld(world, outcome))
  }
  expect(bad).toEqual([])
  if (kind === 'faulty') expect(named).toBeGreaterThanOrEqual(leastNamed)
}
const title = (count: string) =>
  `of ${count} $width $kind worlds in money, none is accused of what it does not do, and no fault is missed`

test.each(kinds)(title('two'), (each) => play(each, [1, 2], 1))
test.each(kinds)(title('six further'), { tags: 'whole' }, (each) =>
  play(each, [3, 4, 5, 6, 7, 8], 5),
)

test('a reading at the very end of a request has its charge, however its seconds add up', () => {
  // 27.4 + 2.5 is 29.9, and the last reading is sent at 29.899999999999995.
  const { shown, postings } = playWorld(drawHonest(50_186))
  const own = postings.filter(({ account }) => account === 'other')
  expect(shown.findLast(({ account }) => account === 'other')?.taken).toBe(
    sumOf(own.map(({ amount }) => amount)),
  )
})
