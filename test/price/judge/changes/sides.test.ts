import { expect, test } from 'vitest'
import { sideChanges } from '../../../../src/price/judge/changes/sides.ts'
import { modelOf } from '../../made-requests.ts'
import { changedCosts, millions } from './changed-costs.ts'

const model = modelOf({ price: { input: 4, output: 20, cache_read: 0.4, request: 0.01 } })
const [also, exchanged] = [
  'the whole prompt also charged as output',
  'the prices of input and output exchanged',
]

test('a prompt is charged as output besides, or with the price of the output', () => {
  const usage = millions({ input_uncached: 1, cache_read: 2, output_visible: 3 })
  // Right is 4 + 0.8 + 60 + 0.01.
  expect(changedCosts(sideChanges, { model, usage, counts: { request: 1 } })).toEqual({
    [also]: '124.81',
    [exchanged]: '32.81',
  })
})

test('thinking that has the price of the output is exchanged with it', () => {
  const usage = millions({ input_uncached: 1, output_visible: 1, reasoning: 3 })
  expect(changedCosts(sideChanges, { model, usage, counts: { request: 1 } })[exchanged]).toBe(
    '36.01',
  )
  const thought = millions({ input_uncached: 1, output_visible: 0, reasoning: 3 })
  expect(
    changedCosts(sideChanges, { model, usage: thought, counts: { request: 1 } })[exchanged],
  ).toBe('32.01')
})

test('without a count or a price of one side, nothing is exchanged', () => {
  const open = millions({ input_uncached: null, output_visible: 3 })
  expect(changedCosts(sideChanges, { model, usage: open })).toEqual({
    [also]: null,
    [exchanged]: null,
  })
  const usage = millions({ input_uncached: 1, output_visible: 0 })
  const input = modelOf({ price: { input: 4 } })
  expect(changedCosts(sideChanges, { model: input, usage })).toEqual({
    [also]: null,
    [exchanged]: null,
  })
})
