/**
 * Whether checks of answers touch latency: `node bench/checked-answers.ts [turns]`, 3 turns unless given.
 *
 * A server in a thread answers after 5 ms, 400 times a second, to a run whose step expects nothing, and to one whose step
 * expects a text, a regular expression and JSON of a schema, in turns. Prints what both measured, and what was judged.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { summarise } from '../src/public/report.ts'
import { run } from '../src/run/run.ts'
import { parseScenario } from '../src/scenario/parse.ts'
import { openStore } from '../src/store/session/open.ts'

const content = JSON.stringify({
  answer: 42,
  because: 'It is the product of six and seven. '.repeat(20),
})
const delayMs = 5
const key = 'sk-bench-0123456789abcdef'

if (isMainThread) await measure(Number(process.argv[2] ?? 3))
else await serve()

async function measure(turns: number): Promise<void> {
  const server = new Worker(new URL(import.meta.url))
  const [port] = (await once(server, 'message')) as [number]
  const home = mkdtempSync(join(tmpdir(), 'assay-checks-'))
  const schema = '{ type: object, required: [answer], properties: { answer: { const: 42 } } }'
  const expects = `{ contains: product, matches: '"answer":\\s*4', json: ${schema} }`
  for (let turn = 0; turn < turns; turn++) {
    for (const checked of [false, true]) {
      const scenario = parseScenario(`
name: checks
question: Do checks touch latency?
model: svc-k2
threads: 1
steps: { ask: { endpoint: chat, prompt: Six by seven?, stream: true${checked ? `, expect: ${expects}` : ''} } }
phases:
  - { name: warm, part: warmup, load: constant, rate: 400/s, duration: 2s }
  - { name: steady, load: constant, rate: 400/s, duration: 8s }
`)
      const dbPath = join(home, `${turn}-${checked}.duckdb`)
      const baseUrl = `http://127.0.0.1:${port}`
      const { runId } = await run(scenario, { dbPath, baseUrl, keys: { default: key } })
      const store = await openStore(dbPath)
      const { all } = await summarise(store, { runId })
      store.close()
      const { service, lag } = all.metrics
      const ms = (us: number | null) => ((us ?? Number.NaN) / 1000).toFixed(3)
      const judged = all.correctness === null ? '-' : `${all.correctness.correct} correct`
      console.log(
        `${checked ? 'checked  ' : 'unchecked'} service p50 ${ms(service.p50.us)} p99 ${ms(service.p99.us)} ms, lag p99 ${ms(lag.p99.us)} ms, ${judged} of ${all.counts.ok}`,
      )
    }
  }
  rmSync(home, { recursive: true, force: true })
  await server.terminate()
}

/** A stream of about sixty events that arrive together. */
async function serve(): Promise<void> {
  const event = (said: string, finish: string | null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'svc-k2', choices: [{ index: 0, delta: { content: said }, finish_reason: finish }] })}\n\n`
  const pieces = content.match(/.{1,12}/g)!.map((piece) => event(piece, null))
  const body = Buffer.from(`${pieces.join('')}${event('', 'stop')}data: [DONE]\n\n`)
  const server = createServer((request, response) => {
    request.resume()
    setTimeout(() => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(body)
    }, delayMs)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  parentPort!.postMessage((server.address() as AddressInfo).port)
}
