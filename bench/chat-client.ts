/**
 * One client under measurement, in a process of its own:
 *
 *     node bench/chat-client.ts assay|client|undici|autocannon PORT CONNECTIONS SECONDS
 *
 * `assay` is a whole run, everything recorded into DuckDB; `client` is our transport and reader
 * with the rows thrown away. Prints requests per second and CPU time per request, after warm-up.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import autocannon from 'autocannon'
import { Pool } from 'undici'
import { Batch, batchRows, Dictionary } from '../src/attempt/batch.ts'
import { AttemptClient, deadlinesOf } from '../src/client/call/client.ts'
import { buildTemplate, plainRequest, prepareRequest } from '../src/client/call/request.ts'
import type { AttemptListener } from '../src/client/row/attempt-context.ts'
import { Http1Transport } from '../src/client/wire/http1/transport.ts'
import { defaultContract } from '../src/contract/default.ts'
import { run } from '../src/run/run.ts'
import { parseScenario } from '../src/scenario/parse.ts'

const [, , role, port, connectionsText, secondsText] = process.argv
const origin = `http://127.0.0.1:${port}`
const connections = Number(connectionsText)
const seconds = Number(secondsText)
const warmUpS = 1.5
const prompt = 'Say something short, please, but not too short. '.repeat(4).trim()
const key = 'sk-bench-pQ7wZx4mTd'

const request = prepareRequest(
  buildTemplate(defaultContract, '', {
    ...plainRequest,
    model: 'svc-k2',
    maxTokens: 64,
    messages: [{ role: 'user', content: prompt }],
  }),
  key,
)

interface Sample {
  readonly requests: number
  readonly userUs: number
  readonly systemUs: number
  readonly atMs: number
}

function sampleOf(requests: number): Sample {
  const { user, system } = process.cpuUsage()
  return { requests, userUs: user, systemUs: system, atMs: performance.now() }
}

/** Measures between two samples, the first one after the warm-up. */
async function measure(
  sample: () => Sample | Promise<Sample>,
  last: (() => Promise<Sample>) | null = null,
): Promise<void> {
  await sleep(warmUpS * 1000)
  const from = await sample()
  await sleep(seconds * 1000)
  const stopped = await sample()
  const to = last === null ? stopped : await last()
  const requests = to.requests - from.requests
  const userUs = (to.userUs - from.userUs) / requests
  const systemUs = (to.systemUs - from.systemUs) / requests
  const rps = ratePerS(from, to)
  // What is still to do when the load stops: it weighs the more, the shorter the run.
  const closing =
    last === null
      ? {}
      : {
          sendingRps: ratePerS(from, stopped),
          closingS: (to.atMs - stopped.atMs) / 1000,
          closingCpuS: (to.userUs + to.systemUs - stopped.userUs - stopped.systemUs) / 1e6,
        }
  console.log(JSON.stringify({ rps, ...closing, cpuUs: userUs + systemUs, userUs, systemUs }))
}

function ratePerS(from: Sample, to: Sample): number {
  return ((to.requests - from.requests) * 1000) / (to.atMs - from.atMs)
}

async function assay(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  // The threads of a run report each second, so it is measured from report to report.
  let reported = Promise.withResolvers<Sample>()
  const scenario = parseScenario(
    JSON.stringify({
      name: 'bench',
      question: 'How many requests can be sent and recorded?',
      model: 'svc-k2',
      capture: 'none',
      steps: { chat: { endpoint: 'chat', prompt, max_tokens: 64 } },
      phases: [
        {
          name: 'load',
          load: 'concurrency',
          users: connections,
          duration: `${warmUpS + seconds + 10}s`,
        },
      ],
    }),
    'bench',
  )
  const stop = new AbortController()
  const running = run(scenario, {
    baseUrl: origin,
    dbPath: join(home, 'bench.duckdb'),
    keys: { default: key },
    signal: stop.signal,
    onProgress: ({ counts }) => {
      reported.resolve(sampleOf(counts.ok))
      reported = Promise.withResolvers<Sample>()
    },
  })
  await reported.promise
  // To the end of the run: a recorder that fell behind would else have its work left out.
  await measure(
    () => reported.promise,
    async () => {
      stop.abort()
      const { counts } = await running
      return sampleOf(counts.ok)
    },
  )
  rmSync(home, { recursive: true })
}

async function client(): Promise<void> {
  const transport = new Http1Transport({
    origin,
    maxConnections: Infinity,
    connectTimeoutMs: 30_000,
  })
  const now = () => performance.now() * 1000
  const attempts = new AttemptClient({
    transport,
    contract: defaultContract,
    now,
    deadlines: deadlinesOf(defaultContract),
  })
  const [batch, words] = [new Batch(), new Dictionary()]
  let ended = 0
  const listener: AttemptListener = {
    onItl: () => {},
    onEnd: (attempt) => {
      if (attempt.outcome !== 'ok') throw new Error(`${attempt.outcome} ${attempt.reason}`)
      attempt.writeTo(batch, words)
      if (++batch.rows === batchRows) batch.reset()
      ended++
      attempts.start(request, listener, 'never')
    },
  }
  for (let at = 0; at < connections; at++) attempts.start(request, listener, 'never')
  await measure(() => sampleOf(ended))
}

async function bareUndici(): Promise<void> {
  const pool = new Pool(origin, { connections, pipelining: 1 })
  const { method, path, headers, body } = request.wire
  const options = { method, path, headers: headers.flat(), body: Buffer.from(body) }
  let ended = 0
  const next = () =>
    pool.dispatch(options, {
      onRequestStart() {},
      onResponseStart() {},
      onResponseData() {},
      onResponseEnd() {
        ended++
        next()
      },
      onResponseError(_controller, error) {
        throw error
      },
    })
  for (let at = 0; at < connections; at++) next()
  await measure(() => sampleOf(ended))
}

async function bareAutocannon(): Promise<void> {
  const { method, path, headers, body } = request.wire
  let ended = 0
  const options: autocannon.Options = {
    url: origin + path,
    method: method as 'POST',
    headers: Object.fromEntries(headers),
    body: Buffer.from(body),
    connections,
    duration: warmUpS + seconds + 1,
  }
  // Its types give a promise where a callback gives the instance whose events are wanted.
  const load = autocannon(options, () => {})
  load.on('response', () => {
    ended++
  })
  await measure(() => sampleOf(ended))
}

const roles: Readonly<Record<string, () => Promise<void>>> = {
  assay,
  client,
  undici: bareUndici,
  autocannon: bareAutocannon,
}
await roles[role ?? '']?.()
process.exit()
