import { expect, test } from 'vitest'
import type { Profile } from '../../src/service/profile.ts'
import { RateTable } from '../../src/service/rates.ts'

const low = { minute: 20, hour: 600, day: 5_000 }
const high = { minute: 60, hour: 2_000, day: 20_000 }

/** What is left in each window after 10 requests in one band, as another band shows it. */
function leftAfter(bandChange: Profile['bandChange'], from: typeof low, to: typeof low) {
  const table = new RateTable('fixed-anchored', bandChange)
  for (let nth = 0; nth < 10; nth++) table.count('key', from, 0)
  const look = table.look('key', to, 1)
  return (['minute', 'hour', 'day'] as const).map((window) => look.window(window).remaining)
}

test('scaled counts keep the used share of each window', () => {
  // 10 of 20, of 600 and of 5,000 are 30 of 60, 33 of 2,000 and 40 of 20,000.
  expect(leftAfter('scaled', low, high)).toEqual([30, 1_967, 19_960])
  expect(leftAfter('scaled', high, low)).toEqual([17, 597, 4_997])
  expect(leftAfter('kept', low, high)).toEqual([50, 1_990, 19_990])
})

test('a band with the same limit of the minute and another of the hour is another band', () => {
  const other = { ...low, hour: 1_200 }
  expect(leftAfter('reset', low, other)).toEqual([20, 1_200, 5_000])
  expect(leftAfter('scaled', low, other)).toEqual([10, 1_180, 4_990])
  expect(leftAfter('reset', low, low)).toEqual([10, 590, 4_990])
})
