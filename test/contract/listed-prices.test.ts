import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { mixedRounding } from '../../src/contract/listed-prices.ts'
import { promises } from '../../src/contract/promises.ts'

type Row = readonly [cents: number, listed: number]
const packages = (...rows: readonly Row[]) =>
  rows.map(([priceUsdCents, listedUsdPerCredit], at) => ({
    ...defaultContract.packages[0]!,
    ...{ name: `p${at}`, credits: 3, priceUsdCents, listedUsdPerCredit },
  }))

test('prices that are all rounded, or all cut off, follow one way', () => {
  expect(mixedRounding(packages([2, 0.0067], [1, 0.0033]))).toBeNull()
  expect(mixedRounding(packages([2, 0.0066], [1, 0.0033]))).toBeNull()
})

test('a half is rounded up', () => {
  const starter = { ...packages([2850, 0.0713])[0]!, credits: 400 }
  expect(mixedRounding([starter, { ...starter, listedUsdPerCredit: 0.0713 }])).toBeNull()
  expect(mixedRounding([{ ...starter, listedUsdPerCredit: 0.0712 }])).toBeNull()
  expect(mixedRounding([{ ...starter, listedUsdPerCredit: 0.0714 }])).toContain('neither')
})

test('a rounded price and a cut-off price are named, and one that is neither', () => {
  expect(mixedRounding(packages([2, 0.0067], [2, 0.0066], [1, 0.0033]))).toBe(
    'p0 0.00667 is listed as 0.0067 (rounded); p1 0.00667 is listed as 0.0066 (cut off); p2 0.00333 is listed as 0.0033 (rounded or cut off)',
  )
  expect(mixedRounding(packages([2, 0.007]))).toBe('p0 0.00667 is listed as 0.007 (neither)')
})

test('a list that mixes the ways promises neither, and nor does an empty one', () => {
  const promised = (...rows: readonly Row[]) =>
    promises({ ...defaultContract, packages: packages(...rows) }, [
      'packages.listed_usd_per_credit',
    ])
  expect(promised([2, 0.0067], [1, 0.0033])).toBe(true)
  expect(promised([2, 0.0067], [2, 0.0066])).toBe(false)
  expect(promised()).toBe(false)
})
