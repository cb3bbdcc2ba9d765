import { spawn } from 'node:child_process'
import dns from 'node:dns'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { exchange, openOn, transports } from './transports.ts'

/** Listens with room for two connections, and never accepts one. */
async function fullBacklog(): Promise<string> {
  const script = `const server = require('node:net').createServer()
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port))`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [port] = (await once(child.stdout, 'data')) as [Buffer]
  child.kill('SIGSTOP')
  return `http://127.0.0.1:${Number(port)}`
}

/** A server that answers with its own name and closes the connection if the request asks for it. */
async function named(name: string, host: string, port: number): Promise<number> {
  const server = createServer((request, response) => {
    if (request.url === '/last') response.setHeader('connection', 'close')
    response.end(name)
  })
  server.listen(port, host)
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

describe.each(transports)('%s', (_name, open) => {
  test.runIf(process.platform === 'linux')(
    'connecting times out if the backlog of the service is full, and nothing is sent',
    { tags: 'whole' },
    async () => {
      const transport = openOn(open, await fullBacklog(), { connectTimeoutMs: 300 })
      const all = Array.from({ length: 6 }, () => exchange(transport))
      const last = await all[5]!.done
      expect([last.failure?.code, last.calls]).toEqual(['connect-timeout', ['failure']])
      for (const { handle } of all) handle.abort()
    },
  )

  // Only Linux answers at each address of 127.0.0.0/8.
  test.runIf(process.platform === 'linux')(
    'a new connection follows a changed name, and an open connection stays',
    async () => {
      const port = await named('old', '127.0.0.1', 0)
      await named('new', '127.0.0.2', port)
      let address = '127.0.0.1'
      const lookup = vi.spyOn(dns, 'lookup').mockImplementation(((
        _host: string,
        options: { readonly all?: boolean },
        done: (error: null, found: unknown, family?: number) => void,
      ) => {
        if (options.all) done(null, [{ address, family: 4 }])
        else done(null, address, 4)
      }) as typeof dns.lookup)
      onTestFinished(() => lookup.mockRestore())
      const transport = openOn(open, `http://service.test:${port}`, { maxConnections: 1 })
      const answer = async (path: string) => {
        const { done } = exchange(transport, {
          ...{ method: 'GET', path, headers: [], body: new Uint8Array(0) },
        })
        const { body, failure } = await done
        return failure?.code ?? body
      }
      expect(await answer('/')).toBe('old')
      address = '127.0.0.2'
      expect(await answer('/last')).toBe('old')
      expect(await answer('/')).toBe('new')
    },
  )
})
