import { expect, test } from 'vitest'
import { SenderHealth } from '../../src/run/send/sender-health.ts'

test('a nap outside of the event loop does not count as work', async () => {
  const naps = { us: 0 }
  const health = new SenderHealth(
    () => performance.now() * 1000,
    () => naps.us,
  )
  const endMs = performance.now() + 5
  while (performance.now() < endMs);
  await new Promise((resolve) => setTimeout(resolve, 1))
  expect(health.whole().utilisation).toBeGreaterThan(0)
  naps.us = 1e12
  expect(health.whole().utilisation).toBe(0)
  health.stop()
})
