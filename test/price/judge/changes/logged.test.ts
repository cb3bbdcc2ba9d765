import { expect, test } from 'vitest'
import { one } from '../../../../src/money/rational.ts'
import { loggedChanges } from '../../../../src/price/judge/changes/logged.ts'
import type { Parts, Usage } from '../../../../src/tokens/usage.ts'
import { modelOf } from '../../made-requests.ts'
import { changedCosts, millions } from './changed-costs.ts'

const model = modelOf({ price: { input: 4, output: 20 } })
const own = {
  ...{ input_uncached: 100, cache_read: 20, cache_write: 30, cache_write_1h: 10 },
  ...{ output_visible: 50, reasoning: 5 },
}
const nothing = {
  ...{ prompt: null, completion: null, cache_read: null },
  ...{ cache_write: null, cache_write_1h: null, reasoning: null },
}

/** The counts that the log makes of the answer's own, where they differ; null if it says the same. */
function counted(
  logged: Partial<typeof nothing | Record<string, number>>,
  parts: Partial<Parts> = own,
) {
  const usage = millions(parts)
  const exact = { ...usage, parts: { ...usage.parts, ...parts } }
  let seen: Usage | null = null
  const change = {
    ...{ summary: 'a change', about: 'input' },
    costOf: (_: unknown, __: unknown, changed: Usage) => {
      seen = changed
      return one
    },
  }
  const told = changedCosts(
    loggedChanges(() => ({ ...nothing, ...logged }), [change]),
    { model, usage: exact },
  )
  expect(Object.keys(told)).toEqual(['a change, by the counts of the log'])
  expect(told['a change, by the counts of the log']).toBe(seen === null ? null : '1')
  if (seen === null) return null
  const found = (seen as Usage).parts
  return Object.fromEntries(
    Object.entries(found).filter(([part, count]) => count !== exact.parts[part as keyof Parts]),
  )
}

test('what the log has in all is less its parts', () => {
  expect(counted({})).toBeNull()
  expect(counted({ prompt: 160, completion: 55 })).toBeNull()
  expect(counted({ prompt: 200 })).toEqual({ input_uncached: 140 })
  expect(counted({ prompt: 20 })).toEqual({ input_uncached: 0 })
  expect(counted({ completion: 70 })).toEqual({ output_visible: 65 })
  expect(counted({ completion: 70, reasoning: 30 })).toEqual({ output_visible: 40, reasoning: 30 })
  expect(counted({ cache_read: 40 })).toEqual({ cache_read: 40 })
  expect(counted({ prompt: 160, cache_read: 40 })).toEqual({ input_uncached: 80, cache_read: 40 })
})

test('one count of writes is that of all, unless the log has those of an hour, too', () => {
  expect(counted({ cache_write: 40 })).toBeNull()
  expect(counted({ cache_write: 50 })).toEqual({ cache_write: 40 })
  expect(counted({ cache_write: 5 })).toEqual({ cache_write: 0 })
  expect(counted({ cache_write: 50, cache_write_1h: 20 })).toEqual({
    ...{ cache_write: 50, cache_write_1h: 20 },
  })
  expect(counted({ cache_write: 40, cache_write_1h: 15 })).toEqual({
    ...{ cache_write: 25, cache_write_1h: 15 },
  })
  expect(counted({ cache_write_1h: 15 })).toEqual({ cache_write_1h: 15 })
  expect(counted({ cache_write: 30, cache_write_1h: 5 }, { ...own, cache_write_1h: null })).toEqual(
    {
      ...{ cache_write: 25, cache_write_1h: 5 },
    },
  )
  expect(counted({ cache_write: 35 }, { ...own, cache_write_1h: null })).toEqual({
    cache_write: 35,
  })
  expect(counted({ cache_write: 7 }, { ...own, cache_write: null, cache_write_1h: null })).toEqual({
    cache_write: 7,
  })
})

test('the counts of the log alone make a cost, where they differ', () => {
  const usage = millions({ input_uncached: 1, output_visible: 1 })
  const costOf = (logged: object | null) =>
    changedCosts(
      loggedChanges(() => logged && { ...nothing, ...logged }),
      { model, usage },
    )
  const summary = 'the counts of the log, which are not those of the answer'
  expect(costOf({ completion: 2e6 })).toEqual({ [summary]: '44' })
  expect(costOf({ completion: 1e6 })).toEqual({ [summary]: null })
  expect(costOf(null)).toEqual({ [summary]: null })
})
