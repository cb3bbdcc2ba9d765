/**
 * What looks at a service's metrics cost: `node bench/scraping.ts [turns]`, 3 turns unless given.
 *
 * A server in a process of its own answers 40 requests a second and exposes 300 samples of vLLM's form (24 KB). Runs without
 * metrics, with a look each second and with ten looks each second take turns. Prints the processor time of this client, all
 * of its threads together, in shares of one core; what one look each second costs, from the difference of the last two; and
 * what the start of the thread and the rows at the end cost once.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../src/run/run.ts'
import { parseScenario } from '../src/scenario/parse.ts'

const key = 'sk-bench-0123456789abcdef'
const seconds = 10

if (process.argv[2] === 'serve') await serve()
else await measure(Number(process.argv[2] ?? 3))

async function measure(turns: number): Promise<void> {
  const server = spawn(process.execPath, [fileURLToPath(import.meta.url), 'serve'])
  const home = mkdtempSync(join(tmpdir(), 'assay-scraping-'))
  try {
    const baseUrl = await saidBy(server)
    const cpuS: Record<Which, number[]> = { without: [], '1s': [], '100ms': [] }
    for (let turn = 0; turn < turns; turn++) {
      for (const which of ['without', '1s', '100ms'] as const) {
        const dbPath = join(home, `${turn}-${which}.duckdb`)
        const before = process.cpuUsage()
        await run(scenarioOf(which), { dbPath, baseUrl, keys: { default: key } })
        const { user, system } = process.cpuUsage(before)
        cpuS[which].push((user + system) / 1e6)
        const share = ((user + system) / 1e6 / seconds) * 100
        console.log(
          `${which === 'without' ? 'no looks' : `each ${which}`}: ${share.toFixed(2)} % of a core`,
        )
      }
    }
    const median = (which: Which) =>
      cpuS[which].toSorted((a, b) => a - b)[Math.floor(cpuS[which].length / 2)]!
    const lookS = (median('100ms') - median('1s')) / (9 * seconds)
    const onceS = median('1s') - median('without') - lookS * seconds
    console.log(
      `a look each second costs ${(lookS * 100).toFixed(2)} % of a core, and ${onceS.toFixed(2)} s once (medians of ${turns})`,
    )
  } finally {
    server.kill()
    rmSync(home, { recursive: true, force: true })
  }
}

type Which = 'without' | '1s' | '100ms'

function scenarioOf(which: Which) {
  return parseScenario(`
name: scraping
question: What does scraping cost?
model: svc-k2
threads: 1
steps: { ask: { endpoint: chat, prompt: Hello } }
${which === 'without' ? '' : `metrics: { every: ${which} }`}
phases: [{ name: steady, load: constant, rate: 40/s, duration: ${seconds}s }]
`)
}

async function saidBy(server: ChildProcess): Promise<string> {
  const [said] = (await once(server.stdout!, 'data')) as [Buffer]
  return `http://127.0.0.1:${said.toString().trim()}`
}

async function serve(): Promise<void> {
  let answered = 0
  const exposition = () => {
    const lines = ['# TYPE vllm:request_success_total counter']
    lines.push(`vllm:request_success_total{model_name="m",finished_reason="stop"} ${answered}`)
    lines.push('# TYPE vllm:e2e_request_latency_seconds histogram')
    for (let at = 0; at < 300; at++) {
      lines.push(
        `vllm:e2e_request_latency_seconds_bucket{engine="${at % 10}",model_name="m",le="${Math.floor(at / 10)}"} ${answered + at}`,
      )
    }
    return `${lines.join('\n')}\n`
  }
  const body = JSON.stringify({
    ...{ id: 'a', object: 'chat.completion', created: 1, model: 'svc-k2' },
    choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
  })
  const server = createServer((request, response) => {
    request.resume()
    if (request.url === '/metrics') {
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' })
      response.end(exposition())
      return
    }
    answered++
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
}
