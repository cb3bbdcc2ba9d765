import { expect, test } from 'vitest'
import { withRequests } from '../../src/portal/page/board-requests.ts'
import { speechOf } from '../../src/portal/page/speech.ts'
import { en } from '../../src/portal/page/words/en.ts'
import type { BoardData } from '../../src/report/usage/board/data.ts'

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
