import { expect, test } from 'vitest'
import { feeChanges } from '../../../../src/price/judge/changes/fees.ts'
import { modelOf } from '../../made-requests.ts'
import { changedCosts } from './changed-costs.ts'

test('a price of requests is charged never, twice, or for each second from the second one on', () => {
  const model = modelOf({ price: { input: 4, request: 0.01 } })
  const told = (ms: number) =>
    changedCosts(feeChanges([model]), {
      ...{ model, counts: { request: 1 } },
      of: { startMs: 10_000, endMs: 10_000 + ms },
    })
  expect(told(2_100)).toEqual({
    'request free': '0',
    'request charged twice': '0.02',
    'the price of a request charged per second': '0.03',
  })
  expect(told(1_001)).toMatchObject({ 'the price of a request charged per second': '0.02' })
  expect(told(1_000)).toMatchObject({ 'the price of a request charged per second': null })
})

test('seconds are charged by another count: exact, as whole numbers or minutes, or as a least count', () => {
  const model = modelOf({ price: { second: { price: 0.1, per: 1, minimum: 10, step: 2 } } })
  const told = changedCosts(feeChanges([model]), { model, counts: { second: 7 } })
  expect(told).toMatchObject({
    'second free': '0',
    'second charged twice': '2',
    'second charged without one': null,
    'second by its exact count, not rounded up': '0.7',
    'second rounded up to whole numbers': '1',
    'second rounded up to whole minutes': '6',
    'second counted as 5 at least': '0.8',
    'second counted as 15 at least': '1.5',
    'second counted as 100 at least': '10',
  })
})

test('a call that was not made is charged, and only seconds have minutes', () => {
  const model = modelOf({ price: { search: { price: 10, per: 1_000 } } })
  const told = (search?: number) =>
    changedCosts(feeChanges([model]), {
      model,
      counts: search === undefined ? {} : { search },
    })
  const [unmade, once] = ['search charged without one', 'search by its exact count, not rounded up']
  expect(told()).toMatchObject({ [unmade]: '0.01' })
  expect(told(0)).toMatchObject({ [unmade]: '0.01' })
  expect(told(1)).toMatchObject({
    [unmade]: null,
    [once]: null,
    'search charged twice': '0.02',
  })
  expect(Object.keys(told(1)).filter((summary) => summary.includes('minutes'))).toEqual([])
  expect(feeChanges([modelOf({ price: { input: 4, output: 20 } })])).toEqual([])
})

test('the exact count differs where a price has a least count or a step alone', () => {
  for (const more of [{ minimum: 10 }, { step: 10 }]) {
    const model = modelOf({ price: { second: { price: 0.1, per: 1, ...more } } })
    expect(changedCosts(feeChanges([model]), { model, counts: { second: 7 } })).toMatchObject({
      'second by its exact count, not rounded up': '0.7',
    })
  }
})
