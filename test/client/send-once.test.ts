import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { buildTemplate, plainRequest, prepareRequest } from '../../src/client/call/request.ts'
import { sendOnce } from '../../src/client/call/send-once.ts'
import { Http1Transport } from '../../src/client/wire/http1/transport.ts'
import { defaultContract } from '../../src/contract/default.ts'

test('a single exchange leaves no timer that holds its memory until the longest deadline', async () => {
  const server = createServer((_, response) => void response.end('{}'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const transport = new Http1Transport({
    ...{ origin: `http://127.0.0.1:${port}`, maxConnections: 1, connectTimeoutMs: 5_000 },
  })
  onTestFinished(async () => {
    vi.useRealTimers()
    await transport.close()
    server.close()
  })
  const before = vi.getTimerCount()
  const template = buildTemplate(defaultContract, '', { ...plainRequest, model: 'svc-k2' })
  const { columns } = await sendOnce(transport, prepareRequest(template, 'sk-test-0123456789'), {
    contract: defaultContract,
    now: () => performance.now() * 1000,
  })
  expect(columns.status).toBe(200)
  expect(vi.getTimerCount()).toBe(before)
})
