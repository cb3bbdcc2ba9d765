import { expect, test } from 'vitest'
import { countsOf } from '../../src/probe/questions/keys.ts'
import { probeService } from './probing.ts'

const shown = (rateRemaining: number | null, rateLimit = 60) => ({ rateLimit, rateRemaining })
const falling = [59, 58, 57, 56, 55, 54]
const open = {
  status: 'not-askable',
  why: 'no answer shows what remains, or it does not fall by one',
}

test.each([
  ['fresh', 59, 53],
  ['inherited', 53, 53],
  // One count for both keys.
  ['inherited', 53, 52],
])('a second key that is %s shows %i of 60', (counts, ofSecond, after) => {
  const first = [...falling, after].map((remaining) => shown(remaining))
  expect(countsOf(first, shown(ofSecond))).toMatchObject({ status: 'answered', is: { counts } })
})

test.each([
  ['where nothing remains after any request', [0, 0, 0, 0, 0, 0, 0], 0],
  ['where a window ended while the first key was used', [55, 54, 59, 58, 57, 56, 55], 59],
  ['where a window ended right before the second key', [...falling, 59], 59],
])('counts of a second key stay open %s', (_, remaining, ofSecond) => {
  const first = remaining.map((each) => shown(each))
  expect(countsOf(first, shown(ofSecond))).toEqual(open)
})

test('a second key that looks fresh stays open if the first key then shows another window', () => {
  const first = [...falling.map((each) => shown(each)), shown(1990, 2000)]
  expect(countsOf(first, shown(59))).toMatchObject({
    status: 'ambiguous',
    between: { counts: ['fresh', 'inherited'] },
  })
})

test.each([
  ['gcra', 'fresh', open],
  ['fixed-anchored', 'fresh', { status: 'answered', is: { counts: 'fresh' } }],
  ['fixed-anchored', 'inherited', { status: 'answered', is: { counts: 'inherited' } }],
] as const)(
  'under %s, counts of a new key that are %s',
  { tags: 'whole' },
  async (algorithm, newKey, told) => {
    const { profile } = await probeService({ profile: { algorithm, newKey }, only: ['G-36'] })
    expect(profile.answers['G-36']).toMatchObject(told)
  },
)

test('one key in both variables leaves the counts of a second key not askable', async () => {
  const { profile } = await probeService({ secondKey: 'same', only: ['G-36'] })
  expect(profile.answers['G-36']).toEqual({
    status: 'not-askable',
    why: 'ASSAY_API_KEY_2 holds the same key as ASSAY_API_KEY; it takes a second one of the same account',
  })
})
