import { expect, test } from 'vitest'
import { groupChanges } from '../../../../src/price/judge/changes/kinds.ts'
import { modelOf } from '../../made-requests.ts'
import { changedCosts, millions } from './changed-costs.ts'

const model = modelOf({ price: { input: 4, output: 20, cache_read: 0.4, cache_write: 5 } })
const parts = { input_uncached: 1, cache_read: 2, cache_write: 3, output_visible: 1 }
const of = (more: Parameters<typeof millions>[0]) =>
  changedCosts(groupChanges, { model, usage: millions({ ...parts, ...more }) })

test('several parts of a kind are charged as text, also as text, or not at all', () => {
  // Right is 4 + 0.8 + 15 + 20.
  expect(of({})).toEqual({
    'all cached tokens at the text price': '44',
    'all cached tokens also charged as text': '59.8',
    'all cached tokens free': '24',
    'all audio tokens at the text price': null,
    'all audio tokens also charged as text': null,
    'all audio tokens free': null,
    'all image tokens at the text price': null,
    'all image tokens also charged as text': null,
    'all image tokens free': null,
    'cached tokens subtracted from an input that does not contain them': '31.8',
  })
})

test('a change of a kind needs two of its parts, and one of reads needs reads beside an input', () => {
  const changed = (more: Parameters<typeof of>[0]) =>
    Object.values(of(more)).filter((cost) => cost !== null)
  expect(changed({ cache_write: 0 })).toEqual(['16.8'])
  expect(changed({ cache_read: 0 })).toEqual([])
  expect(changed({ cache_read: 0, cache_write_1h: 1 })).toHaveLength(3)
  expect(changed({ cache_read: null, cache_write: 0 })).toEqual([])
  expect(changed({ cache_write: 0, input_uncached: null })).toEqual([])
  expect(changed({ cache_write: 0, output_visible: null })).toEqual([])
  // One token of each.
  expect(changed({ cache_read: 1e-6, cache_write: 1e-6 })).toHaveLength(4)
})

test('a kind of audio is charged as the text of its side', () => {
  const audio = modelOf({ price: { input: 4, output: 20, input_audio: 40, output_audio: 80 } })
  const usage = millions({ input_audio: 1, output_audio: 2 })
  const costs = changedCosts(groupChanges, { model: audio, usage })
  expect(costs).toMatchObject({
    'all audio tokens at the text price': '44',
    'all audio tokens also charged as text': '244',
    'all audio tokens free': '0',
  })
})
