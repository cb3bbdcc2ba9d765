import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { periodOf } from '../../src/portal/api/period.ts'
import { withRequests } from '../../src/portal/page/board-requests.ts'
import { offlinePage } from '../../src/portal/page/offline.ts'
import { speechOf } from '../../src/portal/page/speech.ts'
import { en } from '../../src/portal/page/words/en.ts'
import { storeSource } from '../../src/portal/source/store-source.ts'
import { timeText } from '../../src/report/usage/board/choice.js'
import type { BoardData } from '../../src/report/usage/board/data.ts'
import { type EventChange, enterEvents, utc } from '../report/usage-events.ts'
import { openStore } from '../store/opened.ts'
import { nowMs, settingsOf } from './portal.ts'

const long = 'model '.repeat(50)
const at = (minute: number, change: EventChange) => ({
  ...{ atUs: utc(2026, 11, 20, 3, minute), account: 'a', keyFp: 'aaaaaaaaaaaa', ...change },
})
const events = [
  at(1, { unit: 'EUR', credits: '0.5', tags: '{"team":"search"}' }),
  at(2, { unit: 'EUR', credits: '0.25', model: long, tags: '{"team":"billing"}' }),
  at(3, { unit: 'credits', credits: '5', model: 'odd\u202ename', keyFp: null }),
  at(4, { unit: 'EUR', credits: '1', tags: '{"team":"search"}' }),
]

/** The board of the file of an account, and the names of its requests. */
async function boardOf(query: string, settings = settingsOf()) {
  const store = await openStore(':memory:')
  try {
    await enterEvents(store, events)
    const html = await offlinePage({
      ...{ source: storeSource(store, defaultContract), settings, account: 'a', keys: null },
      ...{ contract: null, nowMs },
      search: new URLSearchParams(`from=2026-11-20&to=2026-11-21&${query}`),
    })
    const [, json] = /<script type="application\/json"[^>]*>([\s\S]*?)<\/script>/.exec(html)!
    const board = JSON.parse(json!) as BoardData
    const names = (of: 'model' | 'key') =>
      board.requests![of].map((place) => board.names[of][place])
    return { unit: board.unit, credits: board.requests!.credits, names }
  } finally {
    store.close()
  }
}

test('a file lists what each request cost in the unit of its head, and nothing in another', async () => {
  expect(await boardOf('unit=EUR')).toMatchObject({ unit: 'EUR', credits: [0.5, 0.25, null, 1] })
  expect(await boardOf('unit=credits')).toMatchObject({
    ...{ unit: 'credits', credits: [null, null, 5, null] },
  })
})

test('a file by a tag lists the value of each request, and names are those of the board', async () => {
  const { names } = await boardOf('by=tag:team')
  expect(names('key')).toEqual(['search', 'billing', '(other)', 'search'])
  const [first, second, third] = names('model')
  expect([first, second?.length, third]).toEqual(['svc-k2', 200, 'odd\ufffdname'])
})

test('who sees costs and no credits sees the price of each request', async () => {
  const settings = { ...settingsOf(), shows: ['cost', 'models', 'requests'] as const }
  expect(await boardOf('', settings as never)).toMatchObject({
    ...{ unit: 'EUR', credits: [0.5, 0.25, 0.0625, 1] },
  })
})

test('the API takes the times of a bar that begins at a quarter of an hour, as the page writes them', () => {
  const data = { offsets: [] }
  expect(periodOf(timeText(data, 494_005.5), timeText(data, 494_006), 'UTC')).toMatchObject({
    ...{ fromUs: 494_005.5 * 3600e6, toUs: 494_006 * 3600e6 },
  })
})

const speech = speechOf(en, { locale: 'en', timezone: 'UTC' })
const requestOf = (id: string, model: string) => ({
  ...{ id, at: '2026-11-03T10:00:00Z', model, key: 'k', endpoint: 'chat', tags: [] },
  ...{ outcome: 'ok' as const, status: 200, durationMs: 5, input: 1, output: 2 },
  ...{ credits: null, cost: [] },
})
const heldOf = (models: readonly string[]) => {
  const names = { model: models, key: ['k'], endpoint: ['chat'] }
  const data = { names, offsets: [], unit: 'USD' } as unknown as BoardData
  const requests = [requestOf('b', 'new'), requestOf('a', 'nova')] as unknown as Parameters<
    typeof withRequests
  >[1]
  return withRequests(data, requests, speech, null).requests
}

test('a request that came after the copy of a page, of a model that the page does not have, is left out', () => {
  expect(heldOf(['nova'])).toMatchObject({ id: ['a'], model: [0] })
  expect(heldOf(['nova', '(other)'])).toMatchObject({ id: ['a', 'b'], model: [0, 1] })
})
