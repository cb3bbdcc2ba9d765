import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { flags } from '../../src/attempt/flags.ts'
import { AttemptClient } from '../../src/client/client.ts'
import type { ResponseColumns } from '../../src/client/columns.ts'
import { Http1Transport } from '../../src/client/http1/transport.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { completion, json } from './answers.ts'
import { ask, noDeadlines, now } from './asking.ts'
import { response, scriptedServer } from './scripted-server.ts'

/** Two requests over one connection; the service does this with the second, which comes after a pause. */
async function second(
  pauseMs: number,
  does: (socket: import('node:net').Socket) => void,
): Promise<ResponseColumns> {
  const { origin } = await scriptedServer((socket, _request, index) =>
    index === 0 ? socket.write(response(200, json, completion)) : does(socket),
  )
  const transport = new Http1Transport({ origin, maxConnections: 1, connectTimeoutMs: 5000 })
  const client = new AttemptClient({
    ...{ transport, contract: defaultContract, now, deadlines: noDeadlines },
  })
  const send = () =>
    new Promise<ResponseColumns>((resolve) => {
      client.start(ask(), { onGap: () => {}, onEnd: (ended) => resolve(ended.toColumns()) })
    })
  expect((await send()).outcome).toBe('ok')
  await sleep(pauseMs)
  const columns = await send()
  await transport.close()
  expect(columns.outcome).toBe('broken')
  expect(columns.flags & flags.reusedConnection).toBe(flags.reusedConnection)
  return columns
}

test.each([
  ['closed', (socket: import('node:net').Socket) => socket.destroy()],
  ['reset', (socket: import('node:net').Socket) => socket.resetAndDestroy()],
])('an idle connection that is %s at once names that it was idle', async (_how, does) => {
  expect((await second(120, does)).reason).toBe('closed-idle')
})

test('a close after a while is a failure of the service, although the connection was idle', async () => {
  const { reason } = await second(120, (socket) => setTimeout(() => socket.destroy(), 400))
  expect(reason).toBe('closed-early')
})

test('a close within a response is one, too', async () => {
  const { reason } = await second(120, (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Le'))
  expect(reason).toBe('closed-early')
})

test('a close of a connection that was busy is one, too', async () => {
  const { reason } = await second(0, (socket) => socket.destroy())
  expect(['closed-early', 'reset']).toContain(reason)
})
