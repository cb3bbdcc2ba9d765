import { expect, test } from 'vitest'
import { asksForCalls, pricesCalls } from '../../src/price/calls.ts'
import { modelOf } from './made-requests.ts'

test('a request asks for calls by tools of the service, images, an online model, or a search', () => {
  const asking = [
    { tools: [{ type: 'function' }, { type: 'web_search' }] },
    { modalities: ['text', 'image'] },
    { model: 'm:online' },
    { web_search_options: {} },
    { model: 'm', plugins: [] },
  ]
  const plain = [
    {},
    { model: 'm' },
    { model: 'online' },
    { tools: [{ type: 'function' }, { type: 'custom' }, {}] },
    { tools: [] },
    { tools: ['web_search'] },
    { tools: 'web_search' },
    { modalities: ['text'] },
    { modalities: 'image' },
    { model: [':online'], messages: [] },
  ]
  expect(asking.map(asksForCalls)).toEqual(asking.map(() => true))
  expect(plain.map(asksForCalls)).toEqual(plain.map(() => false))
})

test('a price of calls is one of neither tokens nor requests', () => {
  const prices = [{ input: 1, request: 2 }, { input: 1, search: 2 }, { second: 1 }]
  expect(prices.map((price) => pricesCalls(modelOf({ price })))).toEqual([false, true, true])
})
