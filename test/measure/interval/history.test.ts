import { expect, test } from 'vitest'
import { stepsOf } from '../../../src/measure/interval/history.ts'
import { RandomStream } from '../../../src/schedule/random.ts'

function randomOf(seed: number): () => number {
  const draws = new RandomStream(seed, 'shuffles')
  let next = 0
  return () => draws.at(next++)
}

/** 40 builds with a noise of 2 %, whose figure steps after the 30th. */
function builds(seed: number, slower: number, n = 40, after = 30): number[] {
  const draws = new RandomStream(seed, 'builds')
  return Array.from(
    { length: n },
    (_, at) => 100 * Math.exp(0.02 * draws.normal(at)) * (at >= after ? slower : 1),
  )
}

const runs = 100

test('a step of 5 % is found within two builds, one of 3 % in most cases, and chance seldom', {
  tags: 'whole',
}, () => {
  const found = (slower: number) =>
    Array.from({ length: runs }, (_, seed) => stepsOf(builds(seed, slower), randomOf(seed)))
  const near = (slower: number) =>
    found(slower).filter((steps) => steps.some(({ at }) => Math.abs(at - 30) <= 2)).length
  // One look at 40 builds; who looks after every build finds more, with more false alarms (decision 0815).
  expect(near(1.05)).toBeGreaterThanOrEqual(90)
  expect(Math.abs(near(1.03) - 59)).toBeLessThanOrEqual(12)
  expect(found(1).filter((steps) => steps.length > 0).length).toBeLessThanOrEqual(4)
  const [step] = stepsOf(builds(1, 1.05), randomOf(1))
  expect(Math.abs(step!.after / step!.before - 1.05)).toBeLessThan(0.015)
})

test('the flow of the Nile fell after 1898, as everybody finds', () => {
  // Annual flow at Aswan, 1871 to 1970, 10^8 m³: data set "Nile" of R.
  const nile = [
    1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020, 960, 1180,
    799, 958, 1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774, 840, 874, 694, 940, 833,
    701, 916, 692, 1020, 1050, 969, 831, 726, 456, 824, 702, 1120, 1100, 832, 764, 821, 768, 845,
    864, 862, 698, 845, 744, 796, 1040, 759, 781, 865, 845, 944, 984, 897, 822, 1010, 771, 676, 649,
    846, 812, 742, 801, 1040, 860, 874, 848, 890, 744, 749, 838, 1050, 918, 986, 797, 923, 975, 815,
    1020, 906, 901, 1170, 912, 746, 919, 718, 714, 740,
  ]
  expect(stepsOf(nile, randomOf(1))).toEqual([
    { at: 28, before: 1130, after: 842.5, chance: 0.001 },
  ])
})

test('of a staircase, both steps are found, and seldom a false one between them', {
  tags: 'whole',
}, () => {
  const places = Array.from({ length: 40 }, (_, seed) => {
    const stairs = builds(seed, 1, 60).map((value, at) => value * 1.2 ** Math.floor(at / 20))
    return stepsOf(stairs, randomOf(seed)).map(({ at }) => at)
  })
  expect(places.filter((each) => each.length > 2).length).toBeLessThanOrEqual(4)
  const isNear = (each: readonly number[], at: number) => each.some((to) => Math.abs(to - at) <= 2)
  expect(places.filter((each) => isNear(each, 20) && isNear(each, 40)).length).toBeGreaterThan(37)
})

test('several steps are found, ties and outliers do no harm, and few builds tell nothing', {
  tags: 'whole',
}, () => {
  const looks = 20
  const found = (outlier: boolean) =>
    Array.from({ length: looks }, (_, seed) => {
      const two = builds(seed, 1, 60).map((value, at) => value * 1.2 ** Math.floor(at / 20))
      if (outlier) two[50] = 9_999
      return stepsOf(two, randomOf(seed)).map(({ at }) => at)
    }).filter((places) => [20, 40].every((place) => places.some((at) => Math.abs(at - place) <= 2)))
      .length
  expect(found(false)).toBeGreaterThanOrEqual(looks - 1)
  expect(found(true)).toBeGreaterThanOrEqual(looks - 1)
  expect(stepsOf(Array<number>(40).fill(7), randomOf(1))).toEqual([])
  expect(stepsOf(builds(1, 2, 11, 6), randomOf(1))).toEqual([])
})
