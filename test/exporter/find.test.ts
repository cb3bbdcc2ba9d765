import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { findSources } from '../../src/exporter/find.ts'

/** Answers with metrics at one path, and at others never. */
async function silentBut(path: string): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url === path) response.end('# TYPE up gauge\nup 1\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('addresses that do not answer are waited for at once, and each source is found once', async () => {
  const base = await silentBut('/prometheus/metrics')
  const found = `${base}/prometheus/metrics`
  const silent = ['a', 'b', 'c', 'd'].map((name) => `${base}/${name}`)
  const beganMs = performance.now()
  const { sources, missing } = await findSources([...silent, found, 'auto'], base, null)
  // One second of patience for the usual address, and one for all others.
  expect(performance.now() - beganMs).toBeLessThan(4000)
  expect(sources.map(({ url, foundBy }) => [url, foundBy])).toEqual([[found, 'given']])
  expect(missing.map(({ url }) => url)).toEqual(silent)
})
