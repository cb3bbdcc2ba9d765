/**
 * A target that costs next to nothing: nginx where it is installed, else a bare TCP server that
 * answers each read with the same completion. Prints its port.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { has } from './processes.ts'

/** In the answers of nginx this is another one each time, as with any service. */
const requestId = '0123456789abcdef0123456789abcdef'

const completion = JSON.stringify({
  id: `chatcmpl-${requestId}`,
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'svc-k2',
  system_fingerprint: 'fp_1',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'An answer of plausible size. '.repeat(6).trim() },
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 12, completion_tokens: 34, total_tokens: 46 },
})

/** Stands for a balance that goes down; nginx can count up only. */
const credits = '4711'

const headers: Readonly<Record<string, string>> = {
  'X-Credits-Remaining': credits,
  'X-RateLimit-Limit': '500',
  'X-RateLimit-Remaining': '321',
  'X-RateLimit-Reset': '17',
  'X-Request-Id': requestId,
}

const port = await freePort()
if (has('nginx')) serveByNginx()
else serveByNode()
await listening()
console.log(port)

function serveByNginx(): void {
  const home = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  for (const name of ['a', 'b', 'c', 'd', 'e']) mkdirSync(join(home, name))
  const lines = Object.entries(headers).map(
    ([name, value]) => `add_header ${name} ${value === credits ? '$connection_requests' : value};`,
  )
  writeFileSync(
    join(home, 'nginx.conf'),
    `worker_processes 1; daemon off; pid ${home}/pid; error_log ${home}/error.log;
     worker_rlimit_nofile 20000;
     events { worker_connections 16000; }
     http { access_log off; keepalive_requests 1000000000; keepalive_timeout 600s;
       client_body_temp_path ${home}/a; proxy_temp_path ${home}/b; fastcgi_temp_path ${home}/c;
       uwsgi_temp_path ${home}/d; scgi_temp_path ${home}/e;
       server { listen 127.0.0.1:${port}; location / { default_type application/json;
         ${lines.join(' ')} return 200 '${completion}'; } } }`.replaceAll(requestId, '$request_id'),
  )
  const child = spawn('nginx', ['-e', join(home, 'error.log'), '-c', join(home, 'nginx.conf')], {
    stdio: 'inherit',
  })
  const stop = () => {
    child.kill()
    rmSync(home, { recursive: true, force: true })
    process.exit()
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

function serveByNode(): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const answer = Buffer.from(
    `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${completion.length}\r\n${lines.join('')}\r\n${completion}`,
  )
  createServer({ noDelay: true }, (socket) => {
    socket.on('data', () => socket.write(answer))
    socket.on('error', () => {})
  }).listen(port, '127.0.0.1')
}

/** A client that came before nginx listens would give up. */
async function listening(): Promise<void> {
  for (let tries = 0; tries < 250; tries++) {
    const socket = connect(port, '127.0.0.1')
    const open = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true))
      socket.once('error', () => resolve(false))
    })
    socket.destroy()
    if (open) return
    await sleep(20)
  }
  throw new Error(`nothing listens on port ${port} after five seconds`)
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => probe.once('listening', resolve))
  const free = (probe.address() as AddressInfo).port
  await new Promise((resolve) => probe.close(resolve))
  return free
}
