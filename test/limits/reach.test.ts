import { expect, test } from 'vitest'
import { windows } from '../../src/contract/contract.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { reachOf } from '../../src/limits/reach.ts'

test('five of the twelve limits are unreachable with the credits of their band', () => {
  const unreachable = defaultContract.bands.flatMap((band) =>
    windows
      .filter((window) => !reachOf(band, window).reachable)
      .map((window) => [band.name, window]),
  )
  expect(unreachable).toEqual([
    ['1-100', 'hour'],
    ['1-100', 'day'],
    ['101-1000', 'hour'],
    ['101-1000', 'day'],
    ['1001-10000', 'day'],
  ])
})

test('reachable limits come with the time and the balance that they need', () => {
  expect(reachOf(defaultContract.bands[2]!, 'hour')).toEqual({
    reachable: true,
    credits: 7_001,
    minutes: 30,
  })
  expect(reachOf(defaultContract.bands[3]!, 'day')).toEqual({
    reachable: true,
    credits: 110_000,
    minutes: 400,
  })
})
