import { expect, test } from 'vitest'
import { outcomeOf } from './outcome.ts'
import { isBad, shownWorld } from './shrink.ts'
import { drawFaulty, drawHonest, widths } from './world.ts'

/** Some worlds of each kind; `npm run matrix -- money` plays hundreds. */
const seeds = [1, 2, 3, 4, 5, 6, 7, 8]
/** Of eight faults, so many are named by their cause. */
const leastNamed = 6

test.each(
  widths.flatMap((width) => [
    { width, kind: 'honest', draw: drawHonest },
    { width, kind: 'faulty', draw: drawFaulty },
  ]),
)(
  'of eight $width $kind worlds in money, none is accused of what it does not do, and no fault is missed',
  async ({ width, kind, draw }) => {
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
  },
)
