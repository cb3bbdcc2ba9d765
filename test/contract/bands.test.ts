import { expect, test } from 'vitest'
import { type Band, bandsAt, mayBeOfBand } from '../../src/contract/bands.ts'
import { parseContract } from '../../src/contract/load.ts'

const band = (name: string, minBalance: number, maxBalance: number | null) =>
  ({ name, minBalance, maxBalance }) as Band
const namesAt = (balance: number, bands: readonly Band[]) =>
  bandsAt({ bands }, balance).map(({ name }) => name)

test('a balance with decimals between two bands is of the lower one', () => {
  const bands = [band('low', 0, 99), band('high', 100, null)]
  expect([99, 99.5, 100].map((balance) => namesAt(balance, bands))).toEqual([
    ['low'],
    ['low'],
    ['high'],
  ])
  const shared = [band('low', 0, 100), band('high', 100, 200)]
  expect([100, 100.5, 201].map((balance) => namesAt(balance, shared))).toEqual([
    ['low', 'high'],
    ['high'],
    [],
  ])
})

test('a balance that is known within bounds may be of each band that a balance between them has', () => {
  const bands = [band('low', 0, 99), band('high', 100, null)]
  const within = (low: number, high: number) =>
    bands.filter((each) => mayBeOfBand(each, { low, high })).map(({ name }) => name)
  expect(within(99.2, 100.1)).toEqual(['low', 'high'])
  expect(within(99.5, 99.5)).toEqual(['low'])
  expect(within(100, 101)).toEqual(['high'])
})

test.each(['/v1/chat x', '/v1/chat\nx', '/v1/cha\u0142'])('the path %j is refused', (chat) => {
  expect(() => parseContract({ name: 'g', paths: { chat } }, 'g.yaml')).toThrow(
    'a path that begins with /, of printable ASCII without spaces',
  )
})
