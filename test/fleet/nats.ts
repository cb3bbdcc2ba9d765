import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Why there is no NATS server here; null if there is one. */
export const withoutNats =
  spawnSync('nats-server', ['--version']).error === undefined
    ? null
    : 'nats-server is not installed (Debian has it)'

/** A real server in its own process. */
export interface NatsServer {
  readonly address: string
  readonly port: number
  readonly child: ChildProcess
  close(): Promise<void>
}

export async function natsServer(...more: readonly string[]): Promise<NatsServer> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-nats-'))
  const port = await freePort()
  const child = spawn(
    'nats-server',
    ['-a', '127.0.0.1', '-p', String(port), '-sd', folder, ...(more.length > 0 ? more : ['-js'])],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  await new Promise<void>((resolve, reject) => {
    let said = ''
    child.stderr!.on('data', (bytes: Buffer) => {
      said += String(bytes)
      if (said.includes('Server is ready')) resolve()
    })
    child.once('exit', () => reject(new Error(said)))
  })
  return {
    address: `nats://127.0.0.1:${port}`,
    port,
    child,
    async close() {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      if (child.exitCode === null && child.kill('SIGKILL')) await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
