import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { UndiciTransport } from '../../src/client/wire/undici/transport.ts'
import { hostile } from './hostile-answers.ts'
import { scriptedServer } from './scripted-server.ts'
import { exchange, openOn, transports } from './transports.ts'

const all = [
  ...transports,
  ['http2', (options) => new UndiciTransport({ ...options, http2: true })],
] as const satisfies typeof transports

describe.each(all)('%s', (name, open) => {
  test.each(hostile)('$name: $is', async ({ does, is: toUs, toUndici }) => {
    const is = name === 'http1' ? toUs : (toUndici ?? toUs)
    const { origin } = await scriptedServer((socket) => {
      if (typeof does === 'string') socket.write(does, 'latin1')
      else does(socket)
    })
    const { done, handle } = exchange(openOn(open, origin))
    const waited = sleep(is === 'waits' ? 150 : 4000).then(() => 'waits' as const)
    const ended = await Promise.race([done, waited])
    handle.abort()
    const seen = ended === 'waits' ? ended : (ended.failure?.code ?? 'ok')
    expect(seen).toBe(is)
  })
})
