import { expect, test } from 'vitest'
import { shardsText } from '../../src/cli/services/watch.ts'

const shard = (index: number, silentMs: number | null, verdict?: 'valid' | 'invalid') => ({
  ...{ index, silentMs },
  ended: verdict === undefined ? null : { verdict, stopped: null },
})
const seen = (shards: readonly ReturnType<typeof shard>[], isConnected = true) =>
  shardsText('launch-7', { shards, isConnected, progress: null })

test('a watch of a fleet shows which shards ended, were invalid, or are silent', () => {
  expect(seen([])).toBe('launch-7: no shard has joined yet')
  expect(seen([shard(0, 900), shard(1, null)])).toBe('launch-7: 2 shards')
  expect(seen([shard(0, 9000, 'invalid'), shard(1, 3000), shard(2, 12_400)])).toBe(
    'launch-7: 3 shards, 1 ended, INVALID: 0, STALE for 12 s: 2',
  )
  expect(seen([shard(0, 9000)], false)).toBe(
    'launch-7: 1 shard, STALE: the server is gone; shards go on without it',
  )
})
