import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { timesOf } from './figures.ts'
import {
  file,
  first,
  json,
  milliseconds,
  type Peer,
  parsed,
  parsedFile,
  path,
  type Table,
} from './peer.ts'
import { bodyOf, connections } from './works.ts'

/** Load generators for any HTTP service. */
export const webTools: readonly Peer[] = [
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
    name: 'artillery',
    // Its scripts fetch a browser and a hook of git that a load does not need.
    from: {
      registry: 'npm',
      names: ['artillery', '--ignore-scripts'],
      program: 'node_modules/.bin/artillery',
    },
    works: ['open', 'stall', 'start'],
    version: ['sh', '-c', 'npm list artillery | tail -n 2'],
    play(task, program) {
      const { ratePerS, seconds } = task.work
      const post = {
        url: path,
        headers: { 'content-type': 'application/json' },
        body: bodyOf(task.work),
      }
      const config = {
        config: {
          target: task.baseUrl,
          phases: [{ duration: seconds, arrivalRate: ratePerS }],
          http: { pool: connections, timeout: 60 },
        },
        scenarios: [{ flow: [{ post }] }],
      }
      const script = file(task, 'load.yml', JSON.stringify(config))
      const out = join(task.home, 'out.json')
      return {
        command: [program, 'run', '--quiet', '--output', out, script],
        read() {
          const { counters, summaries } = parsedFile<{
            aggregate: { counters: Table; summaries: Readonly<Record<string, Table>> }
          }>(out).aggregate
          return {
            done: counters['http.codes.200'] ?? 0,
            response: timesOf(summaries['http.response_time'], ['p50', 'p95', 'p99']),
          }
        },
      }
    },
  },
]
