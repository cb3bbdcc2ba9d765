import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/**
 * A server like vLLM, not ours: under a path prefix, no credits, no limits, no key, and usage in
 * streams only on request.
 */
export async function foreignServer(tokenMs = 2) {
  const asked: { readonly url: string; readonly body: Record<string, unknown> }[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (piece) => {
      text += piece
    })
    request.on('end', () => {
      const body = text === '' ? {} : JSON.parse(text)
      if (!request.url!.endsWith('/metrics')) asked.push({ url: request.url!, body })
      if (request.url === '/llm/v1/models') {
        return json(response, 200, { object: 'list', data: [{ id: 'qwen/qwen3-8b' }] })
      }
      if (request.url !== '/llm/v1/chat/completions')
        return json(response, 404, { detail: 'Not Found' })
      if (body.model !== 'qwen/qwen3-8b') {
        return json(response, 404, {
          error: { message: `The model ${body.model} does not exist.` },
        })
      }
      stream(response, body, tokenMs)
    })
  })
  server.listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { asked, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function stream(response: ServerResponse, body: Record<string, unknown>, tokenMs: number): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const chunk = (rest: object) =>
    response.write(
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: body.model, ...rest })}\n\n`,
    )
  let count = 0
  const timer = setInterval(() => {
    count++
    const last = count === 8
    chunk({
      choices: [{ index: 0, delta: { content: 'word ' }, finish_reason: last ? 'stop' : null }],
    })
    if (!last) return
    clearInterval(timer)
    const options = body.stream_options as { include_usage?: boolean } | undefined
    if (options?.include_usage) {
      chunk({ choices: [], usage: { prompt_tokens: 20, completion_tokens: 8, total_tokens: 28 } })
    }
    response.end('data: [DONE]\n\n')
  }, tokenMs)
}

export function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}
