import { expect, test } from 'vitest'
import { steadyPerS } from '../../src/run/self-test/calibrate.ts'
import type { Session } from '../../src/store/session/session.ts'

test('a calibration without a steady part is no ceiling of 0', async () => {
  const session = { rows: async () => [{ per_s: null }] } as unknown as Session
  await expect(steadyPerS(session, 'r')).rejects.toThrow(
    'the run r ended no request in its steady part, so the ceiling of this machine is not known. Give it more time: --seconds.',
  )
})
