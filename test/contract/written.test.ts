import { expect, test } from 'vitest'
import { parseContract } from '../../src/contract/load.ts'
import { writtenContract } from '../../src/contract/written.ts'

const model = { id: 'a', price: { input: 1 } }
const quota = { currency: 'quota', is: { USD: 500_000 }, models: [model] }
const withLimit = (limit: unknown) => ({
  ...quota,
  evidence: { balance: { get: '/k', value: 'info.spend', moves: 'up', in: 'USD', limit } },
})
const credits = { header: 'x-b', in: 'USD', lowest: -50, limit: { value: 3, in: 'quota' } }

test.each([
  ['a limit in the unit of the value', withLimit(100)],
  [
    'a limit in another unit',
    {
      ...quota,
      evidence: { balance: { value: 'i.s', get: '/k', limit: { value: 100, in: 'USD' } } },
    },
  ],
  [
    'a limit at a place in another unit',
    {
      ...quota,
      evidence: { balance: { value: 'i.s', get: '/k', limit: { value: 'i.max', in: 'USD' } } },
    },
  ],
  ['a limit of its own beside a value in another', { ...quota, evidence: { balance: credits } }],
  [
    'a price of more digits than a double has',
    {
      currency: 'quota',
      models: [{ id: 'a', ratios: { model: 0.071428571, completion: 4.6666667 } }],
    },
  ],
  [
    'a factor of more digits',
    {
      is: { CNY: 7.1234567 },
      models: [model],
      evidence: { cost: [{ body: 'u.c', in: 'CNY', times: 0.123456789 }] },
    },
  ],
])('a contract that is shown is read again with the same prices: %s', (_, given) => {
  const before = parseContract(given, 'c.yaml').prices!
  const shown = JSON.parse(JSON.stringify(writtenContract(parseContract(given, 'c.yaml'))))
  const after = parseContract(shown, 'c.yaml').prices!
  expect([after.is, after.evidence]).toEqual([before.is, before.evidence])
  // It also writes what a price of images or of caches is left out for.
  expect(after.models[0]!.price).toMatchObject(before.models[0]!.price)
})
