import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Reading, Ready, Span } from './service-server.ts'

export const requestBody = {
  model: 'svc-k2',
  messages: [{ role: 'user', content: 'Tell me a short story about a lighthouse keeper.' }],
}

/** A server in a process of its own, bound to a core where `taskset` is there. */
export class ServerProcess {
  readonly #child: ChildProcess
  readonly port: number
  readonly #apiKey: string
  #marks = 0

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

  /** Sets a mark; gives its number. */
  mark(): number {
    this.#child.send('mark')
    return ++this.#marks
  }

  /** The figures of spans between marks. */
  async read(spans: readonly Span[]): Promise<readonly Reading[]> {
    this.#child.send(spans)
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
    const response = await this.#answer(requestBody)
    return JSON.stringify({ head: headOf(response), body: await response.text() })
  }

  /** The events of one stream of so many tokens, to be sent by a bare server. */
  async streamSample(tokens: number): Promise<string> {
    const response = await this.#answer({ ...requestBody, stream: true, max_tokens: tokens })
    const events = (await response.text()).split(/(?<=\n\n)/)
    return JSON.stringify({ head: headOf(response), events })
  }

  #answer(body: object): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.port}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${this.#apiKey}` },
      body: JSON.stringify(body),
    })
  }

  async stop(): Promise<void> {
    this.#child.kill()
    await once(this.#child, 'exit')
  }
}

function headOf(response: Response): Record<string, string> {
  const left = ['connection', 'keep-alive', 'transfer-encoding']
  return Object.fromEntries([...response.headers].filter(([name]) => !left.includes(name)))
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
