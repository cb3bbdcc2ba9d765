import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { joinFleet } from '../../src/fleet/fleet.ts'
import { watchRun } from '../../src/fleet/watch.ts'
import { type NatsServer, natsServer, withoutNats } from './nats.ts'

/** `deaf` may not hear the shards, and `blind` may not follow what the server keeps. */
const config = `jetstream: enabled
authorization { users: [
  { user: all, password: all },
  { user: deaf, password: deaf, permissions: { subscribe: { deny: ["assay.>"] } } },
  { user: blind, password: blind, permissions: { publish: { deny: ["$JS.API.CONSUMER.>"] } } }
] }
`
const folder = mkdtempSync(join(tmpdir(), 'assay-nats-users-'))
const skipped = withoutNats !== null
const why = skipped ? ` (skipped: ${withoutNats})` : ''
/** The server, behind a door that knows the connections. */
let server: NatsServer
const came: Socket[] = []
const door = createServer((socket) => {
  came.push(socket)
  const inner = connect(server.port, '127.0.0.1')
  socket.pipe(inner).pipe(socket)
  for (const [one, other] of [
    [socket, inner],
    [inner, socket],
  ] as const)
    one.on('error', () => other.destroy()).on('close', () => other.destroy())
})

beforeAll(async () => {
  if (skipped) return
  writeFileSync(join(folder, 'nats.conf'), config)
  server = await natsServer('-c', join(folder, 'nats.conf'))
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  for (const socket of came) socket.destroy()
  door.close()
  await server?.close()
  rmSync(folder, { recursive: true })
})

const asked = (user: string) => {
  const { port } = door.address() as { port: number }
  return {
    address: `nats://${user}:${user}@127.0.0.1:${port}`,
    ...{ runId: 'run', waitMs: 5000, shown: `nats://127.0.0.1:${port}` },
  }
}

test.skipIf(skipped)(
  `a watch that may not hear the shards says so, and leaves the server${why}`,
  async () => {
    const { shown, ...options } = asked('deaf')
    await expect(watchRun(options)).rejects.toMatchObject({
      name: 'UserError',
      message: `--join: ${shown} does not let these credentials hear assay.run.live.*, where shards tell their progress. Permit it, or use other credentials.`,
    })
    const last = came.at(-1)!
    if (!last.closed) await once(last, 'close')
  },
)

test.skipIf(skipped)(
  `who may not follow the words of a run is told so, and leaves the server${why}`,
  async () => {
    const { shown, ...options } = asked('blind')
    for (const begin of [
      () => watchRun(options),
      () => joinFleet({ ...options, shard: { index: 0, of: 1 } }),
    ]) {
      await expect(begin()).rejects.toMatchObject({
        name: 'UserError',
        message: expect.stringContaining(`--join: ${shown} does not let`),
      })
      const last = came.at(-1)!
      if (!last.closed) await once(last, 'close')
    }
  },
)
