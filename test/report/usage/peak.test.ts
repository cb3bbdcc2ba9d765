import { afterEach, beforeEach, expect, test } from 'vitest'
import { defaultContract } from '../../../src/contract/default.ts'
import { storeEngine } from '../../../src/report/usage/engine/engine.ts'
import { readPeak } from '../../../src/report/usage/peak.ts'
import { prepareUsage } from '../../../src/report/usage/prepare.ts'
import { emptyStore, type Store } from '../../store/opened.ts'
import { enterEvents, usageOptions, utc } from '../usage-events.ts'

let store: Store
beforeEach(async () => {
  store = await emptyStore()
})
afterEach(() => store.close())

const at = utc(2026, 11, 3, 10)

test('an hour with more than 20 requests is searched for its peak minute, however many hours are busier', {
  tags: 'whole',
}, async () => {
  await enterEvents(store, [
    // Fifty hours of 60 requests, one in each minute, and one of 21, all in one minute.
    ...Array.from({ length: 50 }, (_, hour) =>
      Array.from({ length: 60 }, (_, minute) => ({
        atUs: at + hour * 3600e6 + minute * 60e6,
        keyFp: `k${hour}`,
      })),
    ).flat(),
    { atUs: at, keyFp: 'burst', requests: 21 },
  ])
  await prepareUsage(store, usageOptions())
  const minuteOf = async (contract: typeof defaultContract | null) =>
    (await readPeak(store, storeEngine, contract)).minute
  expect(await minuteOf(defaultContract)).toBe(21)
  // Also if the lowest limit is higher, or if there is none.
  expect(await minuteOf({ ...defaultContract, bands: defaultContract.bands.slice(1) })).toBe(21)
  expect(await minuteOf(null)).toBe(21)
})

test('a period without requests has no peak', async () => {
  await enterEvents(store, [{ atUs: at }])
  await prepareUsage(store, usageOptions({ fromUs: at - 3600e6, toUs: at }))
  expect(await readPeak(store, storeEngine, null)).toEqual({
    minute: null,
    hour: null,
    day: null,
    unknown: null,
  })
})
