import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Reading, Ready } from './service-server.ts'

export const requestBody = {
  model: 'svc-k2',
  messages: [{ role: 'user', content: 'Tell me a short story about a lighthouse keeper.' }],
}

/** A server in a process of its own, bound to a core where `taskset` is there. */
export class ServerProcess {
  readonly #child: ChildProcess
  readonly port: number
  readonly #apiKey: string

  private constructor(child: ChildProcess, { port, apiKey }: Ready) {
    this.#child = child
    this.port = port
    this.#apiKey = apiKey
  }

  static async start(...words: readonly string[]): Promise<ServerProcess> {
    const child = fork(fileURLToPath(new URL('service-server.ts', import.meta.url)), words)
    const [ready] = (await once(child, 'message')) as [Ready]
    pin(child.pid!, 0)
    pin(process.pid, 1)
    return new ServerProcess(child, ready)
  }

  /** Ends a window of its figures. */
  mark(): void {
    this.#child.send('mark')
  }

  /** Ends the last window; gives the figures of all, from its start on. */
  async read(): Promise<readonly Reading[]> {
    this.#child.send('read')
    const [readings] = (await once(this.#child, 'message')) as [readonly Reading[]]
    return readings
  }

  requestBytes(body: object): Buffer {
    const text = JSON.stringify(body)
    return Buffer.from(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n` +
        `authorization: Bearer ${this.#apiKey}\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
    )
  }

  /** An answer of it, to be sent by a bare server. */
  async sample(): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${this.port}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${this.#apiKey}` },
      body: JSON.stringify(requestBody),
    })
    const body = await response.text()
    const { connection: _, 'keep-alive': __, ...head } = Object.fromEntries(response.headers)
    return JSON.stringify({ head, body })
  }

  async stop(): Promise<void> {
    this.#child.kill()
    await once(this.#child, 'exit')
  }
}

/** A ledger's file, removed when the work is done. */
export async function withLedger(work: (path: string) => Promise<void>): Promise<void> {
  const path = `/tmp/assay-bench-${process.pid}.db`
  try {
    await work(path)
  } finally {
    for (const suffix of ['', '-wal', '-shm', '-lock']) rmSync(path + suffix, { force: true })
  }
}

function pin(pid: number, core: number): void {
  try {
    execFileSync('taskset', ['-a', '-cp', String(core), String(pid)], { stdio: 'ignore' })
  } catch {
    // Without taskset the system places them.
  }
}
