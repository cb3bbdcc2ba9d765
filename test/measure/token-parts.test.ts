import { expect, test } from 'vitest'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { attempt, enterEndedRun } from '../report/attempts.ts'
import { openStore } from '../store/opened.ts'

test('parts of tokens add up to their whole, and a part that nobody reported is unknown, not 0', async () => {
  const store = await openStore(':memory:')
  try {
    await enterEndedRun(store)
    const unknown = { promptTokens: null, cachedTokens: null, completionTokens: null }
    await appendAttempts(store, [
      attempt(0, unknown),
      attempt(1, { promptTokens: 100, completionTokens: 50 }),
      attempt(2, {
        ...{ promptTokens: 100, cachedTokens: 60, cacheReadAudioTokens: 5, cacheWriteTokens: 30 },
        ...{ completionTokens: 50, reasoningTokens: 50 },
      }),
    ])
    const rows = await store.rows(
      `SELECT input_uncached_tokens AS uncached, cache_read_tokens AS read, output_visible_tokens AS visible
       FROM attempt_values ORDER BY slot`,
    )
    expect(rows).toEqual([
      { uncached: null, read: null, visible: null },
      { uncached: 100, read: null, visible: 50 },
      { uncached: 10, read: 55, visible: 0 },
    ])
  } finally {
    store.close()
  }
})
