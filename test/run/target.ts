import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseScenario } from '../../src/scenario/parse.ts'
import type { Scenario } from '../../src/scenario/scenario.ts'
import { openStore } from '../../src/store/session/open.ts'

/** A service with known behaviour, in this process. */
export interface Target {
  /** How many requests arrived so far. */
  readonly requests: number
  readonly baseUrl: string
  close(): void
}

export async function startTarget(
  handle: (request: IncomingMessage, response: ServerResponse, body: string) => void,
): Promise<Target> {
  const sockets = new Set<Socket>()
  let requests = 0
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (piece: string) => {
      body += piece
    })
    request.on('end', () => {
      requests++
      handle(request, response, body)
    })
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('close', () => sockets.delete(socket))
  })
  server.maxConnections = 100_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 4096, resolve))
  const { port } = server.address() as AddressInfo
  return {
    get requests() {
      return requests
    },
    baseUrl: `http://127.0.0.1:${port}`,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/** A complete, well-formed chat answer. */
export function answerChat(response: ServerResponse, content = 'Yes.', tokens = 2): void {
  response.writeHead(200, { 'content-type': 'application/json', 'x-credits-remaining': '99' })
  response.end(
    JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'svc-k2',
      system_fingerprint: 'fp',
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 5, completion_tokens: tokens, total_tokens: 5 + tokens },
    }),
  )
}

export function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ error: { message: code, type: 'x', code } }))
}

/** A scenario of plain chat, with these phases and other lines. */
export function chatScenario(phases: string, more = '', step = ''): Scenario {
  return parseScenario(
    `
name: test
question: Is it true?
model: svc-k2
steps:
  chat: { endpoint: chat, prompt: Hello${step} }
phases:
${phases}
${more}`,
    'test.yaml',
  )
}

export const key = 'sk-test-0123456789abcdef'

/** A path for a store that is removed after the test. */
export async function withStorePath<T>(use: (dbPath: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-run-'))
  try {
    return await use(join(folder, 'run.duckdb'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The rows of a query over the store of a run. */
export async function query<Row>(dbPath: string, sql: string): Promise<readonly Row[]> {
  const store = await openStore(dbPath)
  try {
    return await store.rows<Row>(sql)
  } finally {
    store.close()
  }
}
