import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { audit } from '../../src/audit/audit.ts'
import { formatsOnly } from '../../src/contract/formats-only.ts'
import { run } from '../../src/run/run.ts'
import { parseScenario } from '../../src/scenario/parse.ts'
import { openStore } from '../../src/store/session/open.ts'

const hasNginx = spawnSync('nginx', ['-v']).status === 0

/** Answers as OpenAI does, in the chat format alone. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  let text = ''
  request.on('data', (piece) => {
    text += piece
  })
  request.on('end', () => {
    const body = JSON.parse(text || '{}') as { readonly stream?: boolean }
    const id = `chatcmpl-${Math.random().toString(36).slice(2)}`
    const head = { id, created: Math.floor(Date.now() / 1000), model: 'gpt-4o-mini-2024-07-18' }
    const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 }
    if (body.stream !== true) {
      const message = { role: 'assistant', content: 'Hello there', refusal: null }
      const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ ...head, object: 'chat.completion', choices, usage }))
      return
    }
    const chunk = (delta: object, finish_reason: string | null) =>
      `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    response.setHeader('content-type', 'text/event-stream')
    response.write(chunk({ role: 'assistant', content: '' }, null))
    response.write(chunk({ content: 'Hello' }, null))
    response.write(chunk({ content: ' there' }, null))
    response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`)
  })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** nginx with limit_req in front of that server; its own answer of a refused request is HTML. */
async function limitedByNginx(): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const home = mkdtempSync(join(tmpdir(), 'assay-nginx-'))
  const port = await freePort()
  writeFileSync(
    join(home, 'nginx.conf'),
    `daemon off; worker_processes 1; pid ${home}/pid; error_log ${home}/error.log;
events { worker_connections 64; }
http {
  access_log off; client_body_temp_path ${home}/body; proxy_temp_path ${home}/proxy;
  fastcgi_temp_path ${home}/f; uwsgi_temp_path ${home}/u; scgi_temp_path ${home}/s;
  limit_req_zone $http_authorization zone=keys:1m rate=5r/s;
  limit_req_status 429;
  server {
    listen 127.0.0.1:${port};
    location / {
      limit_req zone=keys burst=3 nodelay;
      proxy_pass http://127.0.0.1:${(server.address() as AddressInfo).port};
      proxy_buffering off;
    }
  }
}
`,
  )
  const args = ['-e', join(home, 'error.log'), '-c', join(home, 'nginx.conf')]
  const nginx = spawn('nginx', args, { stdio: 'ignore' })
  onTestFinished(() => {
    nginx.kill()
    server.close()
    rmSync(home, { recursive: true, force: true })
  })
  await expect.poll(() => accepts(port)).toBe(true)
  return `http://127.0.0.1:${port}`
}

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })

const scenario = parseScenario(
  `name: foreign
question: Does it answer as its format says?
model: gpt-4o-mini
capture: all
steps:
  plain: { endpoint: chat, prompt: Hello, max_tokens: 8 }
  stream: { endpoint: chat, stream: true, prompt: Hello, max_tokens: 8 }
phases:
  - { name: alone, load: concurrency, users: 1, think: 250ms, max_requests: 6 }
  - { name: burst, load: concurrency, users: 8, max_requests: 24 }
`,
  'foreign.yaml',
)

test.skipIf(!hasNginx)(
  'an OpenAI-like server behind limit_req of nginx fails nothing that its format does not state',
  async () => {
    const store = await openStore(':memory:')
    onTestFinished(() => store.close())
    await run(scenario, { store, baseUrl: await limitedByNginx(), keys: { default: 'sk-any' } })
    const counts = await store.rows<{ status: number; n: number }>(
      'SELECT status, count(*)::INTEGER AS n FROM attempts GROUP BY ALL ORDER BY ALL',
    )
    expect(counts.map(({ status }) => status)).toEqual([200, 429])
    const { findings, contract } = await audit(store, {})
    expect(contract).toBe(formatsOnly.name)
    const of = (verdict: string) => findings.filter((each) => each.verdict.verdict === verdict)
    expect(of('fail')).toEqual([])
    expect(of('pass').length).toBeGreaterThan(10)
  },
)
